/* Folders that somebody else replaces by links while they are read and written: nothing outside is opened, made or
 * removed. The process aborts when it does, see td_fault_stay_inside(). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "scenarios.h"
#include "td_faults.h"
#include "td_files.h"
#include "td_values.h"

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static char folder[1000], link_to[1000];
static int ends;

/* Exchanges the folder and the link, by calls that the test does not watch. */
static void *swap_again_and_again(void *nothing) {
  while (!__atomic_load_n(&ends, __ATOMIC_SEQ_CST)) {
    syscall(SYS_renameat2, AT_FDCWD, folder, AT_FDCWD, link_to, RENAME_EXCHANGE);
    sched_yield();
  }
  return nothing;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* in/m is a dictionary whose "n" is a link to out/n half of the time. */
static void prepare(void) {
  td_tensordict *td = kill_rows(0, 3), *mapped = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.checksums = 1;
  td_make_folder(td_here("in"));
  td_make_folder(td_here("out"));
  TD_DO(td_memmap(td, td_here("in/m"), &options, &mapped));
  td_free(mapped);
  TD_DO(td_memmap(td, td_here("out/m"), NULL, &mapped));
  td_free(mapped);
  td_free(td);
  snprintf(folder, sizeof folder, "%s", td_here("in/m/n"));
  snprintf(link_to, sizeof link_to, "%s", td_here("in/link"));
  TD_CHECK(symlink(td_here("out/m/n"), link_to) == 0);
}

/* Calls it for a second while the folder is swapped; gives how often it has worked. */
static long while_swapped(td_status (*call)(void)) {
  pthread_t thread;
  long worked = 0;
  prepare();
  size_t size = 0;
  char *before = td_read_file(td_here("out/m/n/b.memmap"), &size);
  const int entries = td_count_entries(td_here("out"));
  ends = 0;
  TD_CHECK(pthread_create(&thread, NULL, swap_again_and_again, NULL) == 0);
  td_fault_stay_inside(td_here("in"));
  for (const double end = seconds() + 1; seconds() < end;) worked += call() == TD_OK;
  td_fault_stay_inside(NULL);
  __atomic_store_n(&ends, 1, __ATOMIC_SEQ_CST);
  TD_CHECK(pthread_join(thread, NULL) == 0);
  char *after = td_read_file(td_here("out/m/n/b.memmap"), &size);
  TD_CHECK_INT(td_count_entries(td_here("out")), entries);
  TD_CHECK_INT(size, 3 * 2 * 8);
  TD_CHECK(memcmp(before, after, 3 * 2 * 8) == 0);
  free(after);
  free(before);
  return worked;
}

static td_status load(void) {
  td_tensordict *td = NULL;
  const td_status status = td_memmap_load(td_here("in/m"), NULL, &td);
  td_free(td);
  return status;
}

static td_status verify(void) {
  size_t damaged = 0;
  return td_memmap_verify(td_here("in/m"), NULL, &damaged);
}

static td_status pack(void) { return td_memmap_pack(td_here("in/m"), td_here("in/a.tdz"), NULL); }

static td_status append(void) {
  td_tensordict *td = kill_rows(0, 2);
  const td_status status = td_memmap_append(td_here("in/m"), td, NULL);
  td_free(td);
  return status;
}

static td_status cut(void) { return td_memmap_truncate(td_here("in/m"), 3, NULL); }

static td_status checksums(void) { return td_memmap_write_checksums(td_here("in/m"), NULL); }

TD_TEST(a_load) { printf("# %ld loads\n", while_swapped(load)); }
TD_TEST(a_verification) { printf("# %ld verifications\n", while_swapped(verify)); }
TD_TEST(a_pack) { printf("# %ld archives\n", while_swapped(pack)); }
TD_TEST(an_append) { printf("# %ld appends\n", while_swapped(append)); }
TD_TEST(a_truncation) { printf("# %ld truncations\n", while_swapped(cut)); }
TD_TEST(checksums_are_written) { printf("# %ld times\n", while_swapped(checksums)); }
