/* Calls of all ranks that give a future: the values, the order, and what is left when they fail. */
#include <signal.h>

#include "td_group_test.h"
#include "td_process.h"

enum { many = 6 };

/* A future that fails, and why. */
static void fails(td_future *future, td_status status, const char *text) {
  td_tensordict *td = NULL;
  TD_EXPECT_NULL(td_future_result(future, &td), status, td);
  TD_CHECK_TEXT(td_last_error_message(), text);
  td_future_free(future);
}

static int32_t is_done(td_future *future) {
  int32_t done = -1;
  TD_DO(td_future_wait(future, 0, &done));
  return done;
}

/* Lets a rank begin that waits in hold(). */
static void let(td_group *group, int rank) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  TD_DO(td_group_send_message(group, td, rank, NULL));
  td_free(td);
}

static void hold(td_group *group, int rank) {
  td_tensordict *td = NULL;
  TD_DO(td_group_recv_message(group, rank, NULL, NULL, &td));
  td_free(td);
}

/* Reductions on their way, and others between them: messages, a barrier. */
static void in_flight(td_group *group, int rank) {
  td_tensordict *own[many], *message = group_dict(100 + rank);
  td_future *futures[many], *sent = NULL, *came = NULL;
  TD_DO(td_group_irecv_message(group, (rank + 2) % 3, NULL, &came));
  for (int i = 0; i < many; i++) {
    const td_group_call_options options = group_with(i % 2 == 0 ? 0 : TD_GROUP_FUSED);
    own[i] = group_dict(10 * i + rank);
    TD_DO(td_group_iall_reduce(group, own[i], i < 3 ? TD_GROUP_OP_SUM : TD_GROUP_OP_MAX, &options,
                               &futures[i]));
    if (i == 2) TD_DO(td_group_isend_message(group, message, (rank + 1) % 3, NULL, &sent));
  }
  TD_DO(td_group_barrier(group, NULL)); /* after all of them */
  group_check(group_result(came), 100 + (rank + 2) % 3);
  td_free(group_result(sent));
  td_free(message);
  for (int i = many - 1; i >= 0; i--) {
    td_tensordict *td = group_result(futures[i]);
    const double first = i < 3 ? 30 * i + 3 : 10 * i + 2;
    group_check_a(own[i], first, i < 3 ? first + 3 : first + 1);
    TD_DO(td_remove(td, TD_KEY("b"))); /* it is the same dictionary */
    td_entry_kind kind = TD_ENTRY_TENSOR;
    TD_DO(td_get_kind(own[i], TD_KEY("b"), &kind));
    TD_CHECK_INT(kind, TD_ENTRY_NONE);
    td_free(td);
    td_free(own[i]);
  }
}

TD_TEST(several_at_once) { in_ranks(3, in_flight); }

/* One rank after the other waits in each call, where the others go on: only the order joins them. */
static void in_order(td_group *group, int rank) {
  td_tensordict *td = NULL, *own[3], *mean = td_empty(TD_NO_SIZES), *wide[3];
  td_future *futures[4] = {NULL};
  for (int i = 0; i < 3; i++) {
    own[i] = group_dict(10 * i + rank);
    wide[i] = group_dict(1000 * rank + i);
  }
  td_put(mean, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, rank, TD_SIZES(2)));
  if (rank == 0) {
    TD_DO(td_group_all_reduce(group, own[0], TD_GROUP_OP_SUM, NULL));
    TD_DO(td_group_ireduce(group, own[1], 1, TD_GROUP_OP_PRODUCT, NULL, &futures[1]));
  } else {
    TD_DO(td_group_iall_reduce(group, own[0], TD_GROUP_OP_SUM, NULL, &futures[0]));
    if (rank == 1) TD_DO(td_group_reduce(group, own[1], 1, TD_GROUP_OP_PRODUCT, NULL));
    if (rank == 2)
      TD_DO(td_group_ireduce(group, own[1], 1, TD_GROUP_OP_PRODUCT, NULL, &futures[1]));
  }
  TD_DO(td_group_ibroadcast(group, rank == 2 ? own[2] : NULL, 2, NULL, &futures[2]));
  if (rank == 1) {
    TD_DO(td_group_scatter(group, (const td_tensordict *const *)wide, 3, 1, NULL, &td));
  } else {
    TD_DO(td_group_iscatter(group, NULL, 0, 1, NULL, &futures[3]));
  }
  TD_DO(td_group_all_reduce(group, mean, TD_GROUP_OP_AVERAGE, NULL));
  group_check_a(mean, 1, 2);
  group_check(rank == 1 ? td : group_result(futures[3]), 1000 + rank);
  group_check(group_result(futures[2]), 22);
  for (int i = 0; i < 2; i++) {
    if (futures[i] != NULL) td_free(group_result(futures[i]));
  }
  group_check_a(own[0], 3, 6);
  group_check_a(own[1], rank == 1 ? 10 * 11 * 12 : 10 + rank, rank == 1 ? 11 * 12 * 13 : 11 + rank);
  for (int i = 0; i < 3; i++) {
    td_free(own[i]);
    td_free(wide[i]);
  }
  td_free(mean);
}

TD_TEST(in_the_order_of_the_calls) { in_ranks(3, in_order); }

/* A rank alone has its result too. */
TD_TEST(one_rank_alone) {
  group_needed();
  const td_group_options options = group_options(group_url(), 0, 1);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  td_tensordict *td = group_dict(4);
  td_future *futures[4];
  TD_DO(td_group_iall_reduce(group, td, TD_GROUP_OP_SUM, NULL, &futures[0]));
  TD_DO(td_group_ireduce(group, td, 0, TD_GROUP_OP_MIN, NULL, &futures[1]));
  TD_DO(td_group_ibroadcast(group, td, 0, NULL, &futures[2]));
  TD_DO(td_group_iscatter(group, (const td_tensordict *const *)&td, 1, 0, NULL, &futures[3]));
  for (int i = 3; i >= 0; i--) group_check(group_result(futures[i]), 4);
}

/* Rank 0 changes all it gave before another rank has come. */
static void taken_at_the_call(td_group *group, int rank) {
  td_tensordict *td = NULL;
  if (rank == 0) {
    td_tensordict *plain = group_dict(2), *row = NULL, *parts[2] = {NULL, NULL};
    td_future *futures[3];
    TD_DO(td_consolidate(plain, NULL, NULL, &row)); /* lies as it travels */
    for (int i = 0; i < 2; i++) TD_DO(td_consolidate(plain, NULL, NULL, &parts[i]));
    TD_DO(td_group_iall_reduce(group, plain, TD_GROUP_OP_SUM, NULL, &futures[0]));
    TD_DO(td_group_ibroadcast(group, row, 0, NULL, &futures[1]));
    TD_DO(td_group_iscatter(group, (const td_tensordict *const *)parts, 2, 0, NULL, &futures[2]));
    TD_CHECK_INT(is_done(futures[0]) + is_done(futures[1]) + is_done(futures[2]), 0);
    td_tensordict *all[] = {plain, row, parts[0], parts[1]};
    for (int i = 0; i < 4; i++) TD_DO(td_zero(all[i]));
    let(group, 1);
    td_free(group_result(futures[0]));
    group_check_a(plain, 5, 7);
    td = group_result(futures[1]);
    group_check_a(td, 0, 0); /* its own, as it is now */
    td_free(td);
    group_check(group_result(futures[2]), 2);
    for (int i = 0; i < 4; i++) td_free(all[i]);
  } else {
    hold(group, 0);
    td_tensordict *own = group_dict(3);
    TD_DO(td_group_all_reduce(group, own, TD_GROUP_OP_SUM, NULL));
    group_check_a(own, 5, 7);
    td_free(own);
    TD_DO(td_group_broadcast(group, NULL, 0, NULL, &td));
    group_check(td, 2);
    TD_DO(td_group_scatter(group, NULL, 0, 0, NULL, &td));
    group_check(td, 2);
  }
}

TD_TEST(values_are_those_of_the_call) { in_ranks(2, taken_at_the_call); }

/* A dictionary with other keys than at the call is left as it is. */
static void changed_meanwhile(td_group *group, int rank) {
  td_tensordict *td = group_dict(1);
  td_future *future = NULL;
  if (rank == 1) hold(group, 0);
  TD_DO(td_group_iall_reduce(group, td, TD_GROUP_OP_SUM, NULL, &future));
  if (rank == 0) {
    TD_DO(td_remove(td, TD_KEY("b")));
    let(group, 1);
    fails(future, TD_ERR_KEY_NOT_FOUND, "2 leaves now, 3");
    group_check_a(td, 1, 2);
  } else {
    td_free(group_result(future));
    group_check_a(td, 2, 4);
  }
  td_free(td);
}

TD_TEST(other_keys_than_at_the_call) { in_ranks(2, changed_meanwhile); }

static void other_keys(td_group *group, int rank) {
  const td_group_call_options fused = group_with(TD_GROUP_FUSED);
  td_tensordict *td = group_dict(rank), *next = group_dict(rank);
  td_future *futures[2];
  if (rank == 1) td_put(td, TD_KEY("more"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_DO(td_group_iall_reduce(group, td, TD_GROUP_OP_SUM, &fused, &futures[0]));
  TD_DO(td_group_iall_reduce(group, next, TD_GROUP_OP_SUM, &fused, &futures[1]));
  td_free(group_result(futures[1]));
  group_check_a(next, 1, 3);
  fails(futures[0], TD_ERR_SHAPE, "\"more\" of rank 1 is missing on rank 0");
  group_check_a(td, rank, rank + 1);
  td_free(td);
  td_free(next);
}

TD_TEST(other_keys_on_another_rank) { in_ranks(2, other_keys); }

/* Rank 0 gives up one of each: at its limit, by a cancel, by a free. Rank 1 comes later, and all goes on. */
static void given_up(td_group *group, int rank) {
  td_tensordict *td[4], *parts[2] = {group_dict(8), group_dict(9)}, *result = NULL;
  td_future *futures[4];
  for (int i = 0; i < 4; i++) td[i] = group_dict(10 * rank + i);
  if (rank == 0) {
    const td_group_call_options limit = group_soon();
    TD_DO(td_group_iall_reduce(group, td[0], TD_GROUP_OP_SUM, &limit, &futures[0]));
    TD_DO(td_group_ireduce(group, td[1], 0, TD_GROUP_OP_SUM, NULL, &futures[1]));
    TD_DO(td_group_ibroadcast(group, NULL, 1, NULL, &futures[2]));
    TD_DO(td_group_iscatter(group, NULL, 0, 1, NULL, &futures[3]));
    fails(futures[0], TD_ERR_IO, "not all ranks came within 300 ms");
    TD_CHECK_INT(is_done(futures[1]) + is_done(futures[2]) + is_done(futures[3]), 0);
    for (int i = 1; i < 3; i++) TD_DO(td_future_cancel(futures[i]));
    fails(futures[1], TD_ERR_IO, "cancelled");
    fails(futures[2], TD_ERR_IO, "the broadcast was cancelled");
    td_future_free(futures[3]); /* cancels */
    let(group, 1);
  } else {
    hold(group, 0);
    TD_DO(td_group_all_reduce(group, td[0], TD_GROUP_OP_SUM, NULL));
    group_check_a(td[0], 10, 12);
    TD_DO(td_group_ireduce(group, td[1], 0, TD_GROUP_OP_SUM, NULL, &futures[1]));
    td_free(group_result(futures[1]));
    TD_DO(td_group_ibroadcast(group, td[2], 1, NULL, &futures[2]));
    group_check(group_result(futures[2]), 12);
    TD_DO(td_group_scatter(group, (const td_tensordict *const *)parts, 2, 1, NULL, &result));
    group_check(result, 9);
  }
  TD_DO(td_group_iall_reduce(group, td[3], TD_GROUP_OP_SUM, NULL, &futures[3]));
  td_free(group_result(futures[3]));
  group_check_a(td[3], 16, 18);
  for (int i = rank == 0 ? 0 : 1; i < 3; i++)
    group_check_a(td[i], 10 * rank + i, 10 * rank + i + 1);
  for (int i = 0; i < 4; i++) td_free(td[i]);
  for (int i = 0; i < 2; i++) td_free(parts[i]);
}

TD_TEST(what_is_given_up_goes_on_without_its_rank) { in_ranks(2, given_up); }

static void wrong(td_group *group, int rank) {
  td_tensordict *td = group_dict(rank), *list[3] = {td, td, td};
  const td_tensordict *const *parts = (const td_tensordict *const *)list;
  const td_group_call_options fused = group_with(TD_GROUP_FUSED), whole = group_with(4);
  td_future *future = NULL;
  static const int32_t ranks[] = {-1, 2, INT32_MIN, INT32_MAX};
  for (int i = 0; i < 4; i++) {
    TD_EXPECT_NULL(td_group_ireduce(group, td, ranks[i], TD_GROUP_OP_SUM, NULL, &future),
                   TD_ERR_INVALID_ARGUMENT, future);
    TD_CHECK_TEXT(td_last_error_message(), "0 to 1 are valid");
    TD_EXPECT_NULL(td_group_ibroadcast(group, td, ranks[i], NULL, &future), TD_ERR_INVALID_ARGUMENT,
                   future);
    TD_EXPECT_NULL(td_group_iscatter(group, parts, 2, ranks[i], NULL, &future),
                   TD_ERR_INVALID_ARGUMENT, future);
  }
  TD_EXPECT_NULL(td_group_ibroadcast(group, NULL, rank, NULL, &future), TD_ERR_INVALID_ARGUMENT,
                 future);
  TD_CHECK_TEXT(td_last_error_message(), "gave no dictionary");
  TD_EXPECT_NULL(td_group_iscatter(group, parts, 3, rank, NULL, &future), TD_ERR_INVALID_ARGUMENT,
                 future);
  TD_CHECK_TEXT(td_last_error_message(), "3 dictionaries to 2 ranks");
  TD_EXPECT_NULL(td_group_iall_reduce(group, td, 5, NULL, &future), TD_ERR_INVALID_ARGUMENT,
                 future);
  TD_EXPECT_NULL(td_group_iall_reduce(group, td, TD_GROUP_OP_SUM, &whole, &future),
                 TD_ERR_INVALID_ARGUMENT, future);
  TD_EXPECT_NULL(td_group_ireduce(group, td, 0, TD_GROUP_OP_SUM, &fused, &future),
                 TD_ERR_INVALID_ARGUMENT, future);
  TD_EXPECT_NULL(td_group_iall_reduce(group, td, TD_GROUP_OP_AVERAGE, NULL, &future), TD_ERR_DTYPE,
                 future);
  TD_CHECK_TEXT(td_last_error_message(), "\"a\"");
  group_check(td, rank);
}

TD_TEST(wrong_arguments_begin_nothing) { in_ranks(2, wrong); }

/* The group of rank 0 of two; the other one is a process of its own. */
static td_group *beside(const char *url) {
  const td_group_options options = group_options(url, 0, 2);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  return group;
}

static td_group *of_the_other(void) {
  const td_group_options options = group_options(td_role(), 1, 2);
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  return group;
}

TD_TEST(killed_later) {
  td_group *group = of_the_other();
  hold(group, 0);
  raise(SIGKILL);
}

TD_TEST(a_rank_that_is_killed_meanwhile) {
  group_needed();
  const char *url = group_url();
  const int process = td_spawn("killed_later", url);
  td_group *group = beside(url);
  td_tensordict *td[2] = {group_dict(0), group_dict(1)};
  td_future *futures[3], *later = NULL;
  for (int i = 0; i < 2; i++) {
    TD_DO(td_group_iall_reduce(group, td[i], TD_GROUP_OP_SUM, NULL, &futures[i]));
  }
  TD_DO(td_group_ibroadcast(group, NULL, 1, NULL, &futures[2]));
  /* The message that ends it: the answer to its last bytes may be lost with it. */
  td_tensordict *end = td_empty(TD_NO_SIZES);
  const td_status sent = td_group_send_message(group, end, 1, NULL);
  TD_CHECK(sent == TD_OK || sent == TD_ERR_IO);
  td_free(end);
  fails(futures[0], TD_ERR_IO, "");
  for (int i = 1; i < 3; i++) { /* by the group, or by itself: "... all other ranks have ended" */
    td_tensordict *none = NULL;
    TD_EXPECT_NULL(td_future_result(futures[i], &none), TD_ERR_IO, none);
    if (strstr(td_last_error_message(), "all other ranks have ended") == NULL)
      TD_CHECK_TEXT(td_last_error_message(), "closed");
    td_future_free(futures[i]);
  }
  TD_EXPECT_NULL(td_group_iall_reduce(group, td[0], TD_GROUP_OP_SUM, NULL, &later), TD_ERR_IO,
                 later);
  TD_CHECK_TEXT(td_last_error_message(), "closed");
  for (int i = 0; i < 2; i++) group_check(td[i], i);
  td_group_free(group);
  TD_CHECK(!td_join(process));
}

TD_TEST(never_comes) {
  td_group *group = of_the_other();
  td_tensordict *td = NULL;
  TD_EXPECT_NULL(td_group_recv_message(group, 0, NULL, NULL, &td), TD_ERR_IO, td);
}

TD_TEST(a_group_that_is_freed_meanwhile) {
  group_needed();
  const char *url = group_url();
  const int process = td_spawn("never_comes", url);
  td_group *group = beside(url);
  td_tensordict *td[2] = {group_dict(0), group_dict(1)};
  td_future *futures[3];
  for (int i = 0; i < 2; i++) {
    TD_DO(td_group_iall_reduce(group, td[i], TD_GROUP_OP_SUM, NULL, &futures[i]));
  }
  TD_DO(td_group_iscatter(group, NULL, 0, 1, NULL, &futures[2]));
  td_group_free(group);
  for (int i = 0; i < 3; i++) fails(futures[i], TD_ERR_IO, "");
  for (int i = 0; i < 2; i++) group_check(td[i], i);
  TD_CHECK(td_join(process));
}
