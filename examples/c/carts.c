/* Carts on a plane: two motors push each, and it should stand in the middle. */
#include <stdlib.h>

#include "environments.h"

struct environment {
  double position[2], speed[2];
};

environment *environment_open(int number) {
  environment *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->position[0] = 0.03 * number - 1;
  made->position[1] = 1 - 0.02 * number;
  return made;
}

void environment_close(environment *of) { free(of); }

void environment_observe(const environment *of, float *observation) {
  for (int axis = 0; axis < 2; axis++) {
    observation[axis] = (float)of->position[axis];
    observation[2 + axis] = (float)of->speed[axis];
  }
}

float environment_step(environment *of, const float *action) {
  double distance = 0;
  for (int axis = 0; axis < 2; axis++) {
    of->speed[axis] += 0.05 * ((double)action[axis] - 0.5 * of->speed[axis]);
    of->position[axis] += 0.05 * of->speed[axis];
    distance += of->position[axis] * of->position[axis];
  }
  return (float)-distance;
}
