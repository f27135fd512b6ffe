/* Jugglers of MuJoCo: the policy sees place and speed of the ball above the tray, and tilts the tray. */
#include <stdio.h>
#include <stdlib.h>

#include "environments.h"
#include "juggler.h"

#ifndef JUGGLER_MODEL
#define JUGGLER_MODEL "examples/models/juggler.xml"
#endif

struct environment {
  juggler task;
};

environment *environment_open(int number) {
  char error[1000] = "";
  environment *made = calloc(1, sizeof *made);
  if (!made || !juggler_open(&made->task, JUGGLER_MODEL, error, sizeof error)) {
    fprintf(stderr, "jugglers: %s\n", error);
    free(made);
    return NULL;
  }
  made->task.random = (uint64_t)number + 1;
  juggler_serve(&made->task);
  return made;
}

void environment_close(environment *of) {
  if (of) juggler_close(&of->task);
  free(of);
}

void environment_observe(const environment *of, float *observation) {
  const double *ball = of->task.data->qpos + 5, *speed = of->task.data->qvel + 5;
  for (int axis = 0; axis < 2; axis++) {
    observation[axis] = (float)ball[axis];
    observation[2 + axis] = (float)speed[axis];
  }
}

float environment_step(environment *of, const float *action) {
  juggler_control(&of->task); /* holds the tray below the ball */
  for (int axis = 0; axis < 2; axis++) of->task.data->ctrl[3 + axis] += 0.1 * (double)action[axis];
  juggler_step(&of->task);
  const float reward = juggler_reward(&of->task);
  if (juggler_dropped(&of->task)) juggler_serve(&of->task);
  return reward;
}
