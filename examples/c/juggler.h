/* The task that rollout.c records: a tray on five motors keeps a ball in the air (MuJoCo). */
#ifndef EXAMPLES_JUGGLER_H
#define EXAMPLES_JUGGLER_H

#include <mujoco/mujoco.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct juggler {
  mjModel *model;
  mjData *data;
  uint64_t random; /* state of the generator; everything that varies comes from it */
} juggler;

/* Loads a model. On failure false, with the reason of MuJoCo in `error`. */
bool juggler_open(juggler *task, const char *model_file, char *error, int error_size);
void juggler_close(juggler *task);

/* Puts the ball above the tray, at a place that only the seed decides. */
void juggler_serve(juggler *task);

/* The controller: follows the ball, meets it with a mirrored stroke, tilts against its drift. */
void juggler_control(juggler *task);

/* Disturbs the motors. */
void juggler_nudge(juggler *task);

/* Simulates one control period, 20 ms. */
void juggler_step(juggler *task);

/* How well the ball is centred and in the air, less the effort. */
float juggler_reward(const juggler *task);

/* Whether the ball has come down to the floor. */
bool juggler_dropped(const juggler *task);

#endif
