/* A replay buffer that does what it is told, for replay_cases.py.
 *
 * Each line of the input is a command with its words between tabs: "load FOLDER SAMPLER FLAGS SLICE_LEN BY_ERROR BORDERS",
 * "extend ROWS", "sample COUNT", "rows FOLDER", "save FOLDER". BY_ERROR: new rows have the priority in "td_error"; BORDERS: "ends" or
 * "episodes". The answer is "ok", or the status and its message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"

static td_replay *replay;

static td_status load(char **words) {
  static const char *const done[] = {"next", "done"}, *const error[] = {"td_error"},
                           *const episode[] = {"episode"};
  static const td_key ends = {done, 2}, by_error = {error, 1}, by_episode = {episode, 1};
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.sampler = atoi(words[2]);
  options.flags = (td_replay_flags)atoi(words[3]);
  options.slice_len = atoi(words[4]);
  if (atoi(words[5])) options.priority_key = &by_error;
  if (strcmp(words[6], "ends") == 0) {
    options.ends = &ends;
    options.ends_len = 1;
  } else if (strcmp(words[6], "episodes") == 0) {
    options.episode = &by_episode;
  }
  options.rows = 8;
  td_replay_free(replay);
  return td_replay_load(words[1], &options, &replay);
}

static td_status extend(const char *folder) {
  td_tensordict *rows = NULL;
  td_status status = td_memmap_load(folder, NULL, &rows);
  if (status == TD_OK) status = td_replay_extend(replay, rows);
  td_free(rows);
  return status;
}

static td_status sample(int64_t rows) {
  td_tensordict *batch = NULL;
  const td_status status = td_replay_sample(replay, rows, &batch);
  td_free(batch);
  return status;
}

static td_status all_rows(const char *folder) {
  td_tensordict *mapped = NULL, *rows = NULL, *written = NULL;
  td_status status = td_replay_dict(replay, &mapped);
  if (status == TD_OK) status = td_clone(mapped, 0, &rows);
  if (status == TD_OK) status = td_memmap(rows, folder, NULL, &written);
  td_free(written);
  td_free(rows);
  td_free(mapped);
  return status;
}

int main(void) {
  static char line[16384];
  while (fgets(line, sizeof line, stdin) != NULL) {
    char *words[8] = {NULL};
    int n = 0;
    for (char *word = strtok(line, "\t\n"); word != NULL && n < 8; word = strtok(NULL, "\t\n"))
      words[n++] = word;
    if (n < 2) return 2;
    td_status status = TD_ERR_INVALID_ARGUMENT;
    if (strcmp(words[0], "load") == 0 && n == 7) status = load(words);
    if (strcmp(words[0], "extend") == 0) status = extend(words[1]);
    if (strcmp(words[0], "sample") == 0) status = sample(atoi(words[1]));
    if (strcmp(words[0], "rows") == 0) status = all_rows(words[1]);
    if (strcmp(words[0], "save") == 0) status = td_replay_save(replay, words[1], 0);
    answer(status);
  }
  td_replay_free(replay);
  return td_debug_live_handles() != 0;
}
