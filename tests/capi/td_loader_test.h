/* td_loader_test.h: what tests of loaders share. */
#ifndef TD_LOADER_TEST_H
#define TD_LOADER_TEST_H

#include <stdlib.h>
#include <string.h>

#include "td_values.h"

/* {"a": int64 [n] of 0…, "n": {"b": int64 [n, 2] of 0…}} */
static inline td_tensordict *loader_line(int64_t n) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(n)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(n, 2)));
  return td;
}

static inline td_loader_options loader_options(int64_t rows, td_loader_flags flags) {
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  options.rows = rows;
  options.flags = flags;
  return options;
}

static inline td_loader *loader_of(const td_tensordict *td, const td_loader_options *options) {
  td_loader *loader = NULL;
  TD_DO(td_loader_create(td, options, &loader));
  return loader;
}

/* The values of "a" in the next batch; how many there were: 0 at the end of an epoch. */
static inline int64_t loader_some(td_loader *loader, int64_t *rows, int64_t room) {
  td_tensordict *batch = NULL;
  TD_DO(td_loader_next(loader, &batch));
  if (batch == NULL) return 0;
  td_tensor *a = td_take(batch, TD_KEY("a"));
  void *data = NULL;
  size_t bytes = 0;
  TD_DO(td_tensor_data(a, &data));
  TD_DO(td_tensor_nbytes(a, &bytes));
  TD_CHECK((int64_t)bytes <= room * 8);
  memcpy(rows, data, bytes);
  td_tensor_free(a);
  td_free(batch);
  return (int64_t)(bytes / 8);
}

/* The same of all batches of the epoch. */
static inline int64_t loader_epoch(td_loader *loader, int64_t *rows, int64_t room) {
  int64_t got = 0;
  for (;;) {
    const int64_t more = loader_some(loader, rows + got, room - got);
    if (more == 0) return got;
    got += more;
  }
}

/* `count` different numbers below `n`. */
static inline void loader_check_distinct(const int64_t *rows, int64_t count, int64_t n) {
  char *seen = calloc(1, (size_t)n);
  for (int64_t i = 0; i < count; i++) {
    TD_CHECK(rows[i] >= 0 && rows[i] < n);
    TD_CHECK(!seen[rows[i]]);
    seen[rows[i]] = 1;
  }
  free(seen);
}

static inline void loader_check_all(const int64_t *rows, int64_t count, int64_t n) {
  TD_CHECK_INT(count, n);
  loader_check_distinct(rows, count, n);
}

#endif
