/* A writer with a thread: what it publishes and when, and how its failures come back. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "td_append_test.h"

static td_append_options background(int64_t every, int32_t meta_ms) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.background = 1;
  options.publish_rows = every;
  options.meta_ms = meta_ms;
  return options;
}

/* The thread needs time; nothing is expected before. */
static void wait_for(const char *folder, int64_t rows) {
  for (int i = 0; i < 30000 && grow_length(folder) < rows; i++) grow_sleep(1);
  grow_expect(folder, rows);
}

static void wait_for_elsewhere(const char *folder, int64_t rows) {
  char copy[1000];
  wait_for(folder, rows);
  for (int i = 0; i < 1000; i++) {
    int64_t found = -1;
    grow_copy_elsewhere(folder, copy, sizeof copy);
    const td_status status = td_memmap_length(copy, &found, NULL, NULL);
    /* The files are copied one by one: some may be older than others. */
    TD_CHECK(status == TD_OK || status == TD_ERR_FORMAT);
    if (found == rows) return;
    grow_sleep(30);
  }
  TD_CHECK_INT(grow_length(copy), rows);
}

/* Nobody has asked for anything. */
TD_TEST(the_defaults_publish) {
  const char *folder = grow_here("m");
  td_writer *writer = grow_begin(folder, NULL);
  grow_add(writer, 0, 3);
  wait_for(folder, 3);
  grow_add(writer, 3, 4);
  wait_for(folder, 7);
  wait_for_elsewhere(folder, 7);
  td_writer_free(writer);
  grow_expect_elsewhere(folder, 7);
  TD_CHECK(!grow_counts(folder));
}

/* A program may have its rows published at the end only. */
TD_TEST(nothing_is_published_without_a_call) {
  const td_append_options options = background(-1, 1);
  const char *folder = grow_here("m");
  int64_t rows = -1, stored = 0;
  td_writer *writer = grow_begin(folder, &options);
  grow_add(writer, 0, 3);
  for (int i = 0; i < 30000 && stored < 3; i++) {
    TD_DO(td_memmap_length(folder, &rows, &stored, NULL));
    TD_CHECK_INT(rows, 0);
    grow_sleep(1);
  }
  TD_CHECK_INT(stored, 3);
  grow_expect(folder, 0);
  TD_DO(td_writer_flush(writer));
  grow_expect_elsewhere(folder, 3);
  td_writer_free(writer);
}

TD_TEST(the_thread_publishes) {
  const td_append_options options = background(10, -1);
  const char *folder = grow_here("m");
  td_writer *writer = grow_begin(folder, &options);
  grow_add(writer, 0, 10);
  wait_for(folder, 10);
  grow_add(writer, 10, 25);
  wait_for(folder, 30); /* never a part of what is published together */
  grow_expect_elsewhere(folder, 10);
  TD_DO(td_writer_flush(writer));
  grow_expect_elsewhere(folder, 35);
  grow_add(writer, 35, 4);
  TD_DO(td_writer_close(writer));
  TD_DO(td_writer_close(writer));
  TD_EXPECT(td_writer_next(writer), TD_ERR_INVALID_ARGUMENT);
  td_writer_free(writer);
  grow_expect_elsewhere(folder, 39);
  TD_CHECK(!grow_counts(folder));
  TD_CHECK_INT(td_file_size(td_path(folder, "pos.memmap")), 39 * 8);
}

TD_TEST(the_meta_files_follow_without_a_call) {
  const td_append_options options = background(1, 5);
  const char *folder = grow_here("m");
  td_writer *writer = grow_begin(folder, &options);
  grow_add(writer, 0, 1);
  wait_for(folder, 1);
  grow_add(writer, 1, 4);
  wait_for_elsewhere(folder, 5);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  grow_expect_elsewhere(folder, 5);
}

TD_TEST(a_small_buffer_is_used_again_and_again) {
  const int64_t buffers[] = {1, 16, 50, 160, 1000};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
    for (int64_t every = 0; every <= 14; every += 7) {
      char name[20];
      snprintf(name, sizeof name, "m%d-%d", (int)i, (int)every);
      td_append_options options = background(every, 0);
      options.buffer_bytes = buffers[i];
      td_writer *writer = grow_begin(grow_here(name), &options);
      grow_add(writer, 0, 100);
      TD_DO(td_writer_flush(writer));
      grow_expect(grow_here(name), 100);
      grow_add(writer, 100, 131);
      td_writer_free(writer); /* publishes */
      grow_expect(grow_here(name), 231);
    }
  }
}

TD_TEST(what_is_not_put_is_zero) {
  td_append_options options = background(3, 0);
  td_tensordict *loaded = NULL;
  const float pos[2] = {1, 2};
  options.buffer_bytes = 32; /* two rows */
  td_writer *writer = grow_begin(grow_here("m"), &options);
  for (int row = 0; row < 5; row++) {
    if (row % 2 == 0) TD_DO(td_writer_put(writer, 0, pos, sizeof pos));
    TD_DO(td_writer_next(writer));
  }
  TD_DO(td_writer_put(writer, 0, pos, sizeof pos)); /* not completed */
  TD_DO(td_writer_flush(writer));
  TD_DO(td_writer_next(writer));
  td_writer_free(writer);
  TD_DO(td_memmap_load(grow_here("m"), NULL, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("pos"), TD_SIZES(6, 2),
                 TD_VALUES(1, 2, 0, 0, 1, 2, 0, 0, 1, 2, 1, 2));
  TD_CHECK_ENTRY(loaded, TD_KEY("n", "step"), TD_SIZES(6), TD_VALUES(0, 0, 0, 0, 0, 0));
}

TD_TEST(durable_and_with_checksums) {
  td_append_options options = background(2, 0);
  size_t damaged = 9;
  options.durable = options.checksums = 1;
  td_writer *writer = grow_begin(grow_here("m"), &options);
  grow_add(writer, 0, 9);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  grow_expect_elsewhere(grow_here("m"), 9);
  TD_DO(td_memmap_verify(grow_here("m"), NULL, &damaged));
  TD_CHECK_INT(damaged, 0);
  TD_CHECK(td_exists(grow_here("m/checksums")));
}

/* No room: no row is lost, and the thread is told so when it is asked. */
TD_TEST(a_full_disk) {
  struct rlimit before, limit;
  td_append_options options = background(10, -1);
  const char *folder = grow_here("m");
  td_status status = TD_OK;
  int64_t row = 100;
  options.buffer_bytes = 64 * 16; /* 64 rows */
  td_writer *writer = grow_begin(folder, &options);
  grow_add(writer, 0, 100);
  TD_DO(td_writer_flush(writer));
  TD_CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  limit = before;
  limit.rlim_cur = 2000; /* 250 rows of pos */
  signal(SIGXFSZ, SIG_IGN);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  for (; status == TD_OK; row++) {
    const float pos[2] = {(float)(2 * row), (float)(2 * row + 1)};
    status = td_writer_put(writer, 0, pos, sizeof pos);
    if (status != TD_OK) break;
    TD_DO(td_writer_put(writer, 1, &row, sizeof row));
    TD_DO(td_writer_next(writer)); /* never fails while there is room in memory */
  }
  TD_CHECK_INT(status, TD_ERR_IO);
  TD_CHECK(row >= 250 && row <= 250 + 64);
  TD_EXPECT(td_writer_next(writer), TD_ERR_IO);
  TD_EXPECT(td_writer_flush(writer), TD_ERR_IO);
  TD_EXPECT(td_writer_flush(writer), TD_ERR_IO);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  grow_add(writer, row, 300);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  grow_expect_elsewhere(folder, row + 300);
}

TD_TEST(a_folder_that_is_moved_away) {
  const td_append_options options = background(1, 0);
  td_writer *writer = grow_begin(grow_here("m"), &options);
  grow_add(writer, 0, 5);
  TD_DO(td_writer_flush(writer));
  TD_CHECK(rename(grow_here("m"), grow_here("other")) == 0);
  grow_add(writer, 5, 5);
  TD_EXPECT(td_writer_flush(writer), TD_ERR_IO);
  TD_EXPECT(td_writer_close(writer), TD_ERR_IO);
  td_writer_free(writer);
  grow_expect(grow_here("other"), 5);
  TD_CHECK(!td_exists(grow_here("m")));
}

TD_TEST(a_child_process_has_no_such_thread) {
  td_append_options options = background(1, -1);
  int status = -1;
  options.buffer_bytes = 160;
  td_writer *writer = grow_begin(grow_here("m"), &options);
  grow_add(writer, 0, 30);
  fflush(stdout);
  const pid_t child = fork();
  TD_CHECK(child >= 0);
  if (child == 0) {
    int good = td_writer_flush(writer) == TD_ERR_INVALID_ARGUMENT;
    good = good && td_writer_close(writer) == TD_ERR_INVALID_ARGUMENT;
    td_writer_free(writer);
    _exit(good ? 0 : 1);
  }
  grow_add(writer, 30, 30);
  TD_CHECK(waitpid(child, &status, 0) == child);
  TD_CHECK_INT(status, 0);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  grow_expect_elsewhere(grow_here("m"), 60);
}

TD_TEST(one_after_the_other) {
  const td_append_options options = background(1, 0);
  for (int i = 0; i < 50; i++) {
    td_writer *writer = grow_begin(grow_here("m"), &options), *second = NULL;
    TD_EXPECT_NULL(td_writer_open_append(grow_here("m"), NULL, &options, &second), TD_ERR_BUSY,
                   second);
    grow_add(writer, i, 1);
    td_writer_free(writer); /* at any moment of its thread */
  }
  grow_expect_elsewhere(grow_here("m"), 50);
}
