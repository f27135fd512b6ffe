/* td_append_test.h: rows of a nested folder that grows; each value follows from its number. */
#ifndef TD_APPEND_TEST_H
#define TD_APPEND_TEST_H

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "td_files.h"
#include "td_values.h"

/* In the folder of the test; valid until the 32nd call from here. */
static inline const char *grow_here(const char *name) {
  static char paths[32][1000];
  static unsigned next = 0;
  char *path = paths[next++ % 32];
  snprintf(path, sizeof paths[0], "%s/%s", td_test_folder(), name);
  return path;
}

/* Whether a file of counts is there. */
static inline int grow_counts(const char *folder) {
  char path[1010];
  struct stat info;
  snprintf(path, sizeof path, "%s/.%%rows", folder);
  return lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static inline void grow_sleep(int ms) {
  const struct timespec pause = {0, 1000000L * ms};
  nanosleep(&pause, NULL);
}

/* Rows first, first + 1 … of pos [n,2] and n.step [n]. */
static inline td_tensordict *grow_some(int64_t first, int64_t n) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_put(td, TD_KEY("pos"), td_arange(TD_DTYPE_FLOAT32, 2 * first, TD_SIZES(n, 2)));
  td_put(td, TD_KEY("n", "step"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(n)));
  return td;
}

static inline td_writer *grow_begin(const char *folder, const td_append_options *options) {
  td_tensordict *like = grow_some(0, 1);
  td_writer *writer = NULL;
  int32_t field = -1;
  TD_DO(td_writer_open_append(folder, like, options, &writer));
  td_free(like);
  TD_DO(td_writer_bind(writer, TD_KEY("pos"), &field));
  TD_DO(td_writer_bind(writer, TD_KEY("n", "step"), &field));
  return writer;
}

static inline void grow_add(td_writer *writer, int64_t first, int64_t n) {
  for (int64_t row = first; row < first + n; row++) {
    const float pos[2] = {(float)(2 * row), (float)(2 * row + 1)};
    TD_DO(td_writer_put(writer, 0, pos, sizeof pos));
    TD_DO(td_writer_put(writer, 1, &row, sizeof row));
    TD_DO(td_writer_next(writer));
  }
}

static inline int64_t grow_length(const char *folder) {
  int64_t rows = -1;
  TD_DO(td_memmap_length(folder, &rows, NULL, NULL));
  return rows;
}

/* The folder holds rows 0 … n - 1, for whoever loads it. */
static inline void grow_expect(const char *folder, int64_t n) {
  td_tensordict *loaded = NULL, *want = grow_some(0, n);
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_CHECK_BATCH(loaded, n);
  TD_CHECK_EQUAL(loaded, want);
  TD_CHECK_INT(grow_length(folder), n);
  td_free(want);
  td_free(loaded);
}

/* A copy that has what a program sees that knows of meta.json files only. */
static inline void grow_copy_elsewhere(const char *folder, char *copy, size_t room) {
  static int number = 0;
  char count[1010];
  snprintf(copy, room, "%s/copy%d", td_test_folder(), number++);
  snprintf(count, sizeof count, "%s/.%%rows", copy);
  td_copy_tree(folder, copy);
  if (grow_counts(copy)) TD_CHECK(unlink(count) == 0);
}

static inline void grow_expect_elsewhere(const char *folder, int64_t n) {
  char copy[1000];
  grow_copy_elsewhere(folder, copy, sizeof copy);
  grow_expect(copy, n);
}

#endif
