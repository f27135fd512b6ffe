/* Writers whose folder goes away under them, and writers that a process has from its parent. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "td_files.h"
#include "td_values.h"

static td_tensordict *rows(int64_t count, int nested) {
  td_tensordict *td = td_empty(TD_SIZES(count));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(count)));
  if (nested) td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(count)));
  return td;
}

static void save(const char *folder, int64_t count, int nested) {
  td_tensordict *td = rows(count, nested), *mapped = NULL;
  TD_DO(td_memmap(td, folder, NULL, &mapped));
  td_free(mapped);
  td_free(td);
}

static void check_rows(const char *folder, int64_t count, int nested) {
  td_tensordict *found = NULL, *want = rows(count, nested);
  size_t damaged = 99;
  TD_DO(td_memmap_verify(folder, NULL, &damaged));
  TD_CHECK_INT(damaged, 0);
  TD_DO(td_memmap_load(folder, NULL, &found));
  TD_CHECK_EQUAL(found, want);
  td_free(want);
  td_free(found);
}

/* A writer with rows that are not yet published. Its thread takes them to the files; without one they stay in memory. */
static td_writer *open_with_rows(const char *folder, int64_t count, int background) {
  td_writer *writer = NULL;
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  int32_t field = -1;
  options.publish_rows = -1;
  options.background = background ? 1 : -1;
  TD_DO(td_writer_open_append(folder, NULL, &options, &writer));
  TD_DO(td_writer_bind(writer, TD_KEY("a"), &field));
  for (int64_t row = 0; row < count; row++) {
    const int64_t value = 100 + row;
    TD_DO(td_writer_put(writer, field, &value, sizeof value));
    TD_DO(td_writer_next(writer));
  }
  return writer;
}

static void remove_tree(const char *path) {
  char command[1200];
  snprintf(command, sizeof command, "rm -rf '%s'", path);
  TD_CHECK(system(command) == 0);
}

/* Another dictionary in the place of the writer's is not touched. */
TD_TEST(the_folder_is_another_one) {
  for (int nested = 0; nested < 2; nested++) {
    for (int moved = 0; moved < 2; moved++) {
      save(td_here("g"), 5, nested);
      td_writer *writer = open_with_rows(td_here("g"), 12, 1);
      if (moved) {
        remove_tree(td_here("h"));
        TD_CHECK(rename(td_here("g"), td_here("h")) == 0);
      } else {
        remove_tree(td_here("g"));
      }
      TD_EXPECT(td_writer_flush(writer), TD_ERR_IO);
      save(td_here("g"), 3, nested);
      TD_EXPECT(td_writer_flush(writer), TD_ERR_IO);
      TD_CHECK_TEXT(td_last_error_message(), "no longer the folder that was opened");
      TD_EXPECT(td_writer_close(writer), TD_ERR_IO);
      td_writer_free(writer);
      check_rows(td_here("g"), 3, nested);
      if (moved) check_rows(td_here("h"), 5, nested);
      TD_CHECK(!td_exists(td_here(".g.%tmp")));
      remove_tree(td_here("g"));
    }
  }
}

/* A save over the folder around it replaces that of the writer, and may share its files. Rows that the writer's
   thread had taken to the files are rows of a writer that is gone: the next one keeps them. */
TD_TEST(the_folder_around_is_saved_anew) {
  for (int stored = 0; stored < 2; stored++) {
    td_tensordict *outer = td_sample(), *mapped = NULL;
    TD_DO(td_memmap(outer, td_here("p"), NULL, &mapped));
    td_free(mapped);
    save(td_here("p/mine"), 5, 0);
    td_writer *writer = open_with_rows(td_here("p/mine"), 4, stored);
    int64_t length = -1, whole = -1;
    do TD_DO(td_memmap_length(td_here("p/mine"), &length, &whole, NULL));
    while (stored && whole < 9);
    TD_CHECK_INT(length, 5);
    TD_CHECK_INT(whole, stored ? 9 : 5);
    TD_DO(td_memmap(outer, td_here("p"), NULL, &mapped));
    td_free(mapped);
    check_rows(td_here("p/mine"), 5, 0);
    td_tensordict *more = rows(2, 0), *found = NULL;
    TD_DO(td_memmap_append(td_here("p/mine"), more, NULL));
    TD_EXPECT(td_writer_flush(writer), TD_ERR_IO);
    TD_EXPECT(td_writer_close(writer), TD_ERR_IO);
    td_writer_free(writer);
    TD_DO(td_memmap_load(td_here("p/mine"), NULL, &found));
    if (stored) {
      TD_CHECK_ENTRY(found, TD_KEY("a"), TD_SIZES(11),
                     TD_VALUES(0, 1, 2, 3, 4, 100, 101, 102, 103, 0, 1));
    } else {
      TD_CHECK_ENTRY(found, TD_KEY("a"), TD_SIZES(7), TD_VALUES(0, 1, 2, 3, 4, 0, 1));
    }
    remove_tree(td_here("p"));
  }
}

static void join(pid_t child) {
  int status = -1;
  TD_CHECK(waitpid(child, &status, 0) == child);
  TD_CHECK(WIFEXITED(status));
  TD_CHECK_INT(WEXITSTATUS(status), 0);
}

/* A child publishes nothing of its parent's, takes nothing away, and gives no lock back. */
TD_TEST(a_child_frees_the_writer_of_its_parent) {
  for (int64_t before = 0; before < 6; before += 5) {
    const char *folder = td_here(before == 0 ? "empty" : "m");
    td_tensordict *like = rows(1, 0);
    if (before != 0) save(folder, before, 0);
    td_writer *writer = NULL;
    td_append_options options = TD_APPEND_OPTIONS_INIT;
    int32_t field = -1;
    options.publish_rows = -1;
    TD_DO(td_writer_open_append(folder, like, &options, &writer));
    TD_DO(td_writer_bind(writer, TD_KEY("a"), &field));
    for (int64_t row = before; row < before + 3; row++) {
      TD_DO(td_writer_put(writer, field, &row, sizeof row));
      TD_DO(td_writer_next(writer));
    }
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      const int refused = td_writer_flush(writer) == TD_ERR_INVALID_ARGUMENT;
      td_writer_free(writer);
      _exit(refused ? 0 : 1);
    }
    join(child);
    int64_t length = -1;
    TD_DO(td_memmap_length(folder, &length, NULL, NULL));
    TD_CHECK_INT(length, before);
    TD_EXPECT(td_memmap_append(folder, like, NULL), TD_ERR_BUSY); /* it is the parent's still */
    TD_DO(td_writer_close(writer));
    td_writer_free(writer);
    check_rows(folder, before + 3, 0);
  }
}

/* The lock goes with the process that took it, whoever else it has started. */
TD_TEST(a_killed_writer_blocks_nobody_while_its_child_lives) {
  int ready[2], status = 0;
  pid_t grandchild = 0;
  td_tensordict *td = rows(2, 0);
  save(td_here("m"), 5, 0);
  TD_CHECK(pipe(ready) == 0);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    td_writer *writer = NULL;
    if (td_writer_open_append(td_here("m"), NULL, NULL, &writer) != TD_OK) _exit(1);
    grandchild = fork();
    if (grandchild ==
        0) { /* says itself that it runs: until then it holds what its parent had open */
      grandchild = getpid();
      if (write(ready[1], &grandchild, sizeof grandchild) != (ssize_t)sizeof grandchild) _exit(1);
    }
    pause();
    _exit(0);
  }
  TD_CHECK(read(ready[0], &grandchild, sizeof grandchild) == (ssize_t)sizeof grandchild);
  TD_EXPECT(td_memmap_append(td_here("m"), td, NULL), TD_ERR_BUSY);
  TD_CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
  const td_status appended = td_memmap_append(td_here("m"), td, NULL);
  TD_CHECK(kill(grandchild, SIGKILL) == 0);
  TD_CHECK_INT(appended, TD_OK);
  close(ready[0]);
  close(ready[1]);
}

/* One writer in the middle: nothing is taken away. */
TD_TEST(a_stack_with_a_busy_shard_is_not_truncated) {
  td_tensordict *elements[5], *stack = NULL, *mapped = NULL, *found = NULL;
  int64_t sizes[4];
  size_t dims = 0;
  for (int k = 0; k < 5; k++) elements[k] = rows(2, 0);
  TD_DO(td_lazy_stack((const td_tensordict *const *)elements, 5, 0, &stack));
  TD_DO(td_memmap(stack, td_here("m"), NULL, &mapped));
  td_free(mapped);
  td_writer *writer = open_with_rows(td_here("m/1"), 1, 1);
  TD_EXPECT(td_memmap_truncate(td_here("m"), 1, NULL), TD_ERR_BUSY);
  TD_DO(td_memmap_load(td_here("m"), NULL, &found));
  TD_DO(td_batch_size(found, sizes, 4, &dims));
  TD_CHECK_INT(sizes[0], 5);
  td_free(found);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  TD_DO(td_memmap_truncate(td_here("m"), 1, NULL));
  TD_DO(td_memmap_load(td_here("m"), NULL, &found));
  TD_DO(td_batch_size(found, sizes, 4, &dims));
  TD_CHECK_INT(sizes[0], 1);
  TD_CHECK(!td_exists(td_here("m/1")));
}
