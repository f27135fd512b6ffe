/* The side of replay.py that is this library: replay_peer COMMAND FOLDER ROWS RESULT SAMPLER CAPACITY
 *
 * COMMAND is "create": a buffer of CAPACITY places gets the rows of the folder ROWS, is drawn from, and saved to RESULT. With
 * "extend" the buffer comes from FOLDER, with "copy" it gets no rows. SAMPLER is a number of td_replay_sampler; 0: as the folder
 * says; more than 99: without that hundred, and new rows have the priority in their "td_error"; more than 199: and the largest is
 * that of the rows that are there. "draw" draws slices from FOLDER many times, CAPACITY rows of one may lie behind its episode,
 * and prints the first place, the number of rows and the weight of each. Ends with 3 where the library refuses, and prints why. */
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

int main(int argc, char **argv) {
  if (argc != 7) return 2;
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
