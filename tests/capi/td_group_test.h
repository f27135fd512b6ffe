/* td_group_test.h: what tests of process groups share. */
#ifndef TD_GROUP_TEST_H
#define TD_GROUP_TEST_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

/* Long enough for any machine; short where a test waits for it. */
enum { group_patience_ms = 60000, group_soon_ms = 300 };

static inline td_group_options group_options(const char *url, int rank, int size) {
  td_group_options options = TD_GROUP_OPTIONS_INIT;
  options.url = url;
  options.rank = rank;
  options.world_size = size;
  options.timeout_ms = group_patience_ms;
  return options;
}

/* A new meeting place in the folder of the test. */
static inline const char *group_url(void) {
  static char urls[16][512];
  static int next;
  char name[16];
  snprintf(name, sizeof name, "meet%d", next);
  char *url = urls[next++ % 16];
  snprintf(url, sizeof urls[0], "file://%s", td_path(td_test_folder(), name));
  return url;
}

/* Ends the test as skipped in a build without process groups. */
static inline void group_needed(void) {
  td_group *group = NULL;
  td_group_options options = group_options("file:///", 0, 1);
  options.backend = "none";
  if (td_group_open(&options, &group) == TD_OK) td_group_free(group);
  options = group_options(group_url(), 0, 1);
  const td_status status = td_group_open(&options, &group);
  td_group_free(group);
  if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
  TD_CHECK_INT(status, TD_OK);
}

typedef void (*group_body)(td_group *group, int rank);

typedef struct group_rank {
  const char *url;
  int rank, size;
  group_body body;
} group_rank;

static inline void *group_run(void *of) {
  const group_rank *it = of;
  const td_group_options options = group_options(it->url, it->rank, it->size);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  it->body(group, it->rank);
  TD_DO(td_group_barrier(group, NULL)); /* nobody goes while another still needs it */
  td_group_free(group);
  return NULL;
}

/* Runs a body on several ranks, each a thread with a group of its own. */
static inline void in_ranks(int size, group_body body) {
  group_needed();
  const char *url = group_url();
  group_rank ranks[8];
  pthread_t threads[8];
  for (int i = 0; i < size; i++) {
    ranks[i] = (group_rank){url, i, size, body};
    if (i > 0) TD_CHECK(pthread_create(&threads[i], NULL, group_run, &ranks[i]) == 0);
  }
  group_run(&ranks[0]);
  for (int i = 1; i < size; i++) pthread_join(threads[i], NULL);
}

/* {"b": float32 [2, 3] of first…, "a": int64 [2] of first…, "n": {"c": float64 [2, 0]}} of batch [2] */
static inline td_tensordict *group_dict(int64_t first) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(2, 3)));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "c"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(2, 0)));
  return td;
}

static inline td_group_call_options group_with(td_group_flags flags) {
  td_group_call_options options = TD_GROUP_CALL_OPTIONS_INIT;
  options.flags = flags;
  return options;
}

/* A limit that a test waits for. */
static inline td_group_call_options group_soon(void) {
  td_group_call_options options = TD_GROUP_CALL_OPTIONS_INIT;
  options.timeout_ms = group_soon_ms;
  return options;
}

/* Waits for a future, and frees it. */
static inline td_tensordict *group_result(td_future *future) {
  td_tensordict *td = NULL;
  TD_DO(td_future_result(future, &td));
  td_future_free(future);
  return td;
}

static inline void group_check_a(td_tensordict *td, double first, double second) {
  td_tensor *a = td_take(td, TD_KEY("a"));
  TD_CHECK_VALUES(a, first, second);
  td_tensor_free(a);
}

/* Checks and frees. */
static inline void group_check(td_tensordict *td, int64_t first) {
  td_tensordict *want = group_dict(first);
  TD_CHECK_EQUAL(td, want);
  td_free(want);
  td_free(td);
}

#endif
