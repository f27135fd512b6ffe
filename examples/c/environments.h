/* Many copies of a task that a policy acts in: carts.c without any engine, jugglers.c with MuJoCo. */
#ifndef EXAMPLES_ENVIRONMENTS_H
#define EXAMPLES_ENVIRONMENTS_H

enum { OBSERVED = 4, ACTED = 2 };

typedef struct environment environment;

/* NULL, and why on stderr, if it cannot be made. `number` gives each copy a start of its own. */
environment *environment_open(int number);
void environment_close(environment *of);

/* What the policy sees. */
void environment_observe(const environment *of, float *observation);

/* One step with what the policy wants; gives the reward. */
float environment_step(environment *of, const float *action);

#endif
