#include "juggler.h"

#include <math.h>
#include <stdio.h>

enum { BALL = 5, BALL_SPEED = 5 };   /* where the ball begins in qpos and in qvel */
enum { X, Y, STROKE, ROLL, PITCH };  /* the motors */
enum { POSITIONS = 12, MOTORS = 5 }; /* what this controller is written for */
enum { PERIOD = 10 };                /* simulation steps in one control period */

static const double gravity = 9.81;
static const double tray_height = 0.5;
static const double apex = 0.95; /* how high the ball shall fly */

/* A number between -1 and 1. */
static double noise(juggler *task) {
  task->random = task->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(task->random >> 11) * 0x1p-52 - 1.0;
}

bool juggler_open(juggler *task, const char *model_file, char *error, int error_size) {
  task->random = 1;
  task->data = NULL;
  task->model = mj_loadXML(model_file, NULL, error, error_size);
  if (!task->model) return false;
  if (task->model->nq != POSITIONS || task->model->nu != MOTORS) {
    snprintf(error, (size_t)error_size, "%s: %d positions and %d motors, not %d and %d", model_file,
             task->model->nq, task->model->nu, POSITIONS, MOTORS);
    juggler_close(task);
    return false;
  }
  task->data = mj_makeData(task->model);
  return true;
}

void juggler_close(juggler *task) {
  mj_deleteData(task->data);
  mj_deleteModel(task->model);
}

void juggler_serve(juggler *task) {
  mj_resetData(task->model, task->data);
  double *ball = task->data->qpos + BALL;
  double *speed = task->data->qvel + BALL_SPEED;
  for (int axis = 0; axis < 2; axis++) {
    ball[axis] = 0.05 * noise(task);
    speed[axis] = 0.2 * noise(task);
  }
  ball[2] = 0.9 + 0.05 * noise(task);
  mj_forward(task->model, task->data);
}

void juggler_control(juggler *task) {
  const double *ball = task->data->qpos + BALL;
  const double *speed = task->data->qvel + BALL_SPEED;
  double *motor = task->data->ctrl;
  double energy = gravity * ball[2] + 0.5 * speed[2] * speed[2];
  double gain = 0.2 + 0.05 * (gravity * apex - energy);
  double above = ball[2] - tray_height;

  motor[X] = ball[0];
  motor[Y] = ball[1];
  motor[STROKE] = -gain * (above - 0.2);
  motor[ROLL] = 0.1 * ball[1] + 0.1 * speed[1] + 0.15 * noise(task);
  motor[PITCH] = -0.1 * ball[0] - 0.1 * speed[0] + 0.15 * noise(task);
}

void juggler_nudge(juggler *task) {
  double *motor = task->data->ctrl;
  for (int i = X; i <= STROKE; i++) motor[i] += 0.05 * noise(task);
  motor[ROLL] += 0.2 * noise(task);
  motor[PITCH] += 0.2 * noise(task);
}

void juggler_step(juggler *task) {
  for (int i = 0; i < PERIOD; i++) mj_step(task->model, task->data);
}

float juggler_reward(const juggler *task) {
  const double *ball = task->data->qpos + BALL;
  double effort = 0;
  for (int i = 0; i < MOTORS; i++) effort += task->data->ctrl[i] * task->data->ctrl[i];
  if (juggler_dropped(task)) return -1.0f;
  return (float)(exp(-4.0 * hypot(ball[0], ball[1])) - 0.1 * effort);
}

bool juggler_dropped(const juggler *task) { return task->data->qpos[BALL + 2] < 0.1; }
