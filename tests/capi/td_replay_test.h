/* td_replay_test.h: what tests of replay buffers share. */
#ifndef TD_REPLAY_TEST_H
#define TD_REPLAY_TEST_H

#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

/* {"a": int64 [n] of first…, "n": {"b": int64 [n, 2] of 2 * first…}} */
static inline td_tensordict *replay_rows(int64_t first, int64_t n) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(n)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 2 * first, TD_SIZES(n, 2)));
  return td;
}

static inline td_replay_options replay_options(int64_t capacity, td_replay_sampler sampler) {
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.capacity = capacity;
  options.sampler = sampler;
  options.seed = 7;
  return options;
}

static inline td_replay *replay_of(const td_replay_options *options) {
  td_replay *replay = NULL;
  TD_DO(td_replay_create(options, &replay));
  return replay;
}

static inline td_replay *replay_loaded(const char *folder, const td_replay_options *options) {
  td_replay *replay = NULL;
  TD_DO(td_replay_load(folder, options, &replay));
  return replay;
}

/* Writes rows whose "a" is first…. */
static inline void replay_write(td_replay *replay, int64_t first, int64_t n) {
  td_tensordict *td = replay_rows(first, n);
  TD_DO(td_replay_extend(replay, td));
  td_free(td);
}

static inline void replay_check_where(const td_replay *replay, int64_t len, int64_t capacity,
                                      int64_t cursor, int64_t written) {
  int64_t got[4];
  TD_DO(td_replay_where(replay, &got[0], &got[1], &got[2], &got[3]));
  TD_CHECK_INT(got[0], len);
  TD_CHECK_INT(got[1], capacity);
  TD_CHECK_INT(got[2], cursor);
  TD_CHECK_INT(got[3], written);
}

/* The values of an entry of `item` bytes each; how many there were. */
static inline int64_t replay_values(const td_tensordict *td, const char *const *path, size_t len,
                                    void *values, size_t item, int64_t room) {
  td_tensor *tensor = td_take(td, path, len);
  void *data = NULL;
  size_t bytes = 0;
  TD_DO(td_tensor_data(tensor, &data));
  TD_DO(td_tensor_nbytes(tensor, &bytes));
  TD_CHECK((int64_t)(bytes / item) <= room);
  if (bytes != 0) memcpy(values, data, bytes);
  td_tensor_free(tensor);
  return (int64_t)(bytes / item);
}

/* Draws; the values of "a", after a look at whether the rows are whole. */
static inline int64_t replay_draw(td_replay *replay, int64_t rows, int64_t *a, int64_t *index) {
  td_tensordict *batch = NULL;
  TD_DO(td_replay_sample(replay, rows, &batch));
  int64_t *b = calloc((size_t)rows * 2 + 1, 8);
  const int64_t n = replay_values(batch, TD_KEY("a"), a, 8, rows);
  TD_CHECK_INT(replay_values(batch, TD_KEY("n", "b"), b, 8, 2 * rows), 2 * n);
  for (int64_t i = 0; i < n; i++) {
    TD_CHECK_INT(b[2 * i], 2 * a[i]);
    TD_CHECK_INT(b[2 * i + 1], 2 * a[i] + 1);
  }
  if (index != NULL) TD_CHECK_INT(replay_values(batch, TD_KEY("index"), index, 8, rows), n);
  td_free(batch);
  free(b);
  return n;
}

#endif
