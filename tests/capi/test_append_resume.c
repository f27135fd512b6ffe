/* Writers that go on after the last whole episode (td_append_options.resume_at). */
#include <string.h>
#include <sys/wait.h>

#include "td_append_test.h"

static td_append_options at_done(void) {
  static const char *const done[] = {"next", "done"};
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.publish_rows = -1;
  options.resume_at = done;
  options.resume_at_len = 2;
  return options;
}

/* `flags` bools of done in a row. */
static td_writer *begin(const char *folder, const td_append_options *options, int64_t flags) {
  td_tensordict *like = td_empty(TD_SIZES(1));
  td_writer *writer = NULL;
  int32_t field = -1;
  td_put(like, TD_KEY("step"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1)));
  td_put(like, TD_KEY("next", "done"), td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(1, flags)));
  TD_DO(td_writer_open_append(folder, like, options, &writer));
  TD_DO(td_writer_bind(writer, TD_KEY("step"), &field));
  TD_DO(td_writer_bind(writer, TD_KEY("next", "done"), &field));
  td_free(like);
  return writer;
}

/* Row after row: 'd' all flags are set, 'h' the first one only, '.' none. */
static void add(td_writer *writer, const char *rows, int64_t flags) {
  int64_t step = 0;
  TD_DO(td_writer_rows(writer, &step));
  for (; *rows; rows++, step++) {
    const char done[3] = {*rows != '.', *rows == 'd', *rows == 'd'};
    TD_DO(td_writer_put(writer, 0, &step, sizeof step));
    TD_DO(td_writer_put(writer, 1, done, (size_t)flags));
    TD_DO(td_writer_next(writer));
  }
}

static int64_t resumed(const char *rows, int64_t flags) {
  static int number = 0;
  char folder[1000];
  snprintf(folder, sizeof folder, "%s/r%d", td_test_folder(), number++);
  const td_append_options options = at_done();
  td_writer *writer = begin(folder, &options, flags);
  add(writer, rows, flags);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  writer = begin(folder, &options, flags);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  return grow_length(folder);
}

TD_TEST(half_an_episode_goes) {
  TD_CHECK_INT(resumed("", 1), 0);
  TD_CHECK_INT(resumed("...", 1), 0);
  TD_CHECK_INT(resumed("d", 1), 1);
  TD_CHECK_INT(resumed("..d.d..", 1), 5);
  TD_CHECK_INT(resumed("..d..d", 1), 6);
  TD_CHECK_INT(resumed("..d.hh", 3), 3); /* all environments of a row must have ended */
}

TD_TEST(flags_far_behind_are_found) {
  static char rows[200001];
  memset(rows, '.', 200000);
  rows[70] = 'd';
  TD_CHECK_INT(resumed(rows, 1), 71);
  rows[199998] = 'd';
  TD_CHECK_INT(resumed(rows, 1), 199999);
}

/* Rows that a killed writer has left count. */
TD_TEST(after_a_kill) {
  td_append_options options = at_done();
  TD_CHECK(td_test_folder() != NULL); /* made before the child is */
  const pid_t child = fork();
  if (child == 0) {
    td_writer *writer = begin(grow_here("m"), &options, 1);
    add(writer, "..d", 1);
    TD_DO(td_writer_flush(writer));
    add(writer, "...d..", 1);
    grow_sleep(200);
    _exit(0);
  }
  TD_CHECK(waitpid(child, NULL, 0) == child);
  TD_CHECK_INT(grow_length(grow_here("m")), 3);
  options.durable = options.checksums = 1;
  td_writer *writer = begin(grow_here("m"), &options, 1);
  TD_CHECK_INT(grow_length(grow_here("m")), 7);
  add(writer, ".d", 1);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  TD_CHECK_INT(grow_length(grow_here("m")), 9);
  size_t damaged = 1;
  TD_DO(td_memmap_verify(grow_here("m"), NULL, &damaged));
  TD_CHECK_INT(damaged, 0);
}

TD_TEST(what_cannot_tell_an_end_is_refused) {
  static const char *const step[] = {"step"}, *const nope[] = {"next", "nope"},
                           *const next[] = {"next"};
  td_append_options options = at_done();
  td_writer *writer = begin(grow_here("m"), NULL, 0), *other = NULL;
  TD_EXPECT_NULL(td_writer_open_append(grow_here("m"), NULL, &options, &other), TD_ERR_BUSY, other);
  TD_DO(td_writer_next(writer));
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  TD_EXPECT_NULL(td_writer_open_append(grow_here("m"), NULL, &options, &other), TD_ERR_SHAPE,
                 other);
  options.resume_at = next, options.resume_at_len = 1;
  TD_EXPECT_NULL(td_writer_open_append(grow_here("m"), NULL, &options, &other), TD_ERR_WRONG_ENTRY,
                 other);
  options.resume_at = step;
  TD_EXPECT_NULL(td_writer_open_append(grow_here("m"), NULL, &options, &other), TD_ERR_DTYPE,
                 other);
  options.resume_at = nope, options.resume_at_len = 2;
  TD_EXPECT_NULL(td_writer_open_append(grow_here("m"), NULL, &options, &other),
                 TD_ERR_KEY_NOT_FOUND, other);
  options.resume_at = NULL;
  TD_EXPECT_NULL(td_writer_open_append(grow_here("m"), NULL, &options, &other),
                 TD_ERR_NULL_ARGUMENT, other);
  TD_CHECK_INT(grow_length(grow_here("m")), 1);
  options.struct_size = (uint32_t)offsetof(td_append_options, resume_at); /* a program of 0.2 */
  TD_DO(td_writer_open_append(grow_here("m"), NULL, &options, &other));
  td_writer_free(other);
}
