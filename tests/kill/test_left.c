/* A writer without an end is killed, with every combination of its options: the whole rows in its files are counted,
 * and each of them is there afterwards, whoever comes next. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "td_files.h"
#include "td_random.h"
#include "td_values.h"

typedef struct setting {
  int nested;
  int64_t before; /* rows that the folder has already */
  int32_t background;
  int64_t publish_rows;
  int32_t checksums, durable;
} setting;

enum { LEAVES = 2 };
static const char *const paths[LEAVES][2] = {{"pos", NULL}, {"n", "step"}};
static const char *const flat_paths[LEAVES][2] = {{"pos", NULL}, {"step", NULL}};
static const size_t row_bytes[LEAVES] = {8, 8};

static const char *const *path_of(const setting *it, int leaf) {
  return it->nested ? paths[leaf] : flat_paths[leaf];
}

static size_t path_len(const setting *it, int leaf) { return leaf == 1 && it->nested ? 2 : 1; }

static td_tensordict *rows_of(const setting *it, int64_t first, int64_t n) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_put(td, path_of(it, 0), 1, td_arange(TD_DTYPE_FLOAT32, 2 * first, TD_SIZES(n, 2)));
  td_put(td, path_of(it, 1), path_len(it, 1), td_arange(TD_DTYPE_INT64, first, TD_SIZES(n)));
  return td;
}

static td_append_options options_of(const setting *it) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.background = it->background;
  options.publish_rows = it->publish_rows;
  options.checksums = it->checksums;
  options.durable = it->durable;
  options.buffer_bytes = 4096;
  return options;
}

static td_writer *open_writer(const setting *it, const char *folder) {
  const td_append_options options = options_of(it);
  td_tensordict *like = rows_of(it, 0, 1);
  td_writer *writer = NULL;
  int32_t field = -1;
  TD_DO(td_writer_open_append(folder, like, &options, &writer));
  for (int i = 0; i < LEAVES; i++)
    TD_DO(td_writer_bind(writer, path_of(it, i), path_len(it, i), &field));
  td_free(like);
  return writer;
}

static void write_row(td_writer *writer, int64_t row) {
  const float pos[2] = {(float)(2 * row), (float)(2 * row + 1)};
  TD_DO(td_writer_put(writer, 0, pos, sizeof pos));
  TD_DO(td_writer_put(writer, 1, &row, sizeof row));
  TD_DO(td_writer_next(writer));
}

/* Floats count exactly that far. */
enum { MOST = 1 << 22 };

static void write_until_killed(const setting *it, const char *folder, volatile int64_t *complete) {
  td_writer *writer = open_writer(it, folder);
  for (int64_t row = it->before; row < MOST; row++) {
    write_row(writer, row);
    *complete = row + 1;
    if (row % 64 == 0) nanosleep(&(struct timespec){0, 1000}, NULL);
  }
  for (;;) pause();
}

static int64_t whole_rows(const setting *it, const char *folder) {
  int64_t whole = INT64_MAX;
  for (int i = 0; i < LEAVES; i++) {
    struct stat info = {0};
    char name[100];
    snprintf(name, sizeof name, "%s%s%s.memmap", path_of(it, i)[0], path_len(it, i) == 2 ? "/" : "",
             path_len(it, i) == 2 ? path_of(it, i)[1] : "");
    const int64_t rows = stat(td_path(folder, name), &info) == 0
                             ? (int64_t)((size_t)info.st_size / row_bytes[i])
                             : 0;
    whole = rows < whole ? rows : whole;
  }
  return whole;
}

/* Without a call of anybody's, rows get to the files soon. */
static void wait_for_rows(const setting *it, const char *folder, int64_t rows) {
  for (int i = 0; i < 30000 && whole_rows(it, folder) < rows; i++)
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  TD_CHECK(whole_rows(it, folder) >= rows);
}

static void must_hold(const setting *it, const char *folder, int64_t rows) {
  td_tensordict *found = NULL, *want = rows_of(it, 0, rows);
  size_t damaged = 99;
  TD_DO(td_memmap_load(folder, NULL, &found));
  TD_CHECK_BATCH(found, rows);
  TD_CHECK_EQUAL(found, want);
  td_free(found);
  td_free(want);
  TD_DO(td_memmap_verify(folder, NULL, &damaged));
  TD_CHECK_INT(damaged, 0);
}

/* What comes next: a repair, a writer, a dictionary. */
static int64_t go_on(const setting *it, const char *folder, int64_t stored, int way) {
  const td_append_options options = options_of(it);
  if (way == 0) {
    TD_EXPECT(td_memmap_truncate(folder, stored + 1, &options), TD_ERR_INDEX);
    TD_DO(td_memmap_truncate(folder, stored, &options));
    return stored;
  }
  if (way == 1) {
    td_writer *writer = open_writer(it, folder);
    int64_t rows = 0;
    TD_DO(td_memmap_length(folder, &rows, NULL, NULL));
    TD_CHECK_INT(rows, stored); /* a program can go on from there */
    write_row(writer, stored);
    td_writer_free(writer);
    return stored + 1;
  }
  td_tensordict *more = rows_of(it, stored, 3);
  TD_DO(td_memmap_append(folder, more, &options));
  td_free(more);
  return stored + 3;
}

static void kill_one(const setting *it, int number, int way, int64_t patience) {
  char name[20], folder[1000], text[200];
  int status = 0;
  int64_t rows = -1, stored = -1, spare = -1;
  volatile int64_t *complete =
      mmap(NULL, sizeof *complete, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  TD_CHECK(complete != MAP_FAILED);
  snprintf(name, sizeof name, "m%d", number);
  snprintf(folder, sizeof folder, "%s", td_path(td_test_folder(), name));
  snprintf(text, sizeof text,
           "nested %d, before %d, background %d, publish_rows %d, checksums %d, durable %d, way %d",
           it->nested, (int)it->before, it->background, (int)it->publish_rows, it->checksums,
           it->durable, way);
  if (it->before != 0) {
    td_tensordict *td = rows_of(it, 0, it->before), *mapped = NULL;
    TD_DO(td_memmap(td, folder, NULL, &mapped));
    td_free(mapped);
    td_free(td);
  }
  fflush(stdout);
  const pid_t child = fork();
  TD_CHECK(child >= 0);
  if (child == 0) write_until_killed(it, folder, complete);
  while (*complete <= it->before) nanosleep(&(struct timespec){0, 100000}, NULL);
  nanosleep(&(struct timespec){0, (long)(patience * 1000)}, NULL);
  const int64_t known = *complete;
  if (it->background >= 0) wait_for_rows(it, folder, known);
  TD_CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
  if (!WIFSIGNALED(status)) td_test_fail(__FILE__, __LINE__, "%s: the writer failed", text);
  munmap((void *)complete, sizeof *complete);

  const int64_t whole = whole_rows(it, folder);
  TD_DO(td_memmap_length(folder, &rows, &stored, &spare));
  if (stored != whole || rows > stored)
    td_test_fail(__FILE__, __LINE__, "%s: %lld whole rows, %lld stored, %lld published", text,
                 (long long)whole, (long long)stored, (long long)rows);
  must_hold(it, folder, rows);
  const int64_t now = go_on(it, folder, stored, way);
  TD_DO(td_memmap_length(folder, &rows, &stored, &spare));
  if (rows != now || stored != now || spare != 0)
    td_test_fail(__FILE__, __LINE__, "%s: %lld rows, %lld stored, %lld spare after %lld", text,
                 (long long)rows, (long long)stored, (long long)spare, (long long)now);
  must_hold(it, folder, now);
  TD_CHECK(!td_exists(td_path(folder, ".%rows")));
}

static void kill_each(int nested, int64_t before) {
  static const struct { int32_t checksums, durable; } kinds[] = {{0, 0}, {1, 0}, {0, 1}};
  static const int64_t publish[] = {0, -1, 5};
  td_random random = td_random_begin();
  int number = 0;
  for (int32_t background = -1; background <= 0; background++)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
      for (size_t p = 0; p < sizeof publish / sizeof *publish; p++)
        for (int way = 0; way < 3; way++) {
          const setting it = {nested,          before, background, publish[p], kinds[k].checksums,
                              kinds[k].durable};
          kill_one(&it, number++, way, td_random_between(&random, 0, 15000));
        }
}

TD_TEST(the_first_rows_of_a_flat_folder) { kill_each(0, 0); }
TD_TEST(later_rows_of_a_flat_folder) { kill_each(0, 7); }
TD_TEST(the_first_rows_of_a_nested_folder) { kill_each(1, 0); }
TD_TEST(later_rows_of_a_nested_folder) { kill_each(1, 7); }
