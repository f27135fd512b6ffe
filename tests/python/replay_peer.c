/* The side of replay.py that is this library: replay_peer COMMAND FOLDER ROWS RESULT SAMPLER CAPACITY
 *
 * COMMAND is "create": a buffer of CAPACITY places gets the rows of the folder ROWS, is drawn from, and saved to RESULT. With
 * "extend" the buffer comes from FOLDER, with "copy" it gets no rows. SAMPLER is a number of td_replay_sampler; 0: as the folder
 * says; more than 99: without that hundred, and new rows have the priority in their "td_error"; more than 199: and the largest is
 * that of the rows that are there. "draw" draws slices from FOLDER many times, CAPACITY rows of one may lie behind its episode,
 * and prints the first place, the number of rows and the weight of each. "returns" writes all rows in their order with the returns
 * of SAMPLER steps to RESULT, "hindsight" CAPACITY rows with the goals of strategy SAMPLER. Ends with 3 where the library refuses, and prints why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensordict/td.h"

static void must(td_status status) {
  if (status == TD_OK) return;
  printf("%s\n", td_last_error_message());
  exit(3);
}

static void copy_values(const td_tensordict *td, const char *const *path, size_t len, void *into,
                        size_t room, size_t *bytes) {
  td_tensor *tensor = NULL;
  void *data = NULL;
  must(td_get(td, path, len, &tensor));
  must(td_tensor_data(tensor, &data));
  must(td_tensor_nbytes(tensor, bytes));
  if (*bytes > room) exit(2);
  memcpy(into, data, *bytes);
  td_tensor_free(tensor);
}

static int draw(const char *folder, td_replay_options *options, int64_t span) {
  enum { rows = 400 };
  options->span_end = span;
  options->flags |= TD_REPLAY_MARK_ENDS;
  td_replay *replay = NULL;
  must(td_replay_load(folder, options, &replay));
  for (int times = 0; times < 50; times++) {
    static int64_t index[rows];
    static float weight[rows];
    static char ends[rows];
    td_tensordict *batch = NULL;
    size_t bytes = 0;
    must(td_replay_sample(replay, rows, &batch));
    copy_values(batch, TD_KEY("index"), index, sizeof index, &bytes);
    copy_values(batch, TD_KEY("priority_weight"), weight, sizeof weight, &bytes);
    copy_values(batch, TD_KEY("next", "truncated"), ends, sizeof ends, &bytes);
    td_free(batch);
    for (size_t i = 0, first = 0; i < bytes; i++) {
      if (!ends[i]) continue;
      printf("%lld %zu %.9g\n", (long long)index[first], i + 1 - first, (double)weight[first]);
      first = i + 1;
    }
  }
  td_replay_free(replay);
  return 0;
}

static int write_batch(td_replay *replay, td_tensordict *batch, const char *folder) {
  td_tensordict *written = NULL;
  const td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  must(td_memmap(batch, folder, &options, &written));
  td_free(written);
  td_free(batch);
  td_replay_free(replay);
  return 0;
}

static int returns(const char *folder, int64_t steps, const char *result) {
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.sampler = TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT;
  options.flags = TD_REPLAY_IN_ORDER;
  options.n_steps = steps;
  options.gamma = 0.9;
  td_replay *replay = NULL;
  td_tensordict *batch = NULL;
  int64_t rows = 0;
  must(td_replay_load(folder, &options, &replay));
  must(td_replay_where(replay, &rows, NULL, NULL, NULL));
  must(td_replay_sample(replay, rows, &batch));
  return write_batch(replay, batch, result);
}

/* Twice the first number of the goal. */
static td_status reward(void *user, td_tensordict *source, td_tensordict **result) {
  static float goals[3 * 10000], rewards[10000];
  size_t bytes = 0;
  (void)user, (void)result;
  copy_values(source, TD_KEY("desired_goal"), goals, sizeof goals, &bytes);
  const int64_t n = (int64_t)(bytes / sizeof *goals / 3);
  for (int64_t i = 0; i < n; i++) rewards[i] = 2 * goals[3 * i];
  return td_set_data(source, TD_KEY("next", "reward"), rewards, (size_t)n * sizeof *rewards,
                     (const int64_t[]){n, 1}, 2, TD_DTYPE_FLOAT32);
}

static int hindsight(const char *folder, int32_t strategy, int64_t rows, const char *result) {
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  td_replay_hindsight_options goals = TD_REPLAY_HINDSIGHT_OPTIONS_INIT;
  options.sampler = TD_REPLAY_SAMPLER_RANDOM;
  goals.strategy = strategy;
  goals.ratio = 0.7;
  td_replay *replay = NULL;
  td_module *module = NULL;
  td_tensordict *batch = NULL;
  must(td_replay_load(folder, &options, &replay));
  must(td_module_from_function(NULL, reward, NULL, NULL, &module));
  must(td_replay_sample_hindsight(replay, rows, &goals, module, &batch));
  td_module_free(module);
  return write_batch(replay, batch, result);
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  if (strcmp(argv[1], "returns") == 0) return returns(argv[2], atoi(argv[5]), argv[4]);
  if (strcmp(argv[1], "hindsight") == 0)
    return hindsight(argv[2], atoi(argv[5]), atoi(argv[6]), argv[4]);
  static const char *const done[] = {"next", "done"}, *const td_error[] = {"td_error"};
  static const td_key ends = {done, 2}, by_error = {td_error, 1};
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.sampler = atoi(argv[5]);
  options.alpha = 0.7;
  options.beta = 0.9;
  options.seed = 3;
  options.rows = 8;
  if (options.sampler > 199) options.flags |= TD_REPLAY_LARGEST_WITHIN;
  if (options.sampler > 99) options.priority_key = &by_error;
  options.sampler %= 100;
  if (options.sampler == TD_REPLAY_SAMPLER_SLICES ||
      options.sampler >= TD_REPLAY_SAMPLER_SLICES_WITHOUT_REPLACEMENT) {
    options.slice_len = 4;
    options.ends = &ends;
    options.ends_len = 1;
    options.flags |= TD_REPLAY_SHORT;
  }
  if (strcmp(argv[1], "draw") == 0) return draw(argv[2], &options, atoi(argv[6]));
  td_replay *replay = NULL;
  if (strcmp(argv[1], "create") == 0) {
    options.capacity = atoi(argv[6]);
    must(td_replay_create(&options, &replay));
  } else {
    must(td_replay_load(argv[2], &options, &replay));
  }
  if (strcmp(argv[1], "copy") != 0) {
    td_tensordict *rows = NULL;
    must(td_memmap_load(argv[3], NULL, &rows));
    must(td_replay_extend(replay, rows));
    td_free(rows);
  }
  td_tensordict *batch = NULL;
  must(td_replay_sample(replay, 8, &batch));
  td_free(batch);
  must(td_replay_save(replay, argv[4], 0));
  td_replay_free(replay);
  return 0;
}
