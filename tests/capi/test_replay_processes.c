/* One mapped folder, several processes and threads: no row is drawn of which a part is missing. */
#define _POSIX_C_SOURCE 200809L /* kill, nanosleep */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "td_process.h"
#include "td_replay_test.h"

enum { places = 64, wide = 3000, rounds = 150, each = 48 };

/* Rows that say in each of their numbers which one they are. */
static td_tensordict *wide_rows(int64_t first, int64_t n) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_tensor *wide_one = td_filled(TD_DTYPE_INT64, 0, TD_SIZES(n, wide));
  void *data = NULL;
  TD_DO(td_tensor_data(wide_one, &data));
  for (int64_t i = 0; i < n * wide; i++) ((int64_t *)data)[i] = first + i / wide;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(n)));
  td_put(td, TD_KEY("wide"), wide_one);
  return td;
}

static void check_batch(td_replay *replay, int64_t rows, int64_t newest) {
  static int64_t a[32], index[32], values[32 * wide];
  td_tensordict *batch = NULL;
  TD_DO(td_replay_sample(replay, rows, &batch));
  const int64_t most = rows;
  rows = replay_values(batch, TD_KEY("a"), a, 8, most);
  TD_CHECK(rows > 0); /* without replacement there may be fewer */
  replay_values(batch, TD_KEY("index"), index, 8, rows);
  replay_values(batch, TD_KEY("wide"), values, 8, rows * wide);
  td_free(batch);
  for (int64_t i = 0; i < rows; i++) {
    TD_CHECK(newest < 0 || a[i] <= newest);
    if (newest >= 0) TD_CHECK_INT(a[i] % places, index[i]);
    for (int64_t k = 0; k < wide; k++) TD_CHECK_INT(values[i * wide + k], a[i]);
  }
}

/* The other process: writes until all is written. */
TD_TEST(writer) {
  td_replay *replay = NULL;
  TD_DO(td_replay_open(td_role(), NULL, &replay));
  for (int64_t round = 0; round < rounds; round++) {
    td_tensordict *td = wide_rows(round * each, each);
    TD_DO(td_replay_extend(replay, td));
    td_free(td);
  }
}

TD_TEST(one_process_writes_and_another_draws) {
  for (int kind = TD_REPLAY_SAMPLER_RANDOM; kind <= TD_REPLAY_SAMPLER_PRIORITIZED; kind++) {
    if (kind == TD_REPLAY_SAMPLER_SLICES) continue;
    td_replay_options options = replay_options(places, (td_replay_sampler)kind);
    options.folder = td_path(td_test_folder(), kind == TD_REPLAY_SAMPLER_RANDOM ? "a"
                                               : kind == 2                      ? "b"
                                                                                : "c");
    td_replay *replay = replay_of(&options);
    const int process = td_spawn("writer", options.folder);
    int64_t written = 0, batches = 0, seen = 0;
    while (written < rounds * each) {
      TD_DO(td_replay_where(replay, NULL, NULL, NULL, &written));
      if (written == 0) continue;
      seen += written < rounds * each;
      check_batch(replay, 32, rounds * each);
      batches++;
    }
    TD_CHECK(td_join(process));
    TD_CHECK(seen > 0);
    replay_check_where(replay, places, places, rounds * each % places, rounds * each);
    td_replay_free(replay);
  }
}

enum { saves = 20 };

static int64_t rows_of(const td_replay *replay) {
  int64_t written = 0;
  TD_DO(td_replay_where(replay, NULL, NULL, NULL, &written));
  return written;
}

/* The other process: opens the folder and frees it, again and again, until all is written. */
TD_TEST(opener) {
  const char *all = strchr(td_role(), ' ');
  TD_CHECK(all != NULL);
  char folder[500];
  snprintf(folder, sizeof folder, "%.*s", (int)(all - td_role()), td_role());
  for (int64_t before = 0, now = 0; now < atoll(all); before = now) {
    td_replay *replay = NULL;
    TD_DO(before % 2 ? td_replay_load(folder, NULL, &replay)
                     : td_replay_open(folder, NULL, &replay));
    now = rows_of(replay);
    TD_CHECK(now >= before);
    td_replay_free(replay);
  }
}

/* Each row is an episode for the samplers of slices. */
static td_replay_options options_for(int kind, int64_t capacity) {
  static const char *const name[] = {"a"};
  static const td_key episode = {name, 1};
  td_replay_options options = replay_options(capacity, (td_replay_sampler)kind);
  if (kind == TD_REPLAY_SAMPLER_SLICES || kind > TD_REPLAY_SAMPLER_PRIORITIZED) {
    options.episode = &episode;
    options.slice_len = 1;
  }
  return options;
}

/* Whoever opens a folder must not take what the JSON files said a moment ago for the truth. TD_REPLAY_ROUNDS
   says how many rows are written for each sampler. */
TD_TEST(opening_a_folder_while_another_saves_loses_no_rows) {
  const char *asked = getenv("TD_REPLAY_ROUNDS");
  const int64_t rounds_here = asked == NULL ? 150 : atoll(asked);
  for (int kind = TD_REPLAY_SAMPLER_RANDOM; kind <= TD_REPLAY_SAMPLER_PRIORITIZED_SLICES; kind++) {
    td_replay_options options = options_for(kind, 10000);
    char folder[400], role[450];
    snprintf(folder, sizeof folder, "%s/open%d", td_test_folder(), kind);
    snprintf(role, sizeof role, "%s %lld", folder, (long long)rounds_here);
    options.folder = folder;
    td_replay *replay = replay_of(&options);
    const int process = td_spawn("opener", role);
    for (int64_t i = 0; i < rounds_here; i++) {
      replay_write(replay, i, 1);
      if (i % saves == 0) TD_DO(td_replay_save(replay, NULL, 0));
    }
    TD_CHECK(td_join(process));
    TD_CHECK_INT(rows_of(replay), rounds_here);
    td_replay_free(replay);
    TD_DO(td_replay_open(folder, NULL, &replay));
    TD_CHECK_INT(rows_of(replay), rounds_here);
    td_replay_free(replay);
  }
}

/* The other process: opens the folder, writes a row, saves and frees, until there are so many rows. */
TD_TEST(saver) {
  const char *all = strchr(td_role(), ' ');
  TD_CHECK(all != NULL);
  char folder[500];
  snprintf(folder, sizeof folder, "%.*s", (int)(all - td_role()), td_role());
  for (int64_t now = 0; now < atoll(all);) {
    td_replay *replay = NULL;
    TD_DO(td_replay_open(folder, NULL, &replay));
    replay_write(replay, now, 1);
    TD_DO(td_replay_save(replay, NULL, 0));
    now = rows_of(replay);
    td_replay_free(replay);
  }
}

/* Opens the folder, of whose rows there must be as many as before or more; all are whole. */
static int64_t look(const char *folder, int64_t before) {
  td_replay *replay = NULL;
  int64_t a[8];
  TD_DO(td_replay_open(folder, NULL, &replay));
  const int64_t now = rows_of(replay);
  TD_CHECK(now >= before);
  if (now > 0) TD_CHECK(replay_draw(replay, 8, a, NULL) > 0);
  td_replay_free(replay);
  return now;
}

TD_TEST(saves_beside_saves_and_killed_ones_lose_no_rows) {
  const char *asked = getenv("TD_REPLAY_ROUNDS");
  const int64_t rounds_here = asked == NULL ? 100 : atoll(asked);
  for (int kind = TD_REPLAY_SAMPLER_RANDOM; kind <= TD_REPLAY_SAMPLER_PRIORITIZED_SLICES; kind++) {
    td_replay_options options = options_for(kind, 64);
    char folder[400], role[450];
    snprintf(folder, sizeof folder, "%s/saves%d", td_test_folder(), kind);
    options.folder = folder;
    td_replay_free(replay_of(&options));
    snprintf(role, sizeof role, "%s %lld", folder, (long long)rounds_here);
    const int one = td_spawn("saver", role), other = td_spawn("saver", role);
    int64_t now = 0;
    while (now < rounds_here) now = look(folder, now);
    TD_CHECK(td_join(one));
    TD_CHECK(td_join(other));
    snprintf(role, sizeof role, "%s %lld", folder, (long long)INT64_MAX);
    for (int64_t kills = 0; kills < rounds_here / 100; kills++) {
      const int process = td_spawn("saver", role);
      for (const int64_t begin = now; now == begin;) now = look(folder, now);
      nanosleep(&(struct timespec){0, (long)(kills * 7919 % 3000) * 1000}, NULL);
      kill(process, SIGKILL);
      TD_CHECK(!td_join(process));
      now = look(folder, now);
    }
  }
}

static void *write_rows(void *replay) {
  for (int64_t round = 0; round < 40; round++) {
    td_tensordict *td = wide_rows(round * each, each);
    TD_DO(td_replay_extend(replay, td));
    td_free(td);
  }
  return NULL;
}

TD_TEST(threads_write_and_draw) {
  for (int kind = 0; kind < 2; kind++) {
    td_replay_options options = replay_options(places, TD_REPLAY_SAMPLER_PRIORITIZED);
    if (kind == 1) options.folder = td_path(td_test_folder(), "threads");
    td_replay *replay = replay_of(&options);
    td_tensordict *first = wide_rows(0, 1);
    TD_DO(td_replay_extend(replay, first));
    td_free(first);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
      TD_CHECK(pthread_create(&threads[i], NULL, write_rows, replay) == 0);
    for (int i = 0; i < 40; i++) check_batch(replay, 32, -1);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    int64_t written = 0;
    TD_DO(td_replay_where(replay, NULL, NULL, NULL, &written));
    TD_CHECK_INT(written, 3 * 40 * each + 1);
    td_replay_free(replay);
  }
}
