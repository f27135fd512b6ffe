/* Rows that are counted beside the meta.json files: who sees them, and what becomes of them when a writer
 * dies, a copy is made, or the count says what is not there. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "td_append_test.h"

static td_append_options each(int64_t rows) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.background = -1;
  options.publish_rows = rows;
  options.meta_ms = -1;
  return options;
}

/* A folder whose writer was killed: `stored` rows by its meta.json files, of which `first` were there
 * before, and `rows` by its count. */
static void kill_a_later_writer(const char *folder, int64_t first, int64_t stored, int64_t rows) {
  int status = 0;
  fflush(stdout);
  const pid_t child = fork();
  TD_CHECK(child >= 0);
  if (child == 0) {
    td_append_options options = each(1);
    options.buffer_bytes = 1000;
    td_writer *writer = grow_begin(folder, &options);
    grow_add(writer, first, stored - first);
    TD_DO(td_writer_flush(writer));
    grow_add(writer, stored, rows - stored);
    raise(SIGKILL);
  }
  TD_CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
  TD_CHECK(grow_counts(folder));
}

static void kill_a_writer(const char *folder, int64_t stored, int64_t rows) {
  kill_a_later_writer(folder, 0, stored, rows);
}

static void must_be_sound(const char *folder) {
  size_t damaged = 99;
  TD_DO(td_memmap_verify(folder, NULL, &damaged));
  TD_CHECK_INT(damaged, 0);
}

TD_TEST(rows_are_counted_until_a_flush) {
  const td_append_options options = each(2);
  const char *folder = grow_here("m");
  td_writer *writer = grow_begin(folder, &options);
  grow_add(writer, 0, 2); /* the first ones need their files */
  grow_expect(folder, 2);
  grow_expect_elsewhere(folder, 2);
  for (int64_t n = 2; n < 20; n += 2) {
    grow_add(writer, n, 2);
    grow_expect(folder, n + 2);
    must_be_sound(folder);
  }
  TD_CHECK_INT(td_file_size(td_path(folder, ".%rows")), 128);
  grow_expect_elsewhere(folder, 2);
  grow_add(writer, 20, 1);
  grow_expect(folder, 20);
  TD_DO(td_writer_flush(writer));
  grow_expect_elsewhere(folder, 21);
  grow_add(writer, 21, 2);
  grow_expect(folder, 23);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  TD_CHECK(!grow_counts(folder));
  grow_expect_elsewhere(folder, 23);
}

TD_TEST(the_meta_files_follow) {
  td_append_options options = each(1);
  const char *folder = grow_here("m");
  options.meta_ms = 3600000;
  td_writer *writer = grow_begin(folder, &options);
  grow_add(writer, 0, 2);
  grow_expect_elsewhere(folder, 1);
  td_writer_free(writer);
  options.meta_ms = 1;
  writer = grow_begin(folder, &options);
  grow_add(writer, 2, 2);
  grow_sleep(3);
  grow_add(writer, 4, 1); /* later than a millisecond after the others */
  grow_sleep(3);
  grow_add(writer, 5, 1); /* if the files were written after four rows, on a slow machine */
  char copy[1000];
  grow_copy_elsewhere(folder, copy, sizeof copy);
  const int64_t seen = grow_length(copy);
  TD_CHECK(seen == 5 || seen == 6);
  grow_expect(copy, seen);
  td_writer_free(writer);
  options.meta_ms = -2;
  td_tensordict *like = grow_some(0, 1);
  TD_EXPECT_NULL(td_writer_open_append(folder, like, &options, &writer), TD_ERR_INVALID_ARGUMENT,
                 writer);
}

TD_TEST(options_of_an_older_client) {
  td_append_options options = each(1);
  options.struct_size = 40;
  options.background = 77; /* it has no such field */
  options.meta_ms = -77;
  td_writer *writer = grow_begin(grow_here("m"), &options);
  grow_add(writer, 0, 2);
  td_writer_free(writer);
  grow_expect(grow_here("m"), 2);
}

TD_TEST(what_a_killed_writer_counted_is_there) {
  const char *folder = grow_here("m");
  td_tensordict *td = NULL, *part = NULL, *want = NULL;
  kill_a_writer(folder, 5, 12);
  grow_expect(folder, 12);
  must_be_sound(folder);
  grow_expect_elsewhere(folder, 5);
  /* one nested dictionary alone */
  td_load_options load = TD_LOAD_OPTIONS_INIT;
  const char *const nested[] = {"n"};
  load.subpath = nested;
  load.subpath_len = 1;
  TD_DO(td_memmap_load(folder, &load, &part));
  TD_CHECK_BATCH(part, 12);
  td_free(part);
  /* in an archive, and out of it */
  TD_DO(td_memmap_pack(folder, grow_here("m.tdz"), NULL));
  want = grow_some(0, 12);
  TD_DO(td_memmap_load(grow_here("m.tdz"), NULL, &td));
  TD_CHECK_EQUAL(td, want);
  td_free(td);
  td_free(want);
  TD_DO(td_memmap_unpack(grow_here("m.tdz"), grow_here("u"), NULL));
  grow_expect(grow_here("u"), 12);
  /* another writer goes on behind them */
  td_writer *writer = grow_begin(folder, NULL);
  grow_expect_elsewhere(folder, 12);
  grow_add(writer, 12, 3);
  td_writer_free(writer);
  grow_expect_elsewhere(folder, 15);
}

TD_TEST(counted_rows_are_appended_to_and_truncated) {
  const struct { int64_t keep; } cases[] = {{12}, {9}, {5}, {3}, {0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char name[8];
    snprintf(name, sizeof name, "t%d", (int)i);
    const char *folder = grow_here(name);
    kill_a_writer(folder, 5, 12);
    TD_EXPECT(td_memmap_truncate(folder, 13, NULL), TD_ERR_INDEX);
    TD_DO(td_memmap_truncate(folder, cases[i].keep, NULL));
    TD_CHECK(!grow_counts(folder));
    grow_expect(folder, cases[i].keep);
    grow_expect_elsewhere(folder, cases[i].keep);
    int64_t spare = -1;
    int64_t rows = -1;
    TD_DO(td_memmap_length(folder, &rows, NULL, &spare));
    TD_CHECK_INT(spare, 0);
  }
  const char *folder = grow_here("a");
  kill_a_writer(folder, 5, 12);
  td_tensordict *more = grow_some(12, 4);
  TD_DO(td_memmap_append(folder, more, NULL));
  td_free(more);
  grow_expect_elsewhere(folder, 16);
  TD_CHECK(!grow_counts(folder));
}

TD_TEST(a_save_ends_a_count) {
  const char *folder = grow_here("m");
  td_tensordict *td = grow_some(0, 5), *mapped = NULL;
  kill_a_writer(folder, 5, 12);
  TD_DO(td_memmap(td, folder, NULL, &mapped));
  TD_CHECK(!grow_counts(folder));
  grow_expect(folder, 5);
  td_free(mapped);
  td_free(td);
  /* counted rows in memory, and a meta.json that does not say them */
  td_tensor *zeros = NULL;
  mapped = grow_some(0, 3);
  TD_DO(td_memmap(mapped, grow_here("k"), NULL, &td));
  td_free(mapped);
  kill_a_later_writer(grow_here("k"), 3, 5, 12);
  TD_DO(td_memmap_refresh(td, NULL));
  TD_CHECK_BATCH(td, 12);
  TD_EXPECT_NULL(td_memmap_make(td, TD_KEY("more"), TD_SIZES(12), TD_DTYPE_INT8, NULL, &zeros),
                 TD_ERR_SHAPE, zeros);
  TD_DO(td_memmap_truncate(grow_here("k"), 12, NULL));
  TD_DO(td_memmap_refresh(td, NULL));
  TD_DO(td_memmap_make(td, TD_KEY("more"), TD_SIZES(12), TD_DTYPE_INT8, NULL, &zeros));
}

TD_TEST(a_count_without_its_files_means_nothing) {
  const char *folder = grow_here("m");
  kill_a_writer(folder, 5, 12);
  TD_CHECK(truncate(td_path(folder, "n/step.memmap"), 11 * 8) == 0);
  grow_expect(folder, 5);
  must_be_sound(folder);
  TD_CHECK(truncate(td_path(folder, "n/step.memmap"), 4 * 8) == 0);
  td_tensordict *td = NULL;
  size_t damaged = 0;
  TD_EXPECT_NULL(td_memmap_load(folder, NULL, &td), TD_ERR_FORMAT, td);
  TD_DO(td_memmap_verify(folder, NULL, &damaged));
  TD_CHECK_INT(damaged, 1);
}

TD_TEST(a_count_of_another_dictionary_means_nothing) {
  size_t size = 0;
  kill_a_writer(grow_here("a"), 5, 12);
  kill_a_writer(grow_here("b"), 6, 20);
  char *count = td_read_file(grow_here("a/.%rows"), &size);
  TD_CHECK_INT(size, 128);
  td_write_file(grow_here("b/.%rows"), count, size);
  grow_expect(grow_here("b"), 6);
  td_writer *writer = grow_begin(grow_here("b"), NULL);
  td_writer_free(writer);
  TD_CHECK(!grow_counts(grow_here("b")));
  grow_expect(grow_here("b"), 6);
  /* damaged in any bit, or cut anywhere: the other count of the two holds, or none */
  for (size_t i = 0; i < size; i++) {
    count[i] = (char)(count[i] ^ 4);
    td_write_file(grow_here("a/.%rows"), count, size);
    const int64_t rows = grow_length(grow_here("a"));
    TD_CHECK(rows == 12 || rows == 11);
    count[i] = (char)(count[i] ^ 4);
    td_write_file(grow_here("a/.%rows"), count, i);
    TD_CHECK(i >= 64 || grow_length(grow_here("a")) == 5);
  }
  memset(count, 0, size);
  td_write_file(grow_here("a/.%rows"), count, size);
  grow_expect(grow_here("a"), 5);
  free(count);
}

TD_TEST(a_link_or_a_folder_is_no_count) {
  const char *folder = grow_here("m");
  kill_a_writer(folder, 5, 12);
  TD_CHECK(rename(td_path(folder, ".%rows"), grow_here("moved")) == 0);
  TD_CHECK(symlink(grow_here("moved"), td_path(folder, ".%rows")) == 0);
  grow_expect(folder, 5);
  TD_CHECK(unlink(td_path(folder, ".%rows")) == 0);
  td_make_folder(td_path(folder, ".%rows"));
  grow_expect(folder, 5);
  /* what cannot be counted is published for everybody */
  const td_append_options options = each(1);
  td_writer *writer = grow_begin(folder, &options);
  grow_add(writer, 5, 3);
  grow_expect_elsewhere(folder, 8);
  td_writer_free(writer);
  TD_CHECK(td_exists(td_path(folder, ".%rows")));
}

TD_TEST(one_meta_file_needs_no_count) {
  td_append_options options = each(1);
  td_tensordict *like = td_empty(TD_SIZES(1));
  td_writer *writer = NULL;
  int32_t x = -1;
  td_put(like, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1)));
  TD_DO(td_writer_open_append(grow_here("flat"), like, &options, &writer));
  TD_DO(td_writer_bind(writer, TD_KEY("x"), &x));
  for (int64_t row = 0; row < 3; row++) {
    TD_DO(td_writer_put(writer, x, &row, sizeof row));
    TD_DO(td_writer_next(writer));
    TD_CHECK_INT(grow_length(grow_here("flat")), row + 1);
    if (row == 0)
      TD_CHECK(unlink(grow_here("flat/.%rows")) == 0); /* only who resumes asks for it */
    TD_CHECK_INT(grow_length(grow_here("flat")), row + 1);
  }
  td_writer_free(writer);
  td_free(like);
  /* neither do checksums and what is to be durable, which have to be written anyway */
  for (int i = 0; i < 2; i++) {
    options.durable = i;
    options.checksums = !i;
    const char *folder = grow_here(i ? "durable" : "sums");
    writer = grow_begin(folder, &options);
    grow_add(writer, 0, 3);
    grow_expect_elsewhere(folder, 3);
    must_be_sound(folder);
    td_writer_free(writer);
    TD_CHECK(!grow_counts(folder));
  }
}

TD_TEST(shards_have_counts_of_their_own) {
  td_append_options options = each(1);
  td_tensordict *stack = NULL, *parts[2] = {NULL};
  size_t count = 0;
  options.shard = TD_SHARD_NEW;
  td_writer *a = grow_begin(grow_here("m"), &options), *b = grow_begin(grow_here("m"), &options);
  grow_add(a, 0, 7);
  grow_add(b, 0, 3);
  TD_CHECK(grow_counts(grow_here("m/0")) && grow_counts(grow_here("m/1")));
  TD_DO(td_memmap_load(grow_here("m"), NULL, &stack));
  TD_DO(td_unbind(stack, 0, parts, 2, &count));
  TD_CHECK_BATCH(parts[0], 7);
  TD_CHECK_BATCH(parts[1], 3);
  td_free(parts[0]);
  td_free(parts[1]);
  td_free(stack);
  must_be_sound(grow_here("m"));
  td_load_options load = TD_LOAD_OPTIONS_INIT;
  const char *const path[] = {"0", "n"};
  load.subpath = path;
  load.subpath_len = 2;
  TD_DO(td_memmap_load(grow_here("m"), &load, &stack));
  TD_CHECK_BATCH(stack, 7);
}
