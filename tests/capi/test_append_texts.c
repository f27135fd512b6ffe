/* Growing writers with a text for each row: the format keeps texts in one list, which goes with the published rows. */
#include <sys/wait.h>

#include "td_append_test.h"

static td_tensordict *sample(void) {
  td_tensordict *like = td_empty(TD_SIZES(1));
  td_put(like, TD_KEY("step"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1)));
  TD_DO(td_set_texts(like, TD_KEY("task"), (const char *[]){"not used"}, 1));
  TD_DO(td_set_texts(like, TD_KEY("n", "note"), (const char *[]){"not used"}, 1));
  return like;
}

static td_append_options by_call(void) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.publish_rows = -1;
  return options;
}

/* Fields 0: step, 1: task, 2: n.note. */
static td_writer *begin(const char *folder, const td_append_options *options) {
  td_tensordict *like = sample();
  td_writer *writer = NULL;
  int32_t field = -1;
  TD_DO(td_writer_open_append(folder, like, options, &writer));
  TD_DO(td_writer_bind(writer, TD_KEY("step"), &field));
  TD_DO(td_writer_bind(writer, TD_KEY("task"), &field));
  TD_DO(td_writer_bind(writer, TD_KEY("n", "note"), &field));
  TD_CHECK_INT(field, 2);
  td_free(like);
  return writer;
}

/* Odd rows have no note; texts need escapes, and differ in length. */
static const char *task_of(int64_t row) {
  static char text[100];
  snprintf(text, sizeof text, "task \"%d\",\n%.*s", (int)row, (int)(row % 40),
           "éééééééééééééééééééé");
  return text;
}

static void add(td_writer *writer, int64_t first, int64_t n) {
  for (int64_t row = first; row < first + n; row++) {
    TD_DO(td_writer_put(writer, 0, &row, sizeof row));
    TD_DO(td_writer_put_text(writer, 1, "replaced"));
    TD_DO(td_writer_put_text(writer, 1, row % 40 % 2 ? "odd" : task_of(row)));
    if (row % 2 == 0) TD_DO(td_writer_put_text(writer, 2, "even"));
    TD_DO(td_writer_next(writer));
  }
}

static void check_text(const td_tensordict *td, const char *const *path, size_t len, int64_t row,
                       const char *want) {
  char text[200] = "";
  size_t length = 0;
  TD_DO(td_get_row_text(td, path, len, row, text, sizeof text, &length));
  TD_CHECK_TEXT(text, want);
}

static void expect(const char *folder, int64_t n) {
  td_tensordict *loaded = NULL;
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_CHECK_BATCH(loaded, n);
  for (int64_t row = 0; row < n; row++) {
    check_text(loaded, TD_KEY("task"), row, row % 40 % 2 ? "odd" : task_of(row));
    check_text(loaded, TD_KEY("n", "note"), row, row % 2 ? "" : "even");
  }
  TD_CHECK_INT(grow_length(folder), n);
  td_free(loaded);
}

TD_TEST(texts_go_with_their_rows) {
  const td_append_options options = by_call();
  td_writer *writer = begin(grow_here("m"), &options);
  expect(grow_here("m"), 0);
  add(writer, 0, 10);
  expect(grow_here("m"), 0);
  TD_DO(td_writer_flush(writer));
  expect(grow_here("m"), 10);
  add(writer, 10, 90);
  TD_DO(td_writer_put_text(writer, 1, "of a row that is not completed"));
  TD_DO(td_writer_close(writer));
  expect(grow_here("m"), 100);
  td_writer_free(writer);
  writer = begin(grow_here("m"), NULL);
  add(writer, 100, 50);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  expect(grow_here("m"), 150);
  TD_DO(td_memmap_truncate(grow_here("m"), 75, NULL));
  expect(grow_here("m"), 75);
}

TD_TEST(any_number_of_rows_is_published_at_once) {
  for (int background = -1; background <= 0; background++) {
    td_append_options options = TD_APPEND_OPTIONS_INIT;
    options.background = background;
    options.publish_rows = 7;
    options.buffer_bytes = 2000; /* some rows: the ring goes round */
    options.checksums = 1;
    const char *folder = grow_here(background ? "without" : "with");
    td_writer *writer = begin(folder, &options);
    add(writer, 0, 300);
    TD_CHECK(grow_length(folder) % 7 == 0);
    TD_CHECK(!grow_counts(folder));
    if (background) expect(folder, 294);
    TD_DO(td_writer_close(writer));
    td_writer_free(writer);
    expect(folder, 300);
    size_t damaged = 1;
    TD_DO(td_memmap_verify(folder, NULL, &damaged));
    TD_CHECK_INT(damaged, 0);
  }
}

TD_TEST(rows_appear_by_themselves) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.meta_ms = 20;
  td_writer *writer = begin(grow_here("m"), &options);
  add(writer, 0, 1);
  for (int i = 0; i < 2000 && grow_length(grow_here("m")) < 1; i++) grow_sleep(5);
  add(writer, 1, 20);
  for (int i = 0; i < 2000 && grow_length(grow_here("m")) < 21; i++) grow_sleep(5);
  expect(grow_here("m"), 21);
  td_writer_free(writer);
}

/* Texts of rows that were not published are nowhere, so these rows go. */
TD_TEST(a_killed_writer_leaves_what_it_published) {
  const td_append_options options = by_call();
  TD_CHECK(td_test_folder() != NULL); /* made before the child is */
  const pid_t child = fork();
  if (child == 0) {
    td_writer *writer = begin(grow_here("m"), &options);
    add(writer, 0, 30);
    TD_DO(td_writer_flush(writer));
    add(writer, 30, 30);
    grow_sleep(100); /* the values of these rows reach their files */
    _exit(0);
  }
  TD_CHECK(waitpid(child, NULL, 0) == child);
  expect(grow_here("m"), 30);
  td_writer *writer = begin(grow_here("m"), &options);
  expect(grow_here("m"), 30);
  add(writer, 30, 5);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  expect(grow_here("m"), 35);
}

TD_TEST(appended_dictionaries_and_shards) {
  td_tensordict *td = sample(), *loaded = NULL;
  td_append_options options = by_call();
  TD_DO(td_memmap_append(grow_here("m"), td, NULL));
  td_writer *writer = begin(grow_here("m"), NULL);
  add(writer, 1, 1);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  TD_DO(td_memmap_append(grow_here("m"), td, NULL));
  TD_DO(td_memmap_load(grow_here("m"), NULL, &loaded));
  check_text(loaded, TD_KEY("task"), 0, "not used");
  check_text(loaded, TD_KEY("task"), 1, "odd");
  check_text(loaded, TD_KEY("task"), 2, "not used");
  options.shard = TD_SHARD_NEW;
  for (int k = 0; k < 2; k++) {
    writer = begin(grow_here("shards"), &options);
    add(writer, 0, 4);
    TD_DO(td_writer_close(writer));
    td_writer_free(writer);
  }
  expect(grow_here("shards/0"), 4);
  expect(grow_here("shards/1"), 4);
}

TD_TEST(texts_and_bytes_are_not_mixed_up) {
  td_writer *writer = begin(grow_here("m"), NULL), *other = NULL;
  int64_t step = 0;
  size_t bytes = 0;
  int32_t field = 0;
  TD_EXPECT(td_writer_put(writer, 1, &step, sizeof step), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_writer_put(writer, 1, &step, (size_t)-1), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_writer_put_text(writer, 0, "text"), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_writer_row_bytes(writer, 1, &bytes), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_writer_put_text(writer, 3, "text"), TD_ERR_INDEX);
  TD_EXPECT(td_writer_put_text(writer, -1, "text"), TD_ERR_INDEX);
  TD_EXPECT(td_writer_put_text(writer, 1, "\xff"), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_writer_field(writer, TD_KEY("task"), NULL, 0, TD_DTYPE_INT64, &field),
            TD_ERR_WRONG_ENTRY);
  TD_DO(td_writer_close(writer));
  TD_EXPECT(td_writer_put_text(writer, 1, "text"), TD_ERR_INVALID_ARGUMENT);
  td_writer_free(writer);
  expect(grow_here("m"), 0);

  /* One text for the recording; several for each row; a writer into memory. */
  td_tensordict *like = sample(), *wide = td_empty(TD_SIZES(1, 2));
  TD_DO(td_set_text(like, TD_KEY("robot"), "arm 7"));
  TD_DO(td_writer_open_append(grow_here("one"), like, NULL, &other));
  TD_EXPECT(td_writer_bind(other, TD_KEY("robot"), &field), TD_ERR_WRONG_ENTRY);
  td_writer_free(other);
  td_put(wide, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1, 2)));
  TD_DO(td_set_texts(wide, TD_KEY("task"), (const char *[]){"a", "b"}, 2));
  TD_EXPECT_NULL(td_writer_open_append(grow_here("wide"), wide, NULL, &other), TD_ERR_UNSUPPORTED,
                 other);
  TD_DO(td_writer_open(like, NULL, &other));
  TD_EXPECT(td_writer_bind(other, TD_KEY("task"), &field), TD_ERR_WRONG_ENTRY);
  TD_DO(td_writer_bind(other, TD_KEY("step"), &field));
  TD_EXPECT(td_writer_put_text(other, field, "text"), TD_ERR_WRONG_ENTRY);
}
