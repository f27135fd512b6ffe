#include "cartpole.h"

#include <math.h>

/* From -0.05 to 0.05. */
static double near_zero(cartpole *of) {
  of->random = of->random * 6364136223846793005u + 1442695040888963407u;
  return ((double)(of->random >> 11) / 9007199254740992.0 - 0.5) * 0.1;
}

void cartpole_reset(cartpole *of) {
  of->position = near_zero(of);
  of->speed = near_zero(of);
  of->angle = near_zero(of);
  of->turn = near_zero(of);
  of->steps = 0;
}

void cartpole_observe(const cartpole *of, float *observation) {
  observation[0] = (float)of->position;
  observation[1] = (float)of->speed;
  observation[2] = (float)of->angle;
  observation[3] = (float)of->turn;
}

int cartpole_step(cartpole *of, int action) {
  const double gravity = 9.8, pole_mass = 0.1, mass = 1.0 + pole_mass, half_length = 0.5;
  const double push = action ? 10.0 : -10.0, time = 0.02, falls = 12 * 3.14159265358979 / 180;
  const double sine = sin(of->angle), cosine = cos(of->angle);
  const double along = (push + pole_mass * half_length * of->turn * of->turn * sine) / mass;
  const double turning = (gravity * sine - cosine * along) /
                         (half_length * (4.0 / 3.0 - pole_mass * cosine * cosine / mass));
  const double driving = along - pole_mass * half_length * turning * cosine / mass;
  of->position += time * of->speed;
  of->speed += time * driving;
  of->angle += time * of->turn;
  of->turn += time * turning;
  of->steps++;
  return fabs(of->position) > 2.4 || fabs(of->angle) > falls || of->steps == CARTPOLE_LONGEST;
}
