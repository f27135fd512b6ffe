/* sets.h: the scenarios of data sets. */
#ifndef SETS_H
#define SETS_H

#include "scenarios.h"

/* An episode of three steps, and its set. The first step begins it. */
td_tensordict *episode_of_state(int64_t state);
int64_t look_episodes(const char *place);
td_status add_torchrl(const char *place, td_tensordict *source, int64_t state);
td_status add_minari(const char *place, td_tensordict *source, int64_t state);
td_status add_robomimic_durably(const char *place, td_tensordict *source, int64_t state);
td_status add_d4rl(const char *place, td_tensordict *source, int64_t state);
td_status add_lerobot(const char *place, td_tensordict *source, int64_t state);

/* A set of one episode, that of the state, in place of the one before. */
td_status begin_minari(const char *place, td_tensordict *source, int64_t state);
int64_t look_begun(const char *place);

/* Three frames of a camera, which a set of LeRobot keeps in a video. */
td_tensordict *film_of_state(int64_t state);
td_status add_film(const char *place, td_tensordict *source, int64_t state);
int64_t look_films(const char *place);

#endif
