/* Data sets that are written episode by episode. A state is the number of the last one. */
#include "sets.h"

#include <string.h>

#include "td_files.h"
#include "td_values.h"

enum { ROWS = 3, HEIGHT = 16, WIDTH = 24 };

/* An episode of three steps: each of its values follows from its number. */
td_tensordict *episode_of_state(int64_t state) {
  td_tensordict *td = td_empty(TD_SIZES(ROWS));
  const double first = (double)(10 * state);
  td_put(td, TD_KEY("observation"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(ROWS, 2)));
  td_put(td, TD_KEY("action"), td_arange(TD_DTYPE_FLOAT64, first, TD_SIZES(ROWS, 1)));
  td_put(td, TD_KEY("next", "observation"),
         td_arange(TD_DTYPE_FLOAT32, first + 2, TD_SIZES(ROWS, 2)));
  td_put(td, TD_KEY("next", "reward"), td_arange(TD_DTYPE_FLOAT64, first, TD_SIZES(ROWS, 1)));
  td_put(td, TD_KEY("next", "terminated"), td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(ROWS, 1)));
  td_tensor *ends = td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(ROWS, 1));
  uint8_t *flags = NULL;
  TD_DO(td_tensor_data(ends, (void **)&flags));
  flags[ROWS - 1] = 1;
  TD_DO(td_set(td, TD_KEY("next", "truncated"), ends));
  TD_DO(td_set(td, TD_KEY("next", "done"), ends));
  td_tensor_free(ends);
  td_put(td, TD_KEY("large"),
         td_filled(TD_DTYPE_UINT8, (double)(state % 200), TD_SIZES(ROWS, kill_ballast)));
  return td;
}

static const td_dataset_save_options no_options = TD_DATASET_SAVE_OPTIONS_INIT;

/* With the first state a set begins, or takes the place of another. */
static td_status add_episode(const char *place, const td_tensordict *source, int64_t state,
                             td_dataset_kind kind, td_dataset_save_options options) {
  td_dataset_writer *writer = NULL;
  if (state > 0) options.flags |= TD_DATASET_SAVE_RESUME;
  options.fps = kind == TD_DATASET_KIND_LEROBOT ? 10 : 0;
  td_status status = td_dataset_writer_open(place, kind, NULL, &options, &writer);
  if (status == TD_OK) status = td_dataset_writer_add(writer, source, NULL);
  td_dataset_writer_free(writer);
  return status;
}

static void must_be_episode(const td_dataset *set, int64_t place, int64_t state) {
  td_tensordict *found = NULL, *want = episode_of_state(state);
  td_put(want, TD_KEY("episode"), td_filled(TD_DTYPE_INT64, (double)place, TD_SIZES(ROWS)));
  TD_DO(td_dataset_episode(set, place, &found));
  static const char *const of_lerobot[] = {"frame", "index", "timestamp", "task_index",
                                           "language_instruction"};
  for (size_t i = 0; i < sizeof of_lerobot / sizeof *of_lerobot; i++) {
    td_entry_kind kind = TD_ENTRY_NONE;
    TD_DO(td_get_kind(found, &of_lerobot[i], 1, &kind));
    if (kind != TD_ENTRY_NONE) TD_DO(td_remove(found, &of_lerobot[i], 1));
  }
  kill_must_equal(found, want, state);
}

int64_t look_episodes(const char *place) {
  td_dataset *set = NULL;
  int64_t episodes = 0, steps = 0;
  TD_DO(td_dataset_open(place, NULL, &set));
  TD_DO(td_dataset_about(set, NULL, &episodes, &steps));
  TD_CHECK_INT(steps, episodes * ROWS);
  for (int64_t i = 0; i < episodes; i++) must_be_episode(set, i, i);
  td_dataset_free(set);
  return episodes - 1;
}

td_status add_torchrl(const char *place, td_tensordict *source, int64_t state) {
  return add_episode(place, source, state, TD_DATASET_KIND_TORCHRL, no_options);
}

td_status add_minari(const char *place, td_tensordict *source, int64_t state) {
  return add_episode(place, source, state, TD_DATASET_KIND_MINARI, no_options);
}

td_status add_robomimic_durably(const char *place, td_tensordict *source, int64_t state) {
  td_dataset_save_options durably = no_options;
  durably.flags = TD_DATASET_SAVE_DURABLE;
  return add_episode(place, source, state, TD_DATASET_KIND_ROBOMIMIC, durably);
}

td_status add_d4rl(const char *place, td_tensordict *source, int64_t state) {
  return add_episode(place, source, state, TD_DATASET_KIND_D4RL, no_options);
}

/* A set of one episode, that of the state, in place of the one before. */
td_status begin_minari(const char *place, td_tensordict *source, int64_t state) {
  (void)state;
  return add_episode(place, source, 0, TD_DATASET_KIND_MINARI, no_options);
}

int64_t look_begun(const char *place) {
  td_dataset *set = NULL;
  td_tensordict *found = NULL;
  int64_t episodes = 0;
  TD_DO(td_dataset_open(place, NULL, &set));
  TD_DO(td_dataset_about(set, NULL, &episodes, NULL));
  TD_CHECK_INT(episodes, 1);
  TD_DO(td_dataset_episode(set, 0, &found));
  td_tensor *action = td_take(found, TD_KEY("action"));
  double *values = NULL;
  TD_DO(td_tensor_data(action, (void **)&values));
  const int64_t state = (int64_t)values[0] / 10;
  td_tensor_free(action);
  td_free(found);
  must_be_episode(set, 0, state);
  td_dataset_free(set);
  return state;
}

td_status add_lerobot(const char *place, td_tensordict *source, int64_t state) {
  return add_episode(place, source, state, TD_DATASET_KIND_LEROBOT, no_options);
}

static const char *const camera[] = {"observation", "image", "top"};

/* What each byte of the frames of a state is. */
static uint8_t brightness_of(int64_t state) { return (uint8_t)(20 + 40 * (state % 5)); }

td_tensordict *film_of_state(int64_t state) {
  td_tensordict *td = td_empty(TD_SIZES(ROWS));
  td_put(td, TD_KEY("action"), td_arange(TD_DTYPE_FLOAT64, (double)state, TD_SIZES(ROWS, 1)));
  td_put(td, camera, 3,
         td_filled(TD_DTYPE_UINT8, brightness_of(state), TD_SIZES(ROWS, HEIGHT, WIDTH, 3)));
  return td;
}

td_status add_film(const char *place, td_tensordict *source, int64_t state) {
  td_dataset_save_options filmed = no_options;
  filmed.video = TD_DATASET_VIDEO_H264;
  return add_episode(place, source, state, TD_DATASET_KIND_LEROBOT, filmed);
}

/* Every frame is there and, but for what the codec changes, of its episode. */
static void must_be_film(const td_dataset *set, int64_t state) {
  td_tensordict *found = NULL;
  uint8_t *bytes = NULL;
  double *values = NULL;
  TD_DO(td_dataset_episode(set, state, &found));
  td_tensor *action = td_take(found, TD_KEY("action")), *frames = td_take(found, camera, 3);
  TD_CHECK_SIZES(frames, ROWS, HEIGHT, WIDTH, 3);
  TD_DO(td_tensor_data(frames, (void **)&bytes));
  TD_DO(td_tensor_data(action, (void **)&values));
  for (int64_t i = 0; i < ROWS; i++) TD_CHECK(values[i] == (double)(state + i));
  for (int64_t i = 0; i < ROWS * HEIGHT * WIDTH * 3; i++) {
    const int differs = bytes[i] - brightness_of(state);
    if (differs < -4 || differs > 4)
      td_test_fail(__FILE__, __LINE__, "film of state %lld: byte %lld is %d", (long long)state,
                   (long long)i, bytes[i]);
  }
  td_tensor_free(frames);
  td_tensor_free(action);
  td_free(found);
}

int64_t look_films(const char *place) {
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  td_dataset *set = NULL;
  int64_t episodes = 0, steps = 0;
  options.flags = TD_DATASET_VIDEOS;
  TD_DO(td_dataset_open(place, &options, &set));
  TD_DO(td_dataset_about(set, NULL, &episodes, &steps));
  TD_CHECK_INT(steps, episodes * ROWS);
  for (int64_t i = 0; i < episodes; i++) must_be_film(set, i);
  td_dataset_free(set);
  return episodes - 1;
}
