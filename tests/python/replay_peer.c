/* The side of replay.py that is this library: replay_peer COMMAND FOLDER ROWS RESULT SAMPLER CAPACITY
 *
 * COMMAND is "create": a buffer of CAPACITY places gets the rows of the folder ROWS, is drawn from, and saved to RESULT. With
 * "extend" the buffer comes from FOLDER, with "copy" it gets no rows. SAMPLER is a number of td_replay_sampler; 0: as the folder
 * says. Ends with 3 where the library refuses, and prints why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensordict/td.h"

static void must(td_status status) {
  if (status == TD_OK) return;
  printf("%s\n", td_last_error_message());
  exit(3);
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  static const char *const done[] = {"next", "done"};
  static const td_key ends = {done, 2};
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.sampler = atoi(argv[5]);
  options.alpha = 0.7;
  options.beta = 0.9;
  options.seed = 3;
  options.rows = 8;
  if (options.sampler == TD_REPLAY_SAMPLER_SLICES) {
    options.slice_len = 4;
    options.ends = &ends;
    options.ends_len = 1;
    options.flags = TD_REPLAY_SHORT;
  }
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
