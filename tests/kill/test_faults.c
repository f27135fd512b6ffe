/* Calls to the system that fail, each once, and disks that are full: what is stored stays as it was, and
 * nothing half-made stays. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/mount.h>
#endif

#include "scenarios.h"
#include "td_faults.h"
#include "td_files.h"
#include "td_values.h"

/* The place of a scenario, in a folder of its own that holds nothing else. */
static void make_place(const char *name, char *parent, char *place, size_t room) {
  snprintf(parent, room, "%s", td_here(name));
  td_make_folder(parent);
  snprintf(place, room, "%s", td_path(parent, "m"));
}

static void step(const scenario *it, const char *place, int64_t state) {
  td_tensordict *source = it->source(state);
  const td_status status = it->step(place, source, state);
  if (status != TD_OK)
    td_test_fail(__FILE__, __LINE__, "%s: state %d: %s", it->name, (int)state,
                 td_last_error_message());
  td_free(source);
}

static int64_t look(const scenario *it, const char *place, int64_t low, int64_t high,
                    const char *when) {
  const int64_t found = it->look(place);
  if (found != low && found != high)
    td_test_fail(__FILE__, __LINE__, "%s: %s: state %lld, not %lld or %lld", it->name, when,
                 (long long)found, (long long)low, (long long)high);
  return found;
}

/* Of the calls of a scenario, every n-th is tried: TD_KILL_EVERY, 1 unless set. */
static long every(void) {
  const char *asked = getenv("TD_KILL_EVERY");
  const long n = asked != NULL ? strtol(asked, NULL, 10) : 1;
  return n > 0 ? n : 1;
}

/* The first of them differs from one scenario and one way to fail to the next. */
static long first_call(const scenario *it, int error) {
  return 1 + ((it - scenarios) + error) % every();
}

/* One call after the other fails, once or with all behind it. */
static void each_call_fails(const scenario *it, unsigned calls, int error, int stays) {
  char name[100], parent[1000], place[1000], when[200];
  for (long at = first_call(it, error < 0 ? -error : error);; at += every()) {
    snprintf(name, sizeof name, "%s_%d_%d_%ld", it->name, error, stays, at);
    snprintf(when, sizeof when, "call %ld of %#x fails with %d%s", at, calls, error,
             stays ? ", and all behind it" : "");
    make_place(name, parent, place, sizeof parent);
    step(it, place, 0);
    const int before = td_count_entries(parent);
    td_tensordict *source = it->source(1);
    char *printed = td_printed(source);
    td_fault_begin((td_fault){calls, at, error, stays});
    const td_status status = it->step(place, source, 1);
    const long seen = td_fault_end();
    if (status != TD_OK) {
      if (status != TD_ERR_IO)
        td_test_fail(__FILE__, __LINE__, "%s: %s: %s: %s", it->name, when, td_status_name(status),
                     td_last_error_message());
      look(it, place, 0, it->may_be_done ? 1 : 0, when);
      if (!it->may_be_done && td_count_entries(parent) != before)
        td_test_fail(__FILE__, __LINE__, "%s: %s: %d files and folders, %d before", it->name, when,
                     td_count_entries(parent), before);
      char *after = td_printed(source);
      TD_CHECK_SAME_TEXT(after, printed);
      free(after);
      TD_CHECK_FLAG(td_is_locked, source, 0);
      TD_CHECK_FLAG(td_is_memmap, source, 0);
      if (it->look(place) == 0) {
        const td_status again = it->step(place, source, 1);
        if (again != TD_OK)
          td_test_fail(__FILE__, __LINE__, "%s: %s: tried again: %s", it->name, when,
                       td_last_error_message());
      }
    }
    look(it, place, 1, 1, when);
    free(printed);
    td_free(source);
    if (seen < at) break;
  }
}

static void all_fail(unsigned calls, int error, int stays) {
  for (int i = 0; i < scenario_count; i++) {
    if (scenario_is_asked(&scenarios[i])) each_call_fails(&scenarios[i], calls, error, stays);
  }
}

TD_TEST(an_error_of_the_disk) { all_fail(TD_CALLS_ALL & ~TD_CALLS_LOOK, EIO, 0); }

TD_TEST(a_disk_that_has_become_full) {
  all_fail(TD_CALLS_WRITE | TD_CALLS_ROOM | TD_CALLS_NAME, ENOSPC, 1);
}

TD_TEST(a_disk_that_fails_for_good) {
  all_fail(TD_CALLS_WRITE | TD_CALLS_ROOM | TD_CALLS_SYNC, EIO, 1);
}

TD_TEST(no_more_open_files) { all_fail(TD_CALLS_OPEN, EMFILE, 0); }

TD_TEST(writes_that_stop_half_way) {
  all_fail(TD_CALLS_WRITE | TD_CALLS_READ, TD_FAULT_SHORT, 0);
  all_fail(TD_CALLS_WRITE | TD_CALLS_READ, TD_FAULT_SHORT, 1);
}

TD_TEST(calls_that_a_signal_interrupts) {
  all_fail(TD_CALLS_WRITE | TD_CALLS_READ | TD_CALLS_OPEN | TD_CALLS_ROOM | TD_CALLS_LOCK |
               TD_CALLS_SYNC,
           EINTR, 0);
}

/* Opens a replay folder, writes a row and saves, which fails from a call on. Whether there was such a call. */
static int cut_off_save(const char *folder, int64_t row, long at) {
  td_replay *replay = NULL;
  td_tensordict *rows = kill_rows(row, 1);
  TD_DO(td_replay_open(folder, NULL, &replay));
  TD_DO(td_replay_extend(replay, rows));
  td_free(rows);
  td_fault_begin((td_fault){TD_CALLS_ALL & ~TD_CALLS_LOOK, at, EIO, 1});
  const td_status status = td_replay_save(replay, NULL, 0);
  const long seen = td_fault_end();
  TD_CHECK(status == TD_OK || status == TD_ERR_IO);
  td_replay_free(replay);
  return seen >= at;
}

/* JSON files of the first of two saves that were cut off are still those of the folder. */
TD_TEST(saves_of_a_replay_folder_fail_one_after_the_other) {
  int cut = 1;
  for (long first = 1; cut; first++) {
    int again = 1;
    for (long second = 1 + first % every(); again; second += every()) {
      char folder[1000];
      snprintf(folder, sizeof folder, "%s_%ld_%ld", td_here("saves"), first, second);
      td_replay_options options = TD_REPLAY_OPTIONS_INIT;
      options.capacity = 8;
      options.folder = folder;
      td_replay *replay = NULL;
      td_tensordict *rows = kill_rows(0, 4);
      int64_t written = 0;
      TD_DO(td_replay_create(&options, &replay));
      TD_DO(td_replay_extend(replay, rows));
      TD_DO(td_replay_save(replay, NULL, 0));
      td_replay_free(replay);
      td_free(rows);
      cut = cut_off_save(folder, 4, first);
      again = cut_off_save(folder, 5, second);
      TD_DO(td_replay_open(folder, NULL, &replay));
      TD_DO(td_replay_where(replay, NULL, NULL, NULL, &written));
      td_replay_free(replay);
      if (written != 6)
        td_test_fail(__FILE__, __LINE__, "%lld rows after saves that failed at calls %ld and %ld",
                     (long long)written, first, second);
    }
  }
}

/* The process is killed before one call after the other. */
TD_TEST(killed_at_each_call) {
  char name[100], parent[1000], place[1000], when[100];
  for (int i = 0; i < scenario_count; i++) {
    const scenario *it = &scenarios[i];
    if (!scenario_is_asked(it)) continue;
    for (long at = first_call(it, 0);; at += every()) {
      int ended = 0;
      snprintf(name, sizeof name, "%s_%ld", it->name, at);
      snprintf(when, sizeof when, "killed at call %ld", at);
      make_place(name, parent, place, sizeof parent);
      step(it, place, 0);
      fflush(stdout);
      const pid_t child = fork();
      if (child == 0) {
        td_tensordict *source = it->source(1);
        td_fault_begin((td_fault){TD_CALLS_ALL | TD_CALLS_CLEAN, at, TD_FAULT_KILL, 0});
        _exit(it->step(place, source, 1) == TD_OK ? 0 : 1);
      }
      TD_CHECK(child > 0 && waitpid(child, &ended, 0) == child);
      const int survived = WIFEXITED(ended);
      TD_CHECK(!survived || WEXITSTATUS(ended) == 0);
      const int64_t state = look(it, place, survived ? 1 : 0, 1, when);
      if (state == 0) step(it, place, 1);
      look(it, place, 1, 1, when);
      if (survived) break;
    }
  }
}

/* A file that takes all the room but this. */
static int fill_disk(const char *path, int64_t left) {
  static const char bytes[4096] = {1};
  FILE *file = fopen(path, "wb");
  int64_t written = 0;
  TD_CHECK(file != NULL);
  setvbuf(file, NULL, _IONBF, 0);
  while (fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes) written += (int64_t)sizeof bytes;
  fclose(file);
  return written >= left && truncate(path, written - left) == 0;
}

TD_TEST(a_disk_with_less_room_than_is_needed) {
#if defined(__linux__)
  char disk[1000], filler[1000], place[1000], when[100];
  int steps = 0, asked = 0;
  snprintf(disk, sizeof disk, "%s", td_here("disk"));
  td_make_folder(disk);
  if (mount("none", disk, "tmpfs", 0, "size=1m") != 0) td_test_skip("mount is not permitted");
  umount2(disk, MNT_DETACH);
  kill_ballast = 5000;
  for (int i = 0; i < scenario_count; i++) {
    const scenario *it = &scenarios[i];
    if (!scenario_is_asked(it)) continue;
    asked++;
    for (int64_t left = 0;; left += 4096) {
      TD_CHECK(mount("none", disk, "tmpfs", 0, "size=1m") == 0);
      snprintf(place, sizeof place, "%s", td_path(disk, "m"));
      snprintf(filler, sizeof filler, "%s", td_path(disk, "filler"));
      snprintf(when, sizeof when, "%lld bytes left", (long long)left);
      step(it, place, 0);
      TD_CHECK(fill_disk(filler, left));
      const int before = td_count_entries(disk);
      td_tensordict *source = it->source(1);
      const td_status status = it->step(place, source, 1);
      if (status != TD_OK) {
        steps++;
        if (status != TD_ERR_IO)
          td_test_fail(__FILE__, __LINE__, "%s: %s: %s", it->name, when, td_last_error_message());
        const int64_t state = look(it, place, 0, it->may_be_done ? 1 : 0, when);
        if (!it->may_be_done) TD_CHECK_INT(td_count_entries(disk), before);
        TD_CHECK(remove(filler) == 0);
        if (state == 0 && it->step(place, source, 1) != TD_OK)
          td_test_fail(__FILE__, __LINE__, "%s: %s: tried again: %s", it->name, when,
                       td_last_error_message());
      }
      look(it, place, 1, 1, when);
      td_free(source);
      TD_CHECK(umount2(disk, MNT_DETACH) == 0);
      if (status == TD_OK) break;
    }
  }
  kill_ballast = 64;
  TD_CHECK(steps > asked);
#else
  td_test_skip("needs tmpfs");
#endif
}

/* `durable` means the same everywhere: the content, its folder, and each parent folder that the call has made.
 * Each wait for the disk that fails leaves nothing. */
static td_status archive_durably(const td_tensordict *td, const char *from, const char *to) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *result = NULL;
  (void)from;
  options.archive = TD_ARCHIVE_YES;
  options.durable = 1;
  const td_status status = td_memmap(td, to, &options, &result);
  td_free(result);
  return status;
}

static td_status folder_durably(const td_tensordict *td, const char *from, const char *to) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *result = NULL;
  (void)from;
  options.durable = 1;
  const td_status status = td_memmap(td, to, &options, &result);
  td_free(result);
  return status;
}

static td_status pack_durably(const td_tensordict *td, const char *from, const char *to) {
  td_memmap_pack_options options = TD_MEMMAP_PACK_OPTIONS_INIT;
  (void)td;
  options.durable = 1;
  return td_memmap_pack(td_path(from, "m"), to, &options);
}

static td_status unpack_durably(const td_tensordict *td, const char *from, const char *to) {
  td_memmap_pack_options options = TD_MEMMAP_PACK_OPTIONS_INIT;
  (void)td;
  options.durable = 1;
  return td_memmap_unpack(td_path(from, "a"), to, &options);
}

TD_TEST(durable_covers_the_parents_that_are_made) {
  td_status (*const calls[])(const td_tensordict *, const char *, const char *) = {
      archive_durably, folder_durably, pack_durably, unpack_durably};
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  char from[1000];
  snprintf(from, sizeof from, "%s", td_here("from"));
  td_make_folder(from);
  TD_DO(folder_durably(td, from, td_path(from, "m")));
  TD_DO(archive_durably(td, from, td_path(from, "a")));
  for (int i = 0; i < 4; i++) {
    /* a file: itself and its folder; a folder: two files, itself and its folder */
    const long waits = i % 2 == 0 ? 2 : 4;
    td_make_folder(td_here("in"));
    for (long at = 1;; at++) {
      td_fault_begin((td_fault){TD_CALLS_SYNC, at, EIO, 0});
      const td_status status = calls[i](td, from, td_here("in/one/two/to"));
      const long seen = td_fault_end();
      if (at > seen) {
        TD_CHECK_INT(status, TD_OK);
        if (seen < waits + 2)
          td_test_fail(__FILE__, __LINE__, "call %d waited %ld times, not %ld", i, seen, waits + 2);
        break;
      }
      TD_CHECK_INT(status, TD_ERR_IO);
      TD_CHECK_INT(td_count_entries(td_here("in")), 0);
    }
    char command[1200];
    snprintf(command, sizeof command, "rm -r '%s'", td_here("in"));
    TD_CHECK(system(command) == 0);
  }
  td_free(td);
}

/* Reading: the error is told, and nothing is given. */
TD_TEST(folders_that_cannot_be_read) {
  const scenario *it = &scenarios[0];
  const unsigned calls = TD_CALLS_OPEN | TD_CALLS_READ | TD_CALLS_MAP;
  const char *place = td_here("m");
  step(it, place, 0);
  for (long at = 1;; at++) {
    td_tensordict *found = TD_POISON;
    td_fault_begin((td_fault){calls, at, EIO, 0});
    const td_status status = td_memmap_load(place, NULL, &found);
    const long seen = td_fault_end();
    if (status == TD_OK) {
      td_free(found);
    } else {
      TD_CHECK_INT(status, TD_ERR_IO);
      TD_CHECK(found == NULL);
    }
    if (seen < at) {
      TD_CHECK_INT(status, TD_OK);
      break;
    }
  }
}
