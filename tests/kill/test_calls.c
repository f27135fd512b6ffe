/* Functions that make or change one thing: each of their calls to the system fails in turn, and leaves every file as it
 * was. What goes from state to state is in test_faults.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "scenarios.h"
#include "td_faults.h"
#include "td_files.h"
#include "td_values.h"

typedef struct call {
  const char *name;
  void (*prepare)(const char *dir);
  td_status (*act)(const char *dir);
  void (*done)(void); /* NULL: nothing */
} call;

static td_tensordict *kept; /* what prepare() leaves for act() */

static void release(void) {
  td_free(kept);
  kept = NULL;
}

static void nothing(const char *dir) {
  (void)dir;
  kept = kill_rows(0, 3);
}

static td_status dropped(td_status status, td_tensordict *result) {
  td_free(result);
  return status;
}

static void folder(const char *dir) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *td = kill_rows(0, 3);
  options.checksums = 1;
  TD_DO(td_memmap(td, td_path(dir, "m"), &options, &kept));
  td_free(td);
}

static void archive(const char *dir) {
  folder(dir);
  TD_DO(td_memmap_pack(td_path(dir, "m"), td_path(dir, "a.tdz"), NULL));
}

static td_status like(const char *dir) {
  td_tensordict *result = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.durable = options.checksums = 1;
  const td_status status = td_memmap_like(kept, td_path(dir, "new/m"), &options, &result);
  return dropped(status, result);
}

static td_status pack(const char *dir) {
  td_memmap_pack_options options = TD_MEMMAP_PACK_OPTIONS_INIT;
  options.durable = 1;
  return td_memmap_pack(td_path(dir, "m"), td_path(dir, "a.tdz"), &options);
}

static td_status unpack(const char *dir) {
  td_memmap_pack_options options = TD_MEMMAP_PACK_OPTIONS_INIT;
  options.durable = 1;
  return td_memmap_unpack(td_path(dir, "a.tdz"), td_path(dir, "new/m"), &options);
}

static td_status checksums(const char *dir) {
  return td_memmap_write_checksums(td_path(dir, "m"), NULL);
}

static td_status make(const char *dir) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensor *made = NULL;
  (void)dir;
  options.durable = 1;
  const td_status status =
      td_memmap_make(kept, TD_KEY("more", "b"), TD_SIZES(3, 2), TD_DTYPE_FLOAT32, &options, &made);
  td_tensor_free(made);
  return status;
}

static td_status table(const char *dir) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3)));
  return dropped(td_table_save(td, td_path(dir, "t.csv"), NULL), td);
}

static void old_table(const char *dir) { td_write_text(td_path(dir, "t.csv"), "b\n1\n"); }

static td_status npy(const char *dir) {
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.format = TD_FILE_NPY;
  options.durable = 1;
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3)));
  return dropped(td_file_save(td, td_path(dir, "t.npy"), &options), td);
}

static void nothing_kept(const char *dir) { (void)dir; }

static const call calls[] = {
    {"like", nothing, like, release},          {"pack", folder, pack, release},
    {"pack_again", archive, pack, release},    {"unpack", archive, unpack, release},
    {"checksums", folder, checksums, release}, {"make", folder, make, release},
    {"table", nothing_kept, table, NULL},      {"table_again", old_table, table, NULL},
    {"npy", nothing_kept, npy, NULL},
};

static void each_fails(const call *it, unsigned kinds, int error) {
  char name[100], dir[1000], before[1008];
  for (long at = 1;; at++) {
    snprintf(name, sizeof name, "%s_%d_%ld", it->name, error, at);
    snprintf(dir, sizeof dir, "%s", td_path(td_test_folder(), name));
    snprintf(before, sizeof before, "%s_before", dir);
    td_make_folder(dir);
    it->prepare(dir);
    td_copy_tree(dir, before);
    td_fault_begin((td_fault){kinds, at, error, 0});
    const td_status status = it->act(dir);
    const long seen = td_fault_end();
    if (status != TD_OK) {
      if (status != TD_ERR_IO)
        td_test_fail(__FILE__, __LINE__, "%s: call %ld: %s: %s", it->name, at,
                     td_status_name(status), td_last_error_message());
      TD_CHECK_SAME_TREE(dir, before);
      TD_CHECK_INT(td_count_entries(dir), td_count_entries(before));
      if (it->act(dir) != TD_OK)
        td_test_fail(__FILE__, __LINE__, "%s: call %ld: again: %s", it->name, at,
                     td_last_error_message());
    }
    if (it->done != NULL) it->done();
    if (seen < at) {
      TD_CHECK_INT(status, TD_OK);
      break;
    }
  }
}

static void all(unsigned kinds, int error) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) each_fails(&calls[i], kinds, error);
}

TD_TEST(an_error_of_the_disk) { all(TD_CALLS_ALL & ~(TD_CALLS_LOOK | TD_CALLS_MAP), EIO); }

TD_TEST(no_more_room) { all(TD_CALLS_WRITE | TD_CALLS_ROOM | TD_CALLS_NAME, ENOSPC); }

/* A signal is no error. */
TD_TEST(interrupted_by_a_signal) {
  all(TD_CALLS_WRITE | TD_CALLS_READ | TD_CALLS_ROOM | TD_CALLS_LOCK | TD_CALLS_SYNC, EINTR);
}
