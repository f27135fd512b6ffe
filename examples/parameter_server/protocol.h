/* What actors and the learner of the parameter server agree on. */
#ifndef EXAMPLES_PROTOCOL_H
#define EXAMPLES_PROTOCOL_H

enum { LEARNER = 0, ACTOR = 1 }; /* ranks in the group that each actor has with the learner */

/* A record: "observation" [STEPS, OBSERVED], "noise", "action" and "reward" [STEPS], its "number" from 0 on, and the
 * "version" of the weights that the actor had. Weights: "values" [OBSERVED] and "version". */
enum { STEPS = 64, OBSERVED = 4 };

#endif
