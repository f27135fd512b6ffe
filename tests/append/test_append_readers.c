/* One process makes a folder longer, by every way there is, while two others load it and look at each row
 * that they have not seen. TD_GROW_SECONDS says how long; see run. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "append_rows.h"
#include "td_files.h"

static double seconds_for_each(double of_all) {
  const char *given = getenv("TD_GROW_SECONDS");
  return (given != NULL ? atof(given) : 3.0) * of_all;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Loads, or refreshes what it has loaded, until the folder is called finished, and at least twice: on a busy
 * machine it may begin when all is done. Ends with 0 when each row was whole and none went. */
static void follow(const char *folder, int nested, int refresh, const char *finished) {
  int64_t seen = 0, loads = 0;
  td_tensordict *td = NULL;
  for (int last = 0; !last; loads++) {
    last = td_exists(finished) && loads > 0;
    if (refresh && td != NULL) {
      GROW_DO(td_memmap_refresh(td, NULL));
    } else {
      td_free(td);
      GROW_DO(td_memmap_load(folder, NULL, &td));
    }
    const int64_t rows = grow_check(td, seen, nested);
    GROW_CHECK(rows >= seen, "%lld rows after %lld", (long long)rows, (long long)seen);
    seen = rows;
  }
  td_free(td);
  printf("# %lld rows in %lld %s\n", (long long)seen, (long long)loads,
         refresh ? "refreshes" : "loads");
  fflush(stdout);
  _exit(seen > 0 && loads > 1 ? 0 : 1);
}

/* However late it is, each adds rows that are seen. */
typedef void (*grow_fn)(const char *folder, int nested, double until);

static void by_writer(const char *folder, int nested, double until) {
  td_writer *writer = grow_open(folder, nested, NULL);
  int64_t row = 0;
  while (row == 0 || now() < until) {
    for (int i = 0; i < 1 + row % 50; i++) grow_write(writer, row++);
    GROW_DO(td_writer_flush(writer));
  }
  GROW_DO(td_writer_close(writer));
  td_writer_free(writer);
}

static void by_writer_on_its_own(const char *folder, int nested, double until) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.publish_rows = 1000;
  options.buffer_bytes = 4000;
  for (int64_t row = 0; row <= 1000 || now() < until;) { /* opened again and again */
    td_writer *writer = grow_open(folder, nested, &options);
    for (int i = 0; i < 50000 && (row <= 1000 || now() < until); i++) {
      const struct timespec pause = {0, 2000000}; /* the disk is not to be filled */
      if (row % 1000 == 0) nanosleep(&pause, NULL);
      grow_write(writer, row++);
    }
    td_writer_free(writer);
  }
}

static void by_dictionaries(const char *folder, int nested, double until) {
  td_writer_free(grow_open(folder, nested, NULL));
  for (int64_t row = 0; row == 0 || now() < until;) {
    td_tensordict *td = grow_rows(row, 1 + row % 100, nested);
    GROW_DO(td_memmap_append(folder, td, NULL));
    td_free(td);
    row += 1 + row % 100;
  }
}

static void run(grow_fn grow, int nested) {
  const char *folder = td_path(td_test_folder(), "m"), *finished = td_path(td_test_folder(), "end");
  pid_t readers[2];
  td_writer_free(grow_open(folder, nested, NULL));
  fflush(stdout);
  for (int i = 0; i < 2; i++) {
    readers[i] = fork();
    if (readers[i] == 0) follow(folder, nested, i, finished);
    TD_CHECK(readers[i] > 0);
  }
  grow(folder, nested, now() + seconds_for_each(1.0 / 6));
  td_write_text(finished, "");
  for (int i = 0; i < 2; i++) {
    int status = -1;
    TD_CHECK(waitpid(readers[i], &status, 0) == readers[i]);
    TD_CHECK_INT(status, 0);
  }
}

TD_TEST(a_writer_over_one_dictionary) { run(by_writer, 0); }
TD_TEST(a_writer_over_nested_ones) { run(by_writer, 1); }
TD_TEST(a_writer_that_publishes_by_itself) { run(by_writer_on_its_own, 0); }
TD_TEST(the_same_over_nested_ones) { run(by_writer_on_its_own, 1); }
TD_TEST(dictionaries_that_are_appended) { run(by_dictionaries, 0); }
TD_TEST(nested_ones_that_are_appended) { run(by_dictionaries, 1); }

/* Four processes with a shard each, while one loads them as a stack. */
TD_TEST(shards_side_by_side) {
  char folder[500], first[520];
  snprintf(folder, sizeof folder, "%s/m", td_test_folder());
  snprintf(first, sizeof first, "%s/0/meta.json", folder);
  const double until = now() + seconds_for_each(1.0 / 6);
  pid_t writers[4];
  fflush(stdout);
  for (int i = 0; i < 4; i++) {
    writers[i] = fork();
    if (writers[i] != 0) continue;
    do {
      td_append_options options = TD_APPEND_OPTIONS_INIT;
      options.shard = TD_SHARD_NEW;
      td_writer *writer = grow_open(folder, 1, &options);
      for (int64_t row = 0; row < 200 && (row == 0 || now() < until); row++) {
        grow_write(writer, row);
        if (row % 7 == 0) GROW_DO(td_writer_flush(writer));
      }
      td_writer_free(writer);
    } while (now() < until);
    _exit(0);
  }
  int64_t seen = 0;
  while (now() < until) {
    td_tensordict *stack = NULL;
    int64_t sizes[2] = {0, 0};
    size_t dims = 0;
    if (!td_exists(first)) continue;
    TD_DO(td_memmap_load(folder, NULL, &stack));
    TD_DO(td_batch_size(stack, sizes, 2, &dims));
    TD_CHECK(sizes[0] >= seen);
    seen = sizes[0];
    td_tensordict **shards = calloc((size_t)seen, sizeof *shards);
    size_t count = 0;
    TD_DO(td_unbind(stack, 0, shards, (size_t)seen, &count));
    for (size_t i = 0; i < count; i++) {
      grow_check(shards[i], 0, 1);
      td_free(shards[i]);
    }
    free(shards);
    td_free(stack);
  }
  for (int i = 0; i < 4; i++) {
    int status = -1;
    TD_CHECK(waitpid(writers[i], &status, 0) == writers[i]);
    TD_CHECK_INT(status, 0);
  }
  int64_t length = 0;
  TD_DO(td_memmap_length(folder, &length, NULL, NULL));
  TD_CHECK(length >= 4);
  TD_CHECK(!td_exists(td_path(folder, ".0.%tmp")));
}
