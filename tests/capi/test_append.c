/* Folders that grow: a writer without capacity, dictionaries that are appended, rows that go. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "td_files.h"
#include "td_values.h"

/* Rows first, first + 1 … of pos [n,2] and, when it is nested, n.done [n]. */
static td_tensordict *rows(int64_t first, int64_t n, int nested) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_put(td, TD_KEY("pos"), td_arange(TD_DTYPE_FLOAT32, 2 * first, TD_SIZES(n, 2)));
  if (nested) td_put(td, TD_KEY("n", "step"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(n)));
  return td;
}

/* Rows stay in memory and in files until they are published by a call. */
static td_append_options by_call(void) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.background = options.publish_rows = -1;
  return options;
}

static td_writer *open_with(const char *folder, int nested, const td_append_options *options) {
  td_tensordict *like = rows(0, 1, nested);
  td_writer *writer = NULL;
  int32_t field = -1;
  TD_DO(td_writer_open_append(folder, like, options, &writer));
  td_free(like);
  TD_DO(td_writer_bind(writer, TD_KEY("pos"), &field));
  TD_CHECK_INT(field, 0);
  if (nested) {
    TD_DO(td_writer_bind(writer, TD_KEY("n", "step"), &field));
    TD_CHECK_INT(field, 1);
  }
  return writer;
}

static void write_rows(td_writer *writer, int64_t first, int64_t n, int nested) {
  for (int64_t row = first; row < first + n; row++) {
    const float pos[2] = {(float)(2 * row), (float)(2 * row + 1)};
    TD_DO(td_writer_put(writer, 0, pos, sizeof pos));
    if (nested) TD_DO(td_writer_put(writer, 1, &row, sizeof row));
    TD_DO(td_writer_next(writer));
  }
}

/* The folder holds rows 0 … n - 1 as rows() makes them. */
static void check_rows(const char *folder, int64_t n, int nested) {
  td_tensordict *loaded = NULL, *want = rows(0, n, nested);
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_CHECK_BATCH(loaded, n);
  TD_CHECK_EQUAL(loaded, want);
  td_free(want);
  td_free(loaded);
}

static void check_length(const char *folder, int64_t rows, int64_t stored, int64_t spare) {
  int64_t got_rows = -1, got_stored = -1, got_spare = -1;
  TD_DO(td_memmap_length(folder, &got_rows, &got_stored, &got_spare));
  TD_CHECK_INT(got_rows, rows);
  TD_CHECK_INT(got_stored, stored);
  TD_CHECK_INT(got_spare, spare);
}

static void write_and_write_again(int nested) {
  td_append_options options = by_call();
  const char *folder = td_here("a/m");
  int64_t done = -1;
  options.buffer_bytes = 100; /* a few rows */
  td_writer *writer = open_with(folder, nested, &options);
  check_rows(folder, 0, nested);
  TD_CHECK_INT(td_count_entries(folder), nested ? 3 : 1); /* no files of values: Python maps none */
  write_rows(writer, 0, 3, nested);
  check_rows(folder, 0, nested);
  TD_DO(td_writer_flush(writer));
  check_rows(folder, 3, nested);
  write_rows(writer, 3, 20, nested);
  check_rows(folder, 3, nested);
  TD_DO(td_writer_flush(writer));
  TD_DO(td_writer_flush(writer));
  check_rows(folder, 23, nested);
  write_rows(writer, 23, 2, nested);
  TD_DO(td_writer_rows(writer, &done));
  TD_CHECK_INT(done, 25);
  TD_DO(td_writer_close(writer));
  TD_DO(td_writer_close(writer));
  TD_EXPECT(td_writer_next(writer), TD_ERR_INVALID_ARGUMENT);
  TD_DO(td_writer_rows(writer, &done));
  TD_CHECK_INT(done, 25);
  td_writer_free(writer);
  check_rows(folder, 25, nested);
  TD_CHECK_INT(td_file_size(td_path(folder, "pos.memmap")), 25 * 8);
  check_length(folder, 25, 25, 0);

  options.durable = 1;
  writer = open_with(folder, nested, &options);
  write_rows(writer, 25, 75, nested);
  TD_DO(td_writer_rows(writer, &done));
  TD_CHECK_INT(done, 75);
  td_writer_free(writer); /* publishes */
  check_rows(folder, 100, nested);
  check_length(folder, 100, 100, 0);
  TD_CHECK_INT(td_count_entries(td_test_folder()), nested ? 7 : 4);
}

TD_TEST(a_flat_folder_grows) { write_and_write_again(0); }
TD_TEST(a_nested_folder_grows) { write_and_write_again(1); }

TD_TEST(what_a_folder_looks_like_is_what_a_save_makes) {
  td_writer *writer = open_with(td_here("grown"), 1, NULL);
  td_tensordict *td = rows(0, 7, 1), *mapped = NULL;
  write_rows(writer, 0, 7, 1);
  td_writer_free(writer);
  TD_DO(td_memmap(td, td_here("saved"), NULL, &mapped));
  TD_CHECK_SAME_TREE(td_here("grown"), td_here("saved"));
}

TD_TEST(rows_are_published_by_number_and_by_bytes) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.background = -1;
  options.publish_rows = 4;
  td_writer *writer = open_with(td_here("m"), 1, &options);
  write_rows(writer, 0, 3, 1);
  check_rows(td_here("m"), 0, 1);
  write_rows(writer, 3, 1, 1);
  check_rows(td_here("m"), 4, 1);
  write_rows(writer, 4, 2, 1);
  TD_DO(td_writer_flush(writer));
  write_rows(writer, 6, 3, 1);
  check_rows(td_here("m"), 6, 1);
  write_rows(writer, 9, 1, 1);
  check_rows(td_here("m"), 10, 1);
  td_writer_free(writer);
  options.publish_rows = 0;
  options.publish_bytes = 40; /* two rows of 16 bytes */
  options.buffer_bytes = 50;  /* three */
  writer = open_with(td_here("m"), 1, &options);
  for (int64_t n = 10; n < 20; n += 2) {
    write_rows(writer, n, 2, 1);
    check_rows(td_here("m"), n + 2, 1);
  }
}

TD_TEST(a_row_that_is_begun_waits) {
  td_writer *writer = open_with(td_here("m"), 0, NULL);
  const float pos[2] = {0, 1};
  TD_DO(td_writer_put(writer, 0, pos, sizeof pos));
  TD_DO(td_writer_flush(writer));
  check_rows(td_here("m"), 0, 0);
  TD_DO(td_writer_next(writer));
  TD_DO(td_writer_flush(writer));
  check_rows(td_here("m"), 1, 0);
  TD_DO(td_writer_put(writer, 0, pos, sizeof pos)); /* not completed: goes with the writer */
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  check_rows(td_here("m"), 1, 0);
}

TD_TEST(what_is_not_put_is_zero) {
  td_tensordict *like = rows(0, 2, 1), *loaded = NULL;
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  td_writer *writer = NULL;
  int32_t pos = -1;
  size_t bytes = 0;
  options.buffer_bytes = 32; /* two rows */
  TD_DO(td_writer_open_append(td_here("m"), like, &options, &writer));
  TD_EXPECT(td_writer_bind(writer, TD_KEY("nope"), &pos), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_writer_bind(writer, TD_KEY("n"), &pos), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_writer_bind(writer, TD_KEY("pos", "x"), &pos), TD_ERR_KEY_NOT_FOUND);
  TD_DO(td_writer_bind(writer, TD_KEY("pos"), &pos));
  TD_DO(td_writer_row_bytes(writer, pos, &bytes));
  TD_CHECK_INT(bytes, 8);
  const float value[2] = {1, 2};
  TD_EXPECT(td_writer_put(writer, pos, value, 4), TD_ERR_SHAPE);
  TD_EXPECT(td_writer_put(writer, 1, value, 8), TD_ERR_INDEX);
  for (int row = 0; row < 5; row++) {
    if (row % 2 == 0) TD_DO(td_writer_put(writer, pos, value, sizeof value));
    TD_DO(td_writer_next(writer));
  }
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("pos"), TD_SIZES(5, 2), TD_VALUES(1, 2, 0, 0, 1, 2, 0, 0, 1, 2));
  TD_CHECK_ENTRY(loaded, TD_KEY("n", "step"), TD_SIZES(5), TD_VALUES(0, 0, 0, 0, 0));
}

TD_TEST(a_row_is_one_place_of_the_first_dimension) {
  td_tensordict *like = td_empty(TD_SIZES(1, 3)), *loaded = NULL;
  td_writer *writer = NULL;
  int32_t field = -1;
  size_t bytes = 0;
  td_put(like, TD_KEY("v"), td_arange(TD_DTYPE_INT16, 0, TD_SIZES(1, 3)));
  td_put(like, TD_KEY("none"), td_arange(TD_DTYPE_INT16, 0, TD_SIZES(1, 3, 0)));
  TD_DO(td_writer_open_append(td_here("m"), like, NULL, &writer));
  TD_DO(td_writer_bind(writer, TD_KEY("none"), &field));
  TD_DO(td_writer_row_bytes(writer, field, &bytes));
  TD_CHECK_INT(bytes, 0);
  TD_DO(td_writer_bind(writer, TD_KEY("v"), &field));
  TD_DO(td_writer_row_bytes(writer, field, &bytes));
  TD_CHECK_INT(bytes, 6);
  for (int16_t row = 0; row < 4; row++) {
    const int16_t v[3] = {row, (int16_t)(row + 10), (int16_t)(row + 20)};
    TD_DO(td_writer_put(writer, field, v, sizeof v));
    TD_DO(td_writer_next(writer));
  }
  td_writer_free(writer);
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded));
  TD_CHECK_BATCH(loaded, 4, 3);
  TD_CHECK_ENTRY(loaded, TD_KEY("v"), TD_SIZES(4, 3),
                 TD_VALUES(0, 10, 20, 1, 11, 21, 2, 12, 22, 3, 13, 23));
}

TD_TEST(one_writer_at_a_time) {
  td_writer *writer = open_with(td_here("m"), 1, NULL), *second;
  td_tensordict *td = rows(0, 2, 1), *mapped;
  TD_EXPECT_NULL(td_writer_open_append(td_here("m"), NULL, NULL, &second), TD_ERR_BUSY, second);
  TD_EXPECT(td_memmap_append(td_here("m"), td, NULL), TD_ERR_BUSY);
  TD_EXPECT(td_memmap_truncate(td_here("m"), 0, NULL), TD_ERR_BUSY);
  write_rows(writer, 0, 2, 1);
  TD_DO(td_writer_flush(writer)); /* the folder is another one now; the lock has moved on */
  TD_EXPECT_NULL(td_writer_open_append(td_here("m"), NULL, NULL, &second), TD_ERR_BUSY, second);
  TD_EXPECT_NULL(td_memmap(td, td_here("m"), NULL, &mapped), TD_ERR_BUSY, mapped);
  TD_DO(td_writer_close(writer));
  TD_DO(td_memmap_truncate(td_here("m"), 1, NULL));
  td_writer_free(writer);
  check_rows(td_here("m"), 1, 1);
}

TD_TEST(a_folder_must_be_there_or_be_described) {
  td_writer *writer;
  td_tensordict *td = rows(0, 2, 1), *scalar = td_empty(TD_NO_SIZES), *other = rows(0, 2, 0);
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  TD_EXPECT_NULL(td_writer_open_append(td_here("m"), NULL, NULL, &writer), TD_ERR_IO, writer);
  TD_EXPECT_NULL(td_writer_open_append("", td, NULL, &writer), TD_ERR_IO, writer);
  TD_EXPECT_NULL(td_writer_open_append(td_here("m"), scalar, NULL, &writer), TD_ERR_SHAPE, writer);
  TD_EXPECT(td_memmap_append("", td, NULL), TD_ERR_IO);
  TD_EXPECT(td_memmap_append(td_here("m"), scalar, NULL), TD_ERR_SHAPE);
  TD_EXPECT(td_memmap_truncate(td_here("m"), 0, NULL), TD_ERR_IO);
  int64_t n = 5;
  TD_EXPECT(td_memmap_length(td_here("m"), &n, NULL, NULL), TD_ERR_IO);
  TD_CHECK_INT(td_count_entries(td_test_folder()), 0);
  options.publish_rows = -2;
  TD_EXPECT_NULL(td_writer_open_append(td_here("m"), td, &options, &writer),
                 TD_ERR_INVALID_ARGUMENT, writer);
  options.publish_rows = 0;
  options.shard = 3;
  TD_EXPECT_NULL(td_writer_open_append(td_here("m"), td, &options, &writer),
                 TD_ERR_INVALID_ARGUMENT, writer);
  writer = open_with(td_here("m"), 1, NULL);
  td_writer_free(writer);
  TD_EXPECT_NULL(td_writer_open_append(td_here("m"), other, NULL, &writer), TD_ERR_KEY_NOT_FOUND,
                 writer);
  td_free(other);
  other = rows(0, 2, 1);
  td_put(other, TD_KEY("more"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  TD_EXPECT_NULL(td_writer_open_append(td_here("m"), other, NULL, &writer), TD_ERR_KEY_NOT_FOUND,
                 writer);
  td_make_folder(td_here("full"));
  td_write_text(td_here("full/notes"), "mine"); /* what is there stays */
  TD_DO(td_writer_open_append(td_here("full"), td, NULL, &writer));
  td_writer_free(writer);
  TD_CHECK_INT(td_file_size(td_here("full/notes")), 4);
  check_rows(td_here("full"), 0, 1);
}

static void append_twice(int nested) {
  const char *folder = td_here("m");
  td_tensordict *all = rows(0, 4, nested), *mapped = NULL;
  TD_DO(td_memmap(all, folder, NULL, &mapped));
  td_free(mapped);
  td_free(all);
  td_write_text(td_path(folder, "notes"), "mine");
  for (int64_t n = 4; n < 10; n += 3) {
    td_tensordict *more = rows(n, 3, nested);
    TD_DO(td_memmap_append(folder, more, NULL));
    check_rows(folder, n + 3, nested);
    check_length(folder, n + 3, n + 3, 0);
    td_free(more);
  }
  td_tensordict *none = rows(10, 0, nested);
  TD_DO(td_memmap_append(folder, none, NULL));
  check_rows(folder, 10, nested);
  TD_CHECK_INT(td_file_size(td_path(folder, "notes")), 4);
  TD_DO(td_memmap_truncate(folder, 6, NULL));
  check_rows(folder, 6, nested);
  check_length(folder, 6, 6, 0);
  TD_EXPECT(td_memmap_truncate(folder, 7, NULL), TD_ERR_INDEX);
  TD_EXPECT(td_memmap_truncate(folder, -1, NULL), TD_ERR_INDEX);
  TD_DO(td_memmap_truncate(folder, 0, NULL));
  check_rows(folder, 0, nested);
  TD_CHECK(!td_exists(td_path(folder, "pos.memmap")));
  td_tensordict *again = rows(0, 5, nested);
  td_append_options durable = TD_APPEND_OPTIONS_INIT;
  durable.durable = 1;
  TD_DO(td_memmap_append(folder, again, &durable));
  check_rows(folder, 5, nested);
  TD_CHECK_INT(td_count_entries(td_test_folder()), nested ? 7 : 4);
  td_free(again);
  td_free(none);
}

TD_TEST(dictionaries_are_appended_to_a_flat_folder) { append_twice(0); }
TD_TEST(dictionaries_are_appended_to_a_nested_folder) { append_twice(1); }

TD_TEST(what_does_not_fit_is_refused) {
  td_tensordict *td = rows(0, 4, 1), *mapped = NULL;
  const char *folder = td_here("m");
  TD_DO(td_memmap(td, folder, NULL, &mapped));
  td_free(mapped);
  td_tensordict *scalar = td_empty(TD_NO_SIZES);
  TD_EXPECT(td_memmap_append(folder, scalar, NULL), TD_ERR_SHAPE);
  td_free(scalar);
  td_tensordict *bad = rows(0, 2, 0);
  TD_EXPECT(td_memmap_append(folder, bad, NULL), TD_ERR_KEY_NOT_FOUND);
  td_put(bad, TD_KEY("n"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_EXPECT(td_memmap_append(folder, bad, NULL), TD_ERR_WRONG_ENTRY);
  td_free(bad);
  bad = rows(0, 2, 1);
  td_put(bad, TD_KEY("pos"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(2, 2)));
  TD_EXPECT(td_memmap_append(folder, bad, NULL), TD_ERR_DTYPE);
  td_put(bad, TD_KEY("pos"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  TD_EXPECT(td_memmap_append(folder, bad, NULL), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "[2, 3]");
  td_tensor *meta = NULL;
  TD_DO(td_tensor_zeros(TD_SIZES(2, 2), TD_DTYPE_FLOAT32, TD_DEVICE_META, -1, &meta));
  td_put(bad, TD_KEY("pos"), meta);
  TD_EXPECT(td_memmap_append(folder, bad, NULL), TD_ERR_DEVICE);
  td_free(bad);
  bad = rows(0, 2, 1);
  td_put(bad, TD_KEY("n", "more"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  TD_EXPECT(td_memmap_append(folder, bad, NULL), TD_ERR_KEY_NOT_FOUND);
  td_free(bad);
  check_rows(folder, 4, 1);
  check_length(folder, 4, 4, 0);
}

TD_TEST(a_torn_tail_is_dropped) {
  const char *folder = td_here("m");
  td_writer *writer = open_with(folder, 1, NULL);
  write_rows(writer, 0, 5, 1);
  td_writer_free(writer);
  char zeros[20] = {0};
  FILE *file = fopen(td_path(folder, "pos.memmap"), "ab");
  TD_CHECK(file != NULL && fwrite(zeros, 1, 20, file) == 20 && fclose(file) == 0);
  check_length(folder, 5, 5, 20);
  check_rows(folder, 5, 1);
  TD_DO(td_memmap_truncate(folder, 5, NULL));
  check_length(folder, 5, 5, 0);
  file = fopen(td_path(folder, "n/step.memmap"), "ab");
  TD_CHECK(file != NULL && fwrite(zeros, 1, 20, file) == 20 && fclose(file) == 0);
  writer = open_with(folder, 1, NULL);
  check_length(folder, 5, 5, 0);
  write_rows(writer, 5, 1, 1);
  td_writer_free(writer);
  check_rows(folder, 6, 1);
  TD_CHECK(truncate(td_path(folder, "n/step.memmap"), 30) == 0); /* three rows and a bit */
  check_length(folder, 6, 3, 0);
  td_tensordict *more = rows(0, 2, 1);
  TD_EXPECT(td_memmap_append(folder, more, NULL), TD_ERR_FORMAT);
  TD_EXPECT(td_memmap_truncate(folder, 4, NULL), TD_ERR_FORMAT);
  TD_EXPECT_NULL(td_writer_open_append(folder, NULL, NULL, &writer), TD_ERR_FORMAT, writer);
  TD_DO(td_memmap_truncate(folder, 3, NULL));
  check_rows(folder, 3, 1);
  check_length(folder, 3, 3, 0);
}

TD_TEST(values_that_are_no_tensors) {
  td_tensordict *td = rows(0, 2, 0), *mapped = NULL, *loaded = NULL;
  td_writer *writer;
  char text[200];
  size_t length = 0;
  const char *folder = td_here("m");
  TD_DO(td_set_non_tensor_json(td, TD_KEY("name"), "\"run 1\""));
  writer = NULL;
  TD_DO(td_writer_open_append(folder, td, NULL, &writer)); /* one for all stays */
  td_writer_free(writer);
  TD_DO(td_memmap_append(folder, td, NULL));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("name"), "\"run 2\""));
  TD_EXPECT_NULL(td_writer_open_append(folder, td, NULL, &writer), TD_ERR_WRONG_ENTRY, writer);
  TD_DO(td_memmap_append(folder, td, NULL)); /* now there is one for each row */
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("name"), "[\"a\",\"b\"]"));
  TD_DO(td_memmap_append(folder, td, NULL));
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_CHECK_BATCH(loaded, 6);
  TD_DO(td_get_non_tensor_stack_json(loaded, TD_KEY("name"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "[\"run 1\", \"run 1\", \"run 2\", \"run 2\", \"a\", \"b\"]");
  td_free(loaded);
  TD_DO(td_writer_open_append(folder, NULL, NULL, &writer)); /* a row gets an empty text */
  TD_DO(td_writer_next(writer));
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_DO(td_get_non_tensor_stack_json(loaded, TD_KEY("name"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "[\"run 1\", \"run 1\", \"run 2\", \"run 2\", \"a\", \"b\", \"\"]");
  td_free(loaded);
  TD_DO(td_memmap_truncate(folder, 3, NULL));
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_DO(td_get_non_tensor_stack_json(loaded, TD_KEY("name"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "[\"run 1\", \"run 1\", \"run 2\"]");
  td_free(loaded);
  TD_DO(td_memmap(td, td_here("values"), NULL, &mapped));
}

TD_TEST(lazy_stacks_grow) {
  td_tensordict *one = rows(0, 3, 1), *two = rows(3, 5, 1), *stack = NULL, *mapped = NULL,
                *loaded = NULL;
  const td_tensordict *elements[2] = {one, two};
  td_writer *writer;
  int64_t n = -1;
  TD_DO(td_lazy_stack(elements, 1, 0, &stack));
  const char *folder = td_here("m");
  TD_DO(td_memmap(stack, folder, NULL, &mapped));
  td_free(mapped);
  TD_EXPECT_NULL(td_writer_open_append(folder, NULL, NULL, &writer), TD_ERR_UNSUPPORTED, writer);
  TD_EXPECT(td_memmap_append(folder, stack, NULL), TD_ERR_SHAPE);
  TD_DO(td_memmap_append(folder, two, NULL));
  check_length(folder, 2, 2, 0);
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_CHECK_BATCH(loaded, 2, -1);
  td_free(loaded);
  check_rows(td_path(folder, "0"), 3, 1);
  TD_DO(td_memmap_truncate(folder, 1, NULL));
  TD_DO(td_memmap_length(folder, &n, NULL, NULL));
  TD_CHECK_INT(n, 1);
  TD_CHECK(!td_exists(td_path(folder, "1")));
  td_free(stack);
  /* along another dimension each element grows */
  elements[0] = elements[1] = one;
  TD_DO(td_lazy_stack(elements, 2, 1, &stack));
  TD_DO(td_memmap(stack, td_here("wide"), NULL, &mapped));
  td_free(mapped);
  TD_DO(td_memmap_append(td_here("wide"), stack, NULL));
  TD_DO(td_memmap_load(td_here("wide"), NULL, &loaded));
  TD_CHECK_BATCH(loaded, 6, 2);
  TD_CHECK_ENTRY(loaded, TD_KEY("n", "step"), TD_SIZES(6, 2),
                 TD_VALUES(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2));
}

TD_TEST(a_sub_tensordict_cannot_grow) {
  td_tensordict *td = rows(0, 4, 1), *sub_tensordict = NULL, *outer = td_empty(TD_SIZES(2)),
                *mapped = NULL;
  td_writer *writer;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_SLICE(1, 3)), &sub_tensordict));
  TD_DO(td_memmap(sub_tensordict, td_here("m"), NULL, &mapped));
  TD_EXPECT(td_memmap_append(td_here("m"), sub_tensordict, NULL), TD_ERR_UNSUPPORTED);
  TD_EXPECT(td_memmap_truncate(td_here("m"), 1, NULL), TD_ERR_UNSUPPORTED);
  TD_EXPECT_NULL(td_writer_open_append(td_here("m"), NULL, NULL, &writer), TD_ERR_UNSUPPORTED,
                 writer);
  TD_CHECK_TEXT(td_last_error_message(), "sub-tensordict");
  td_put(outer, TD_KEY("pos"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 2)));
  td_free(mapped);
  TD_DO(td_memmap(outer, td_here("flat"), NULL, &mapped));
  td_free(mapped);
  td_tensordict *part = rows(0, 6, 0), *two = NULL;
  TD_DO(td_sub_tensordict(part, TD_AT(TD_I_SLICE(1, 3)), &two)); /* what is added may be one */
  TD_DO(td_memmap_append(td_here("flat"), two, NULL));
  TD_DO(td_memmap_load(td_here("flat"), NULL, &mapped));
  TD_CHECK_ENTRY(mapped, TD_KEY("pos"), TD_SIZES(4, 2), TD_VALUES(0, 1, 2, 3, 2, 3, 4, 5));
}

TD_TEST(shards) {
  td_tensordict *like = rows(0, 1, 1), *loaded = NULL, *parts[3] = {NULL}, *dense = NULL;
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  td_writer *writers[4] = {NULL};
  char text[500];
  size_t length = 0, count = 0;
  const char *folder = td_here("m");
  options.shard = TD_SHARD_NEW;
  for (int i = 0; i < 3; i++) {
    writers[i] = open_with(folder, 1, &options);
    TD_DO(td_writer_folder(writers[i], text, sizeof text, &length));
    char name[4] = {'m', '/', (char)('0' + i), '\0'};
    TD_CHECK_SAME_TEXT(text, td_here(name));
  }
  write_rows(writers[0], 0, 2, 1);
  write_rows(writers[2], 5, 3, 1);
  write_rows(writers[1], 2, 3, 1);
  TD_DO(td_writer_flush(writers[1]));
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_CHECK_BATCH(loaded, 3, -1);
  td_free(loaded);
  td_writer_free(writers[0]);
  options.shard = TD_SHARD_ANY;
  TD_DO(td_writer_open_append(folder, NULL, &options, &writers[0])); /* the one that is free */
  TD_DO(td_writer_folder(writers[0], text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, td_here("m/0"));
  TD_DO(td_writer_open_append(folder, NULL, &options, &writers[3]));
  TD_DO(td_writer_folder(writers[3], text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, td_here("m/3"));
  for (int i = 0; i < 4; i++) td_writer_free(writers[i]);
  TD_DO(td_memmap_truncate(folder, 3, NULL)); /* the last one is empty */
  /* as one dictionary */
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_DO(td_unbind(loaded, 0, parts, 3, &count));
  TD_CHECK_INT(count, 3);
  TD_DO(td_cat((const td_tensordict *const *)parts, 3, 0, &dense));
  td_tensordict *want = rows(0, 8, 1);
  TD_CHECK_EQUAL(dense, want);
  for (int i = 0; i < 3; i++) td_free(parts[i]);
  td_free(want);
  td_free(dense);
  td_free(loaded);
  td_tensordict *other = rows(0, 1, 0);
  td_writer *writer;
  TD_EXPECT_NULL(td_writer_open_append(folder, other, &options, &writer), TD_ERR_KEY_NOT_FOUND,
                 writer);
  TD_EXPECT_NULL(td_writer_open_append(td_path(folder, "0"), like, &options, &writer),
                 TD_ERR_UNSUPPORTED, writer);
}

/* No room on the disk: a status, no row lost, and the folder as it was. */
static void no_room(int nested) {
  struct rlimit before, limit;
  td_append_options options = by_call();
  const char *folder = td_here("m");
  options.buffer_bytes = 64;
  td_writer *writer = open_with(folder, nested, &options);
  write_rows(writer, 0, 100, nested);
  TD_DO(td_writer_flush(writer));
  TD_CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  limit = before;
  limit.rlim_cur = 2000; /* 250 rows of pos */
  signal(SIGXFSZ, SIG_IGN);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  int64_t row = 100, done = -1;
  td_status status = TD_OK;
  for (; status == TD_OK; row++) {
    const float pos[2] = {(float)(2 * row), (float)(2 * row + 1)};
    TD_DO(td_writer_put(writer, 0, pos, sizeof pos));
    if (nested) TD_DO(td_writer_put(writer, 1, &row, sizeof row));
    status = td_writer_next(writer);
  }
  const float pos[2] = {(float)(2 * row), (float)(2 * row + 1)};
  TD_CHECK_INT(status, TD_ERR_IO);
  TD_EXPECT(td_writer_put(writer, 0, pos, sizeof pos), TD_ERR_IO);
  TD_EXPECT(td_writer_next(writer), TD_ERR_IO);
  TD_EXPECT(td_writer_flush(writer), TD_ERR_IO);
  td_tensordict *more = rows(100, 1000, nested);
  check_rows(folder, 100, nested);
  TD_DO(td_writer_rows(writer, &done));
  TD_CHECK_INT(done, row);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  write_rows(writer, row, 10, nested); /* there is room again */
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  check_rows(folder, row + 10, nested);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  TD_EXPECT(td_memmap_append(folder, more, NULL), TD_ERR_IO);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  signal(SIGXFSZ, SIG_DFL);
  check_rows(folder, row + 10, nested);
  check_length(folder, row + 10, row + 10, 0);
  TD_CHECK_INT(td_count_entries(td_test_folder()), nested ? 6 : 3);
  td_free(more);
}

TD_TEST(no_room_in_a_flat_folder) { no_room(0); }
TD_TEST(no_room_in_a_nested_folder) { no_room(1); }

TD_TEST(the_first_rows_find_no_room) {
  struct rlimit before, limit;
  const td_append_options options = by_call();
  td_writer *writer = open_with(td_here("m"), 1, &options);
  write_rows(writer, 0, 100, 1);
  TD_CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  limit = before;
  limit.rlim_cur = 100;
  signal(SIGXFSZ, SIG_IGN);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  TD_EXPECT(td_writer_flush(writer), TD_ERR_IO);
  limit.rlim_cur = 850; /* enough for the values, and one meta.json after the other */
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  TD_DO(td_writer_flush(writer));
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  signal(SIGXFSZ, SIG_DFL);
  check_rows(td_here("m"), 100, 1);
  td_writer_free(writer);
  TD_CHECK_INT(td_count_entries(td_test_folder()), 6);
}

static void check_sound(const char *folder) {
  size_t damaged = 99;
  TD_CHECK(td_exists(td_path(folder, "checksums")));
  TD_DO(td_memmap_verify(folder, NULL, &damaged));
  TD_CHECK_INT(damaged, 0);
}

static void grow_with_checksums(int nested) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  char folder[500];
  snprintf(folder, sizeof folder, "%s", td_here("m"));
  options.background = -1;
  options.checksums = 1;
  options.buffer_bytes = 100;
  td_writer *writer = open_with(folder, nested, &options);
  for (int64_t row = 0; row < 100; row += 20) {
    write_rows(writer, row, 20, nested);
    TD_DO(td_writer_flush(writer));
    check_sound(folder);
  }
  td_writer_free(writer);
  td_tensordict *more = rows(100, 5, nested);
  TD_DO(td_memmap_append(folder, more, NULL)); /* they are there, so they are kept */
  check_sound(folder);
  check_rows(folder, 105, nested);
  TD_DO(td_memmap_truncate(folder, 30, NULL));
  check_sound(folder);
  /* what is damaged does not get new checksums */
  FILE *file = fopen(td_path(folder, "pos.memmap"), "r+b");
  TD_CHECK(file != NULL && fputc(77, file) == 77 && fclose(file) == 0);
  TD_EXPECT(td_memmap_append(folder, more, NULL), TD_ERR_FORMAT);
  TD_EXPECT_NULL(td_writer_open_append(folder, NULL, NULL, &writer), TD_ERR_FORMAT, writer);
  TD_DO(td_memmap_truncate(folder, 0, NULL));
  check_sound(folder);
  td_free(more);
}

TD_TEST(checksums_of_a_flat_folder_are_kept) { grow_with_checksums(0); }
TD_TEST(checksums_of_a_nested_folder_are_kept) { grow_with_checksums(1); }

static void change_byte(const char *path, int keeps_time) {
  struct stat before;
  TD_CHECK(stat(path, &before) == 0);
  FILE *file = fopen(path, "r+b");
  TD_CHECK(file != NULL);
  const int byte = fgetc(file);
  TD_CHECK(fseek(file, 0, SEEK_SET) == 0 && fputc(byte ^ 255, file) >= 0 && fclose(file) == 0);
  struct timespec times[2] = {before.st_atim, before.st_mtim};
  if (!keeps_time) times[1].tv_sec += 10; /* clocks of file systems are coarse */
  TD_CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

/* Each append hashes its own rows; the files are read again when somebody else has changed them. */
TD_TEST(appends_hash_what_is_new) {
  for (int nested = 0; nested < 2; nested++) {
    td_append_options options = TD_APPEND_OPTIONS_INIT;
    char folder[500];
    size_t damaged = 0;
    snprintf(folder, sizeof folder, "%s", td_here(nested ? "nested" : "flat"));
    options.checksums = 1;
    int64_t count = 0;
    for (; count < 50; count += 5) {
      td_tensordict *more = rows(count, 5, nested);
      TD_DO(td_memmap_append(folder, more, &options));
      td_free(more);
      check_sound(folder);
    }
    check_rows(folder, count, nested);
    td_tensordict *more = rows(count, 5, nested);
    change_byte(td_path(folder, "pos.memmap"), 0);
    TD_EXPECT(td_memmap_append(folder, more, NULL), TD_ERR_FORMAT);
    change_byte(td_path(folder, "pos.memmap"), 0); /* as it was */
    for (; count < 60; count += 5) {
      td_free(more);
      more = rows(count, 5, nested);
      TD_DO(td_memmap_append(folder, more, NULL));
    }
    check_sound(folder);
    TD_DO(td_memmap_truncate(
        folder, 40, NULL)); /* which others see, too: what is known of 60 rows is of no use */
    td_free(more);
    more = rows(40, 5, nested);
    TD_DO(td_memmap_append(folder, more, NULL));
    check_sound(folder);
    check_rows(folder, 45, nested);
    td_free(more);
    more = rows(45, 5, nested);
    change_byte(td_path(folder, "pos.memmap"), 1);
    TD_DO(td_memmap_append(folder, more,
                           NULL)); /* does not read what it hashed before, and hides nothing */
    TD_DO(td_memmap_verify(folder, NULL, &damaged));
    TD_CHECK_INT(damaged, 1);
    change_byte(td_path(folder, "pos.memmap"), 1);
    check_sound(folder);
    check_rows(folder, 50, nested);
    td_free(more);
  }
}

TD_TEST(checksums_of_a_lazy_stack_are_kept) {
  td_tensordict *one = rows(0, 3, 1), *stack = NULL, *mapped = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  const td_tensordict *elements[] = {one};
  options.checksums = 1;
  TD_DO(td_lazy_stack(elements, 1, 0, &stack));
  TD_DO(td_memmap(stack, td_here("m"), &options, &mapped));
  td_free(mapped);
  TD_DO(td_memmap_append(td_here("m"), one, NULL));
  check_sound(td_here("m"));
  TD_DO(td_memmap_truncate(td_here("m"), 1, NULL));
  check_sound(td_here("m"));
}

/* Who has more of a file mapped than is left would be ended by a signal when he reads it. */
TD_TEST(what_is_mapped_here_is_not_cut) {
  const char *folder = td_here("m");
  td_tensordict *all = rows(0, 4096, 0), *mapped = NULL, *more = rows(2, 1, 0);
  TD_DO(td_memmap(all, folder, NULL, &mapped));
  td_free(mapped);
  TD_DO(td_memmap_load(folder, NULL, &mapped));
  TD_DO(td_memmap_truncate(folder, 2, NULL));
  check_rows(folder, 2, 0);
  check_length(folder, 2, 2, 8 * 4094); /* no row that somebody could want back */
  td_tensor *pos = td_take(mapped, TD_KEY("pos"));
  td_free(mapped); /* a tensor is enough */
  float values[8192];
  TD_DO(td_tensor_copy_to(pos, values, sizeof values));
  TD_CHECK(values[8191] == 8191);
  TD_DO(td_memmap_append(folder, more, NULL));
  check_rows(folder, 3, 0);
  TD_DO(td_tensor_copy_to(pos, values, sizeof values));
  TD_CHECK(values[5] == 5 && values[6] == 6);
  td_tensor_free(pos);
  TD_DO(td_memmap_truncate(folder, 3, NULL)); /* nobody has it now */
  check_length(folder, 3, 3, 0);
}

/* A writer that was killed between the exchange of two folders and the end leaves the old one aside. */
TD_TEST(who_adds_removes_what_was_left_aside) {
  const char *folder = td_here("m");
  td_tensordict *two = rows(0, 2, 0), *more = rows(2, 1, 0), *mapped = NULL;
  TD_DO(td_memmap(two, folder, NULL, &mapped));
  td_free(mapped);
  for (int k = 0; k < 2; k++) {
    char left[600];
    snprintf(left, sizeof left, "%s", k == 0 ? td_here(".m.%tmp") : td_path(folder, ".%tmp"));
    TD_CHECK(mkdir(left, 0700) == 0);
    TD_CHECK(mkdir(td_path(left, "%tmp"), 0700) == 0);
    td_write_text(td_path(left, "%tmp/meta.json"), "{}");
    TD_DO(td_memmap_append(folder, more, NULL));
    TD_CHECK(!td_exists(left));
  }
  check_length(folder, 4, 4, 0);
}
