/* A save replaces what is there as a whole: what goes, what stays, and who may write at a time. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/mount.h>
#endif

#include "td_files.h"
#include "td_values.h"

static void save(const td_tensordict *td, const char *folder) {
  td_tensordict *mapped = NULL;
  TD_DO(td_memmap(td, folder, NULL, &mapped));
  td_free(mapped);
}

/* {"c": int64 [2] of 7, 8} */
static td_tensordict *other(void) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("c"), td_arange(TD_DTYPE_INT64, 7, TD_SIZES(2)));
  return td;
}

static void check_other(const char *folder) {
  td_tensordict *td = td_loaded(folder);
  size_t bytes = 0;
  TD_DO(td_nbytes(td, &bytes));
  TD_CHECK_INT(bytes, 16);
  TD_CHECK_ENTRY(td, TD_KEY("c"), TD_SIZES(2), TD_VALUES(7, 8));
  td_free(td);
}

static void check_sample(const char *folder) {
  td_tensordict *td = td_loaded(folder);
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  td_free(td);
}

static struct stat look(const char *path) {
  struct stat info;
  if (lstat(path, &info) != 0) td_test_fail(__FILE__, __LINE__, "there is no %s", path);
  return info;
}

TD_TEST(old_leaves_go_and_what_is_no_part_of_it_stays) {
  td_tensordict *td = td_sample(), *next = other();
  save(td, td_here("p/m"));
  td_write_text(td_here("p/m/notes.txt"), "one");
  td_write_text(td_here("p/m/n/notes.txt"), "two");
  td_write_text(td_here("p/m/mine.memmap"), "three");
  td_make_folder(td_here("p/m/extra"));
  td_make_folder(td_here("p/m/extra/inner"));
  td_write_text(td_here("p/m/extra/inner/x"), "four");
  TD_CHECK(symlink("nowhere", td_here("p/m/extra/link")) == 0);
  const struct stat notes = look(td_here("p/m/notes.txt"));
  save(next, td_here("p/m"));
  check_other(td_here("p/m"));
  TD_CHECK(!td_exists(td_here("p/m/a.memmap")));
  TD_CHECK(!td_exists(td_here("p/m/n/b.memmap")));
  TD_CHECK(!td_exists(td_here("p/m/n/meta.json")));
  TD_CHECK_INT(look(td_here("p/m/notes.txt")).st_ino, notes.st_ino);
  TD_CHECK_INT(td_file_size(td_here("p/m/n/notes.txt")), 3);
  TD_CHECK_INT(td_file_size(td_here("p/m/mine.memmap")), 5);
  TD_CHECK_INT(td_file_size(td_here("p/m/extra/inner/x")), 4);
  TD_CHECK(S_ISLNK(look(td_here("p/m/extra/link")).st_mode));
  TD_CHECK_INT(td_count_entries(td_here("p")), 1 + 2 + 5 + 2 + 1);
}

TD_TEST(a_folder_of_the_old_one_goes_with_its_last_file) {
  td_tensordict *td = td_sample(), *next = other();
  save(td, td_here("p/m"));
  save(next, td_here("p/m"));
  check_other(td_here("p/m"));
  TD_CHECK_INT(td_count_entries(td_here("p")), 3);
}

TD_TEST(it_is_another_folder_with_the_same_permissions) {
  td_tensordict *td = td_sample(), *old = NULL;
  TD_DO(td_memmap(td, td_here("p/m"), NULL, &old));
  TD_CHECK(chmod(td_here("p/m"), 0750) == 0);
  TD_CHECK(chmod(td_here("p/m/n"), 0701) == 0);
  const struct stat before = look(td_here("p/m"));
  save(td, td_here("p/m"));
  TD_CHECK(look(td_here("p/m")).st_ino != before.st_ino);
  TD_CHECK_INT(look(td_here("p/m")).st_mode & 07777, 0750);
  TD_CHECK_INT(look(td_here("p/m/n")).st_mode & 07777, 0701);
  TD_CHECK_ENTRY(old, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TD_TEST(mappings_of_the_folder_itself_are_linked) {
  td_tensordict *td = td_sample(), *loaded, *again = NULL;
  save(td, td_here("p/m"));
  loaded = td_loaded(td_here("p/m"));
  td_put(loaded, TD_KEY("more"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  const struct stat before = look(td_here("p/m/n/b.memmap"));
  TD_DO(td_memmap(loaded, td_here("p/m"), NULL, &again));
  TD_CHECK_INT(look(td_here("p/m/n/b.memmap")).st_ino, before.st_ino);
  TD_CHECK_INT(look(td_here("p/m/n/b.memmap")).st_nlink, 1);
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES),
            *b = td_take(again, TD_KEY("n", "b"));
  TD_DO(td_fill_at(loaded, TD_AT(TD_I_INT(0)), nine));
  TD_CHECK_VALUES(b, 9, 9, 9, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  td_tensor_free(b);
  td_tensor_free(nine);
  td_free(again);
  td_free(loaded);
  TD_CHECK_INT(td_count_entries(td_here("p")), 7);
}

TD_TEST(in_place_replaces_the_folder_too) {
  td_tensordict *td = td_sample(), *next = other();
  char path[512];
  size_t length = 0;
  save(td, td_here("p/m"));
  TD_DO(td_memmap_inplace(next, td_here("p/m"), NULL));
  TD_CHECK_FLAG(td_is_locked, next, 1);
  TD_DO(td_saved_path(next, path, sizeof path, &length));
  TD_CHECK_SAME_TEXT(path, td_here("p/m"));
  check_other(td_here("p/m"));
  TD_CHECK_INT(td_count_entries(td_here("p")), 3);
}

TD_TEST(a_folder_without_a_dictionary_is_filled) {
  td_tensordict *td = td_sample();
  td_make_folder(td_here("m"));
  td_write_text(td_here("m/notes.txt"), "one");
  const struct stat before = look(td_here("m"));
  save(td, td_here("m"));
  TD_CHECK_INT(look(td_here("m")).st_ino, before.st_ino);
  check_sample(td_here("m"));
  TD_CHECK_INT(td_count_entries(td_here("m")), 6);
}

TD_TEST(a_link_to_the_folder_stays_a_link) {
  td_tensordict *td = td_sample(), *next = other();
  save(td, td_here("p/m"));
  TD_CHECK(symlink(td_here("p/m"), td_here("link")) == 0);
  save(next, td_here("link"));
  TD_CHECK(S_ISLNK(look(td_here("link")).st_mode));
  check_other(td_here("p/m"));
  check_other(td_here("link"));
  TD_CHECK_INT(td_count_entries(td_here("p")), 3);
}

/* Where the folder cannot be another one, its files are exchanged one by one. */
static void check_in_its_place(const char *folder) {
  td_tensordict *td = td_sample(), *next = other();
  const struct stat before = look(folder);
  save(td, folder);
  td_write_text(td_path(folder, "notes.txt"), "one");
  save(next, folder);
  TD_CHECK_INT(look(folder).st_ino, before.st_ino);
  check_other(folder);
  TD_CHECK_INT(td_count_entries(folder), 3);
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.durable = 1;
  options.num_threads = 2;
  td_tensordict *mapped = NULL;
  TD_DO(td_memmap(td, folder, &options, &mapped));
  td_free(mapped);
  check_sample(folder);
  TD_CHECK_INT(td_count_entries(folder), 6);
  td_free(next);
  td_free(td);
}

TD_TEST(the_current_folder_stays) {
  char before[4096];
  TD_CHECK(getcwd(before, sizeof before) != NULL);
  td_make_folder(td_here("m"));
  td_tensordict *td = other();
  save(td, td_here("m"));
  TD_CHECK(chdir(td_here("m")) == 0);
  check_in_its_place(td_here("m"));
  TD_CHECK(chdir(before) == 0);
}

TD_TEST(a_mount_point_stays) {
#if defined(__linux__)
  td_make_folder(td_here("m"));
  if (mount("none", td_here("m"), "tmpfs", 0, "size=1m") != 0)
    td_test_skip("mount is not permitted");
  struct stat info;
  td_tensordict *td = td_sample(), *next = other(), *mapped = NULL;
  const int looked = stat(td_here("m"), &info);
  const td_status first = td_memmap(td, td_here("m"), NULL, &mapped);
  td_free(mapped);
  mapped = NULL;
  const td_status second = td_memmap(next, td_here("m"), NULL, &mapped);
  td_free(mapped);
  const int left = td_count_entries(td_here("m"));
  umount2(td_here("m"), MNT_DETACH);
  TD_CHECK_INT(looked, 0);
  TD_CHECK_INT(first, TD_OK);
  TD_CHECK_INT(second, TD_OK);
  TD_CHECK_INT(left, 2);
  td_free(next);
  td_free(td);
#else
  td_test_skip("needs tmpfs");
#endif
}

TD_TEST(a_parent_that_cannot_be_written) {
  if (geteuid() == 0) td_test_skip("root has every permission");
  td_make_folder(td_here("p"));
  td_make_folder(td_here("p/m"));
  TD_CHECK(chmod(td_here("p"), 0500) == 0);
  check_in_its_place(td_here("p/m"));
  TD_CHECK(chmod(td_here("p"), 0700) == 0);
}

static void check_busy(const char *folder) {
  td_tensordict *td = td_sample(), *mapped;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  TD_EXPECT_NULL(td_memmap(td, folder, NULL, &mapped), TD_ERR_BUSY, mapped);
  TD_CHECK_TEXT(td_last_error_message(), folder);
  TD_CHECK_TEXT(td_last_error_message(), "another writer");
  TD_EXPECT_NULL(td_memmap_like(td, folder, &options, &mapped), TD_ERR_BUSY, mapped);
  TD_EXPECT(td_memmap_inplace(td, folder, NULL), TD_ERR_BUSY);
  TD_CHECK_FLAG(td_is_locked, td, 0);
  TD_CHECK_FLAG(td_is_memmap, td, 0);
  td_put(td, TD_KEY("more"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  td_free(td);
}

/* A process that has the lock of a folder until it is killed. */
static pid_t lock_elsewhere(const char *folder) {
  int ready[2];
  TD_CHECK(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const int number = open(folder, O_RDONLY | O_DIRECTORY);
    const char said = flock(number, LOCK_EX | LOCK_NB) == 0 ? 'y' : 'n';
    if (write(ready[1], &said, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char said = 0;
  TD_CHECK(read(ready[0], &said, 1) == 1 && said == 'y');
  close(ready[0]);
  close(ready[1]);
  return child;
}

static void kill_and_wait(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

TD_TEST(another_process_writes_there) {
  td_tensordict *td = other();
  save(td, td_here("p/m"));
  const pid_t child = lock_elsewhere(td_here("p/m"));
  check_busy(td_here("p/m"));
  check_other(td_here("p/m"));
  TD_CHECK_INT(td_count_entries(td_here("p")), 3);
  kill_and_wait(child);
  save(td, td_here("p/m"));
}

TD_TEST(another_process_makes_it) {
  td_tensordict *td = td_sample();
  td_make_folder(td_here("p"));
  td_make_folder(td_here("p/.m.%tmp"));
  td_make_folder(td_here("p/.m.%tmp/%tmp"));
  td_write_text(td_here("p/.m.%tmp/%tmp/a.memmap"), "half");
  const pid_t child = lock_elsewhere(td_here("p/.m.%tmp"));
  check_busy(td_here("p/m"));
  TD_CHECK(!td_exists(td_here("p/m")));
  TD_CHECK_INT(td_file_size(td_here("p/.m.%tmp/%tmp/a.memmap")), 4);
  kill_and_wait(child); /* what it leaves is taken away */
  save(td, td_here("p/m"));
  check_sample(td_here("p/m"));
  TD_CHECK_INT(td_count_entries(td_here("p")), 6);
}

TD_TEST(what_a_killed_writer_left_is_taken_away) {
  td_tensordict *td = td_sample(), *next = other();
  save(td, td_here("p/m"));
  td_make_folder(td_here("p/.m.%tmp"));
  td_make_folder(td_here("p/.m.%tmp/%tmp"));
  td_make_folder(td_here("p/.m.%tmp/%tmp/n"));
  td_write_text(td_here("p/.m.%tmp/%tmp/n/meta.json"), "{");
  td_write_text(td_here("p/m/.%tmp-123-4"), "half");
  save(next, td_here("p/m"));
  check_other(td_here("p/m"));
  TD_CHECK_INT(td_count_entries(td_here("p")), 3);
  td_make_folder(td_here("q"));
  td_make_folder(td_here("q/.%tmp"));
  td_make_folder(td_here("q/.%tmp/%tmp"));
  td_write_text(td_here("q/.%tmp/%tmp/c.memmap"), "half");
  save(next, td_here("q"));
  TD_CHECK_INT(td_count_entries(td_here("q")), 2);
}

TD_TEST(links_are_refused) {
  td_tensordict *td = td_sample(), *mapped;
  save(td, td_here("p/m"));
  td_write_text(td_here("victim"), "one");
  TD_CHECK(unlink(td_here("p/m/a.memmap")) == 0);
  TD_CHECK(symlink(td_here("victim"), td_here("p/m/a.memmap")) == 0);
  TD_EXPECT_NULL(td_memmap(td, td_here("p/m"), NULL, &mapped), TD_ERR_IO, mapped);
  TD_CHECK_TEXT(td_last_error_message(), "symbolic link");
  TD_CHECK_INT(td_file_size(td_here("victim")), 3);
  TD_CHECK_INT(td_count_entries(td_here("p")), 6);
  TD_CHECK(symlink(td_here("p"), td_here("p/.m.%tmp")) == 0); /* in the way of what is made aside */
  TD_CHECK(unlink(td_here("p/m/a.memmap")) == 0);
  save(td, td_here("p/m"));
  TD_CHECK(S_ISLNK(look(td_here("p/.m.%tmp")).st_mode));
  TD_CHECK_INT(td_count_entries(td_here("p")), 7);
}

TD_TEST(a_shorter_stack_leaves_no_elements) {
  td_tensordict *parts[3] = {other(), other(), other()}, *stack = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const *)parts, 3, 0, &stack));
  save(stack, td_here("p/m"));
  td_free(stack);
  td_write_text(td_here("p/m/2/notes.txt"), "one");
  TD_DO(td_lazy_stack((const td_tensordict *const *)parts, 2, 0, &stack));
  save(stack, td_here("p/m"));
  td_free(stack);
  stack = td_loaded(td_here("p/m"));
  TD_CHECK_BATCH(stack, 2, 2);
  td_free(stack);
  TD_CHECK(!td_exists(td_here("p/m/2/meta.json")));
}

TD_TEST(a_dictionary_without_entries) {
  td_tensordict *td = td_sample(), *empty = td_empty(TD_SIZES(4)), *loaded, *mapped;
  size_t bytes = 9;
  save(td, td_here("p/m"));
  save(empty, td_here("p/m")); /* the nested one goes */
  loaded = td_loaded(td_here("p/m"));
  TD_DO(td_nbytes(loaded, &bytes));
  TD_CHECK_INT(bytes, 0);
  TD_CHECK_INT(td_count_entries(td_here("p")), 2);
  td_free(loaded);
  save(td, td_here("q/m")); /* somebody's own inside: it would be read as a part */
  td_copy_tree(td_here("q/m"), td_here("p/m/own"));
  TD_EXPECT_NULL(td_memmap(empty, td_here("p/m"), NULL, &mapped), TD_ERR_IO, mapped);
  TD_CHECK_TEXT(td_last_error_message(), "read as a part");
  check_sample(td_here("p/m/own"));
}

TD_TEST(folders_made_for_a_save_go_with_it) {
  td_tensordict *td = td_sample(), *mapped;
  struct rlimit before, limit;
  TD_CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  limit = before;
  limit.rlim_cur = 64;
  signal(SIGXFSZ, SIG_IGN);
  const char *folder = td_here("x/y/z");
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  mapped = TD_POISON;
  const td_status status = td_memmap(td, folder, NULL, &mapped);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  signal(SIGXFSZ, SIG_DFL);
  TD_CHECK_INT(status, TD_ERR_IO);
  TD_CHECK(mapped == NULL);
  TD_CHECK_INT(td_count_entries(td_test_folder()), 0);
}

TD_TEST(durable_saves_and_flushes) {
  td_tensordict *td = td_sample(), *mapped = NULL, *like = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.durable = options.checksums = 1;
  TD_DO(td_memmap(td, td_here("x/y/m"), &options, &mapped));
  TD_DO(td_memmap_flush(mapped));
  TD_DO(td_memmap_like(td, td_here("x/like"), &options, &like));
  TD_DO(td_memmap_flush(like));
  td_tensordict *n = td_take_dict(mapped, TD_KEY("n"));
  TD_DO(td_memmap_flush(n));
  TD_DO(td_memmap_flush(td)); /* nothing is mapped */
  save(td, td_here("x/like"));
  TD_DO(td_memmap_flush(like)); /* its files have gone */
  td_free(n);
  td_free(like);
  td_free(mapped);
  check_sample(td_here("x/y/m"));
  TD_CHECK_INT(td_count_entries(td_here("x")), 2 + 6 + 6);
}

TD_TEST(a_long_name) {
  char name[256];
  memset(name, 'x', 255);
  name[255] = '\0';
  td_tensordict *td = td_sample(), *next = other();
  save(td, td_path(td_here("p"), name));
  save(next, td_path(td_here("p"), name));
  check_other(td_path(td_here("p"), name));
  TD_CHECK_INT(td_count_entries(td_here("p")), 3);
}
