/* Ranks that never come, send too much, are killed, or are told to stop: a status in time, and the group goes on
 * where it can. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "td_group_test.h"
#include "td_process.h"

TD_TEST(wrong_options) {
  group_needed();
  static const struct {
    const char *url;
    int rank, size;
    td_status status;
    const char *text;
  } cases[] = {
      {"http://here:1", 0, 1, TD_ERR_INVALID_ARGUMENT, "tcp://HOST:PORT"},
      {"tcp://here", 0, 1, TD_ERR_INVALID_ARGUMENT, "HOST:PORT"},
      {"tcp://here:99999", 0, 1, TD_ERR_INVALID_ARGUMENT, "99999"},
      {"tcp://here:x", 0, 1, TD_ERR_INVALID_ARGUMENT, "\"x\""},
      {"tcp://here:1?rank=-3&world_size=2", 0, 0, TD_ERR_INVALID_ARGUMENT, "-3"},
      {"tcp://here:1", 0, 0, TD_ERR_INVALID_ARGUMENT, "rank 0 of a group of 0"},
      {"file://", 0, 1, TD_ERR_INVALID_ARGUMENT, "file:///PATH"},
      {"file://relative", 0, 1, TD_ERR_INVALID_ARGUMENT, "file:///PATH"},
      {"file:///x", 2, 2, TD_ERR_INVALID_ARGUMENT, "rank 2 of a group of 2"},
      {"file:///x", -1, 2, TD_ERR_INVALID_ARGUMENT, "rank -1"},
      {"file:///x", 0, -5, TD_ERR_INVALID_ARGUMENT, "-5"},
      {"", 0, 1, TD_ERR_INVALID_ARGUMENT, "env://"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const td_group_options options = group_options(cases[i].url, cases[i].rank, cases[i].size);
    td_group *group = NULL;
    TD_EXPECT_NULL(td_group_open(&options, &group), cases[i].status, group);
    TD_CHECK_TEXT(td_last_error_message(), cases[i].text);
  }
  td_group_options options = group_options("file:///x", 0, 1);
  options.backend = "nccl";
  td_group *group = NULL;
  TD_EXPECT_NULL(td_group_open(&options, &group), TD_ERR_UNSUPPORTED, group);
  unsetenv("MASTER_ADDR");
  TD_EXPECT_NULL(td_group_open(NULL, &group), TD_ERR_INVALID_ARGUMENT, group);
  TD_CHECK_TEXT(td_last_error_message(), "MASTER_ADDR is not set");
}

TD_TEST(a_rank_that_never_comes) {
  group_needed();
  td_group_options options = group_options(group_url(), 0, 2);
  options.timeout_ms = 3000;
  td_group *group = NULL;
  TD_EXPECT_NULL(td_group_open(&options, &group), TD_ERR_IO, group);
  TD_CHECK_TEXT(td_last_error_message(), "missing ranks: 1");
  options.url = "tcp://127.0.0.1:1"; /* nobody listens there */
  options.rank = 1;
  /* libtorch would write to stderr that it waits. */
  const char *file = td_path(td_test_folder(), "stderr");
  const int kept = dup(2), now = open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  dup2(now, 2);
  TD_EXPECT_NULL(td_group_open(&options, &group), TD_ERR_IO, group);
  dup2(kept, 2);
  TD_CHECK_TEXT(td_last_error_message(), "no process listens there; is rank 0 there?");
  TD_CHECK_INT(lseek(now, 0, SEEK_END), 0);
  close(now);
  close(kept);
}

static void wrong_calls(td_group *group, int rank) {
  td_tensordict *td = group_dict(0), *result = NULL;
  td_group_call_options options = TD_GROUP_CALL_OPTIONS_INIT;
  static const int32_t ranks[] = {-2, 2, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) {
    TD_EXPECT(td_group_send(group, td, ranks[i], NULL), TD_ERR_INVALID_ARGUMENT);
    TD_EXPECT(td_group_recv(group, td, ranks[i], NULL), TD_ERR_INVALID_ARGUMENT);
    TD_EXPECT_NULL(td_group_recv_message(group, ranks[i], NULL, NULL, &result),
                   TD_ERR_INVALID_ARGUMENT, result);
    TD_EXPECT_NULL(td_group_broadcast(group, td, ranks[i], NULL, &result), TD_ERR_INVALID_ARGUMENT,
                   result);
    TD_EXPECT(td_group_reduce(group, td, ranks[i], TD_GROUP_OP_SUM, NULL), TD_ERR_INVALID_ARGUMENT);
  }
  TD_EXPECT(td_group_send(group, td, rank, NULL), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_group_recv(group, td, -1, NULL), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_group_all_reduce(group, td, 5, NULL), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT_NULL(td_group_broadcast(group, NULL, rank, NULL, &result), TD_ERR_INVALID_ARGUMENT,
                 result);
  static const int32_t tags[] = {-1, 1 << 28, (1 << 28) - 2, INT32_MAX};
  for (int i = 0; i < 4; i++) {
    options.init_tag = tags[i];
    TD_EXPECT(td_group_send(group, td, 1 - rank, &options), TD_ERR_INVALID_ARGUMENT);
    TD_CHECK_TEXT(td_last_error_message(), "init_tag");
  }
  options.init_tag = 0;
  options.flags = 4;
  TD_EXPECT(td_group_send(group, td, 1 - rank, &options), TD_ERR_INVALID_ARGUMENT);
  options.flags = TD_GROUP_FUSED;
  TD_EXPECT(td_group_send(group, td, 1 - rank, &options), TD_ERR_INVALID_ARGUMENT);
  group_check(td, 0);
}

TD_TEST(calls_with_wrong_ranks_tags_and_flags) { in_ranks(2, wrong_calls); }

TD_TEST(nobody_else_is_there) {
  group_needed();
  const td_group_options options = group_options(group_url(), 0, 1);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  td_tensordict *td = NULL;
  const td_group_call_options limit = group_soon();
  TD_EXPECT_NULL(td_group_recv_message(group, -1, &limit, NULL, &td), TD_ERR_IO, td);
  TD_CHECK_TEXT(td_last_error_message(), "any rank");
}

/* Rank 0 waits in vain three times; afterwards all that was missed arrives, in order. */
static void limits(td_group *group, int rank) {
  const td_group_call_options options = group_soon();
  if (rank == 0) {
    td_tensordict *into = group_dict(0), *td = NULL;
    TD_EXPECT(td_group_recv(group, into, 1, &options), TD_ERR_IO);
    TD_CHECK_TEXT(td_last_error_message(), "rank 1");
    TD_EXPECT_NULL(td_group_recv_message(group, 1, &options, NULL, &td), TD_ERR_IO, td);
    TD_EXPECT_NULL(td_group_recv_message(group, -1, &options, NULL, &td), TD_ERR_BUSY, td);
    td_tensordict *wider = group_dict(0); /* waits for the same message, whatever it holds */
    td_put(wider, TD_KEY("b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 9)));
    TD_EXPECT(td_group_recv(group, wider, 1, &options), TD_ERR_IO);
    td_free(wider);
    TD_EXPECT(td_group_barrier(group, &options), TD_ERR_IO);
    TD_CHECK_TEXT(td_last_error_message(), "not all ranks came");
    group_check(into, 0);
    into = group_dict(0);
    TD_DO(td_group_send(group, into, 1, NULL)); /* now rank 1 begins */
    TD_DO(td_group_recv(group, into, 1, NULL));
    group_check(into, 6);
    TD_DO(td_group_recv_message(group, 1, NULL, NULL, &td));
    group_check(td, 7);
  } else {
    td_tensordict *td = group_dict(6);
    TD_DO(td_group_recv(group, td, 0, NULL));
    td_free(td);
    td = group_dict(6);
    TD_DO(td_group_send(group, td, 0, NULL));
    td_free(td);
    td = group_dict(7);
    TD_DO(td_group_send_message(group, td, 0, NULL));
    td_free(td);
    TD_DO(td_group_barrier(group, NULL)); /* that which rank 0 gave up */
  }
}

TD_TEST(a_limit_leaves_the_group_usable) { in_ranks(2, limits); }

static void cancelled(td_group *group, int rank) {
  td_tensordict *td = NULL;
  if (rank == 0) {
    td_future *future = NULL;
    TD_DO(td_group_irecv_message(group, 1, NULL, &future));
    int32_t done = 1;
    TD_DO(td_future_wait(future, 0, &done));
    TD_CHECK_INT(done, 0);
    TD_DO(td_future_cancel(future));
    TD_EXPECT_NULL(td_future_result(future, &td), TD_ERR_IO, td);
    TD_CHECK_TEXT(td_last_error_message(), "cancelled");
    td_future_free(future);
    TD_DO(td_group_irecv_message(group, 1, NULL, &future));
    td_future_free(future); /* cancels */
    td = group_dict(1);
    TD_DO(td_group_send_message(group, td, 1, NULL));
    td_free(td);
    TD_DO(td_group_recv_message(group, 1, NULL, NULL, &td));
    group_check(td, 2);
  } else {
    TD_DO(td_group_recv_message(group, 0, NULL, NULL, &td));
    group_check(td, 1);
    td = group_dict(2);
    TD_DO(td_group_send_message(group, td, 0, NULL));
    td_free(td);
  }
}

TD_TEST(a_cancel_leaves_the_group_usable) { in_ranks(2, cancelled); }

/* Around the length from which on a message comes in two parts. */
static td_tensordict *with_bytes(int64_t bytes) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_UINT8, 0, TD_SIZES(bytes)));
  return td;
}

static void lengths(td_group *group, int rank) {
  for (int64_t bytes = 32400; bytes < 32800; bytes += 8) {
    td_tensordict *td = NULL, *want = with_bytes(bytes);
    if (rank == 0) {
      TD_DO(td_group_recv_message(group, bytes % 16 == 0 ? 1 : -1, NULL, NULL, &td));
      TD_CHECK_EQUAL(td, want);
      td_free(td);
    } else {
      TD_DO(td_group_send_message(group, want, 0, NULL));
    }
    td_free(want);
  }
}

TD_TEST(messages_of_all_lengths) { in_ranks(2, lengths); }

static void too_long(td_group *group, int rank) {
  td_tensordict *td = NULL;
  td_group_call_options options = group_soon();
  if (rank == 0) {
    options.max_bytes = 16;
    options.timeout_ms = 0;
    for (int i = 0; i < 2; i++) {
      TD_EXPECT_NULL(td_group_recv_message(group, 1, &options, NULL, &td), TD_ERR_CAPACITY, td);
      TD_CHECK_TEXT(td_last_error_message(), "rank 1");
    }
    options.max_bytes = 0;
    options.max_entries = 1;
    TD_EXPECT_NULL(td_group_recv_message(group, 1, &options, NULL, &td), TD_ERR_FORMAT, td);
    TD_DO(td_group_recv_message(group, 1, NULL, NULL, &td));
    group_check(td, 3);
  } else {
    td = with_bytes(100000); /* stays here */
    TD_EXPECT(td_group_send_message(group, td, 0, &options), TD_ERR_IO);
    td_free(td);
    td = group_dict(1);
    TD_DO(td_group_send_message(group, td, 0, NULL)); /* has been taken */
    TD_DO(td_group_send_message(group, td, 0, NULL));
    td_free(td);
    td = group_dict(3);
    TD_DO(td_group_send_message(group, td, 0, NULL));
    td_free(td);
  }
}

TD_TEST(messages_that_are_refused) { in_ranks(2, too_long); }

/* A rank of its own, which is killed. */
TD_TEST(victim) {
  const td_group_options options = group_options(td_role(), 1, 2);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  td_tensordict *td = group_dict(1);
  TD_DO(td_group_send_message(group, td, 0, NULL));
  raise(SIGKILL);
}

TD_TEST(a_rank_that_is_killed) {
  group_needed();
  const char *url = group_url();
  const int process = td_spawn("victim", url);
  const td_group_options options = group_options(url, 0, 2);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  td_tensordict *td = NULL;
  TD_DO(td_group_recv_message(group, 1, NULL, NULL, &td));
  group_check(td, 1);
  td_future *future = NULL;
  td_status begun = td_group_irecv_message(group, 1, NULL, &future);
  if (begun == TD_OK) TD_EXPECT_NULL(td_future_result(future, &td), TD_ERR_IO, td);
  td_future_free(future);
  td = group_dict(0);
  TD_EXPECT(td_group_recv(group, td, 1, NULL), TD_ERR_IO);
  TD_EXPECT(td_group_send(group, td, 1, NULL), TD_ERR_IO);
  TD_EXPECT(td_group_barrier(group, NULL), TD_ERR_IO);
  TD_EXPECT(td_group_all_reduce(group, td, TD_GROUP_OP_SUM, NULL), TD_ERR_IO);
  TD_CHECK_TEXT(td_last_error_message(), "closed");
  group_check(td, 0);
  td_group_free(group);
  TD_CHECK(!td_join(process));
}

/* One rank is killed: who receives from any hears the others, and at the end of his time that nobody is left. */
TD_TEST(any_rank_but_the_killed_one) {
  group_needed();
  const char *url = group_url();
  int processes[2];
  for (int i = 0; i < 2; i++) {
    processes[i] = td_spawn(i == 0 ? "first_of_two" : "second_of_two", url);
  }
  const td_group_options options = group_options(url, 0, 3);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  td_tensordict *td = NULL;
  int32_t source = 0;
  TD_DO(td_group_recv_message(group, 1, NULL, NULL, &td));
  group_check(td, 1);
  TD_CHECK(!td_join(processes[0])); /* now it is gone */
  td = group_dict(0);
  TD_DO(td_group_send_message(group, td, 2, NULL)); /* and the other one begins */
  td_free(td);
  TD_DO(td_group_recv_message(group, -1, NULL, &source, &td));
  TD_CHECK_INT(source, 2);
  group_check(td, 2);
  TD_CHECK(!td_join(processes[1]));
  const td_group_call_options limit = group_soon();
  TD_EXPECT_NULL(td_group_recv_message(group, -1, &limit, NULL, &td), TD_ERR_IO, td);
}

static void send_and_die(int rank) {
  const td_group_options options = group_options(td_role(), rank, 3);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  td_tensordict *td = NULL;
  if (rank == 2) {
    TD_DO(td_group_recv_message(group, 0, NULL, NULL, &td));
    group_check(td, 0);
  }
  td = group_dict(rank);
  TD_DO(td_group_send_message(group, td, 0, NULL));
  raise(SIGKILL);
}

TD_TEST(first_of_two) { send_and_die(1); }
TD_TEST(second_of_two) { send_and_die(2); }

/* Freed while a future waits for one rank or for any: the future fails. */
static void freed_first(int32_t src) {
  td_group *group = NULL;
  const char *url = group_url();
  const int process = td_spawn("sleeper", url);
  const td_group_options options = group_options(url, 0, 2);
  TD_DO(td_group_open(&options, &group));
  td_future *future = NULL;
  TD_DO(td_group_irecv_message(group, src, NULL, &future));
  td_group_call_options options_soon = group_soon();
  TD_EXPECT(td_group_barrier(group, &options_soon), TD_ERR_IO); /* goes on in the background */
  td_group_free(group);
  td_tensordict *td = NULL;
  TD_EXPECT_NULL(td_future_result(future, &td), TD_ERR_IO, td);
  td_future_free(future);
  td_group_free(group); /* ignored */
  TD_EXPECT(td_group_barrier(group, NULL), TD_ERR_BAD_HANDLE);
  TD_CHECK(td_join(process));
}

TD_TEST(a_group_that_is_freed_first) {
  group_needed();
  freed_first(1);
  freed_first(-1);
}

TD_TEST(sleeper) {
  const td_group_options options = group_options(td_role(), 1, 2);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  td_tensordict *td = NULL;
  TD_EXPECT_NULL(td_group_recv_message(group, 0, NULL, NULL, &td), TD_ERR_IO, td);
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* 256 MB, of which the other rank has some when this one is killed. */
static void die_inside(int collective) {
  const td_group_options options = group_options(td_role(), 1, 2);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  td_tensordict *td = with_bytes(1 << 28);
  td_future *future = NULL;
  if (collective) {
    TD_DO(td_group_ibroadcast(group, td, 1, NULL, &future));
  } else {
    TD_DO(td_group_isend_message(group, td, 0, NULL, &future));
  }
  int32_t done = 0;
  TD_DO(td_future_wait(future, 25, &done));
  raise(SIGKILL);
}

TD_TEST(dies_inside_a_message) { die_inside(0); }
TD_TEST(dies_inside_a_broadcast) { die_inside(1); }

static void noticed(const char *victim, int collective) {
  group_needed();
  const char *url = group_url();
  const int process = td_spawn(victim, url);
  const td_group_options options = group_options(url, 0, 2);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  td_tensordict *td = NULL;
  td_future *future = NULL;
  if (collective) {
    TD_DO(td_group_ibroadcast(group, NULL, 1, NULL, &future));
  } else {
    TD_DO(td_group_irecv_message(group, 1, NULL, &future));
  }
  TD_CHECK(!td_join(process));
  /* Noticed, within a second on an idle machine, not waited for until the limit. */
  const int64_t killed = now_ms();
  TD_EXPECT_NULL(td_future_result(future, &td), TD_ERR_IO, td);
  td_future_free(future);
  for (int i = 0; i < 2; i++) { /* and from now on, too */
    TD_EXPECT_NULL(td_group_recv_message(group, 1, NULL, NULL, &td), TD_ERR_IO, td);
    TD_EXPECT_NULL(td_group_broadcast(group, NULL, 1, NULL, &td), TD_ERR_IO, td);
  }
  TD_CHECK(now_ms() - killed < group_patience_ms / 2);
  td_group_free(group);
}

TD_TEST(a_rank_that_is_killed_inside_a_message) { noticed("dies_inside_a_message", 0); }
TD_TEST(a_rank_that_is_killed_inside_a_broadcast) { noticed("dies_inside_a_broadcast", 1); }
