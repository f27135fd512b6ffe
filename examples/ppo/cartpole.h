/* A pole on a cart, as Gymnasium's CartPole-v1: push left or right so that it stays up. */
#ifndef EXAMPLES_CARTPOLE_H
#define EXAMPLES_CARTPOLE_H

enum { CARTPOLE_OBSERVED = 4, CARTPOLE_LONGEST = 500 };

typedef struct cartpole {
  double position, speed, angle, turn; /* of the cart, and of the pole */
  int steps;
  unsigned long long random;
} cartpole;

/* Begins an episode, near upright. */
void cartpole_reset(cartpole *of);

void cartpole_observe(const cartpole *of, float *observation);

/* One step of 0.02 s with a push to the left (0) or to the right (1). Returns whether the episode is over: the pole has
 * fallen, the cart has left its track, or it has lasted 500 steps. The reward of each step is 1. */
int cartpole_step(cartpole *of, int action);

#endif
