/* Process groups: how ranks meet, and what they send each other. Each rank is a thread. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "td_group_test.h"

static void ask(td_group *group, int rank) {
  int32_t got = -1, size = -1;
  TD_DO(td_group_rank(group, &got, &size));
  TD_CHECK_INT(got, rank);
  TD_CHECK_INT(size, 3);
  TD_DO(td_group_barrier(group, NULL));
}

TD_TEST(ranks_meet) { in_ranks(3, ask); }

static void over_tcp(td_group *group, int rank) {
  (void)rank;
  TD_DO(td_group_barrier(group, NULL));
}

TD_TEST(one_rank_over_tcp) {
  group_needed();
  td_group_options options = group_options("tcp://127.0.0.1:0", 0, 1); /* any port that is free */
  td_group *group = NULL;
  TD_DO(td_group_open(&options, &group));
  over_tcp(group, 0);
}

/* A port that nobody has, for a moment. */
static int free_port(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  const int listens = socket(AF_INET, SOCK_STREAM, 0);
  TD_CHECK(bind(listens, (struct sockaddr *)&address, sizeof address) == 0);
  TD_CHECK(getsockname(listens, (struct sockaddr *)&address, &length) == 0);
  close(listens);
  return ntohs(address.sin_port);
}

typedef struct meeting {
  const char *url;
  td_group *groups[2];
} meeting;

static void *open_both(void *of, int rank) {
  meeting *it = of;
  for (int i = 0; i < 2; i++) {
    td_group_options options = group_options(it->url, rank, 2);
    options.name = i == 0 ? "one" : "two";
    TD_DO(td_group_open(&options, &it->groups[i]));
  }
  for (int i = 1; i >= 0; i--) TD_DO(td_group_barrier(it->groups[i], NULL));
  for (int i = 0; i < 2; i++) td_group_free(it->groups[i]);
  return NULL;
}

static void *as_rank_1(void *of) { return open_both(of, 1); }

TD_TEST(two_names_at_one_port) {
  group_needed();
  char url[64];
  snprintf(url, sizeof url, "tcp://127.0.0.1:%d", free_port());
  meeting zero = {url, {NULL, NULL}}, one = zero;
  pthread_t other;
  TD_CHECK(pthread_create(&other, NULL, as_rank_1, &one) == 0);
  open_both(&zero, 0);
  pthread_join(other, NULL);
}

static void leaf_by_leaf(td_group *group, int rank) {
  for (int form = 0; form < 2; form++) {
    td_group_call_options options = group_with(form == 0 ? 0 : TD_GROUP_CONSOLIDATED);
    options.init_tag = 100 * form + 7;
    if (rank == 0) {
      td_tensordict *td = group_dict(5);
      TD_DO(td_group_send(group, td, 1, &options));
      td_free(td);
    } else {
      td_tensordict *td = group_dict(0);
      TD_DO(td_lock(td));
      TD_DO(td_group_recv(group, td, 0, &options));
      group_check(td, 5);
    }
  }
}

TD_TEST(send_and_receive) { in_ranks(2, leaf_by_leaf); }

/* A column of a tensor, elements of a lazy stack, and a text that stays behind. */
static void other_forms(td_group *group, int rank) {
  td_tensordict *parts[2] = {group_dict(10 * (1 + rank)), group_dict(20 * (1 + rank))},
                *stack = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const *)parts, 2, 0, &stack));
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_put_dict(td, TD_KEY("z"), stack);
  td_tensor *wide = td_arange(TD_DTYPE_INT64, rank, TD_SIZES(3, 2)), *turned = NULL;
  TD_DO(td_tensor_index(wide, TD_AT(TD_I_ALL, TD_I_INT(0)), &turned));
  td_tensor_free(wide);
  td_put(td, TD_KEY("t"), turned);
  TD_DO(td_set_non_tensor_json(td, TD_KEY("text"), rank == 0 ? "\"zero\"" : "\"one\""));
  if (rank == 0) {
    TD_DO(td_group_send(group, td, 1, NULL));
  } else {
    TD_DO(td_group_recv(group, td, 0, NULL));
    td_tensor *t = td_take(td, TD_KEY("t"));
    TD_CHECK_VALUES(t, 0, 2, 4);
    td_tensor_free(t);
    group_check(parts[0], 10);
    group_check(parts[1], 20);
    parts[0] = parts[1] = NULL;
  }
  td_free(parts[0]);
  td_free(parts[1]);
  td_free(td);
}

TD_TEST(strided_lazy_and_plain) { in_ranks(2, other_forms); }

static void both_ways(td_group *group, int rank) {
  td_tensordict *out = group_dict(rank + 1), *into = group_dict(0);
  td_future *sent = NULL, *came = NULL;
  TD_DO(td_group_irecv(group, into, 1 - rank, NULL, &came));
  TD_DO(td_group_isend(group, out, 1 - rank, NULL, &sent));
  td_free(group_result(came));
  td_free(group_result(sent));
  group_check(into, 2 - rank);
  group_check(out, rank + 1);
}

TD_TEST(asynchronous_both_ways) { in_ranks(2, both_ways); }

static void messages(td_group *group, int rank) {
  if (rank != 0) {
    td_tensordict *td = group_dict(rank);
    TD_DO(td_set_non_tensor_json(td, TD_KEY("from"), "[1, \"two\"]"));
    TD_DO(td_group_send_message(group, td, 0, NULL));
    td_future *sent = NULL;
    TD_DO(td_group_isend_message(group, td, 0, NULL, &sent));
    td_free(group_result(sent));
    td_free(td);
    return;
  }
  int sum = 0;
  for (int i = 0; i < 2; i++) {
    int32_t source = 0;
    td_tensordict *td = NULL;
    TD_DO(td_group_recv_message(group, -1, NULL, &source, &td));
    sum += source;
    char text[64];
    size_t length = 0;
    TD_DO(td_get_non_tensor_json(td, TD_KEY("from"), text, sizeof text, &length));
    TD_CHECK_SAME_TEXT(text, "[1,\"two\"]");
    TD_DO(td_remove(td, TD_KEY("from")));
    group_check(td, source);
    td_future *next = NULL;
    TD_DO(td_group_irecv_message(group, source, NULL, &next));
    td_free(group_result(next));
  }
  TD_CHECK_INT(sum, 3);
}

TD_TEST(messages_from_any_rank) { in_ranks(3, messages); }

static void remote(td_group *group, int rank) {
  td_tensordict *td = NULL;
  if (rank == 0) {
    td = group_dict(3);
    TD_DO(td_group_init_remote(group, td, 1, NULL));
    TD_DO(td_group_init_remote(group, td, 1, NULL));
  } else {
    TD_DO(td_group_from_remote_init(group, 0, NULL, &td));
    group_check(td, 3);
    TD_DO(td_group_from_remote_init(group, 0, NULL, &td));
  }
  group_check(td, 3);
}

TD_TEST(structure_as_python_sends_it) { in_ranks(2, remote); }

static void from_one(td_group *group, int rank) {
  td_tensordict *own = rank == 2 ? group_dict(9) : NULL, *td = NULL;
  TD_DO(td_group_broadcast(group, own, 2, NULL, &td));
  td_free(own);
  group_check(td, 9);

  td_tensordict *parts[3] = {group_dict(1), td_empty(TD_NO_SIZES), group_dict(3)};
  TD_DO(td_group_scatter(group, (const td_tensordict *const *)parts, rank == 0 ? 3 : 0, 0, NULL,
                         &td));
  if (rank == 1) {
    TD_CHECK_NO_BATCH(td);
    td_free(td);
  } else {
    group_check(td, rank + 1);
  }
  for (int i = 0; i < 3; i++) td_free(parts[i]);
}

TD_TEST(broadcast_and_scatter) { in_ranks(3, from_one); }

static void to_all(td_group *group, int rank) {
  td_tensordict *own = rank == 1 ? td_empty(TD_SIZES(7)) : group_dict(rank), *all[4];
  size_t count = 0;
  TD_EXPECT(td_group_all_gather(group, own, NULL, all, 2, &count), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(count, 3);
  TD_DO(td_group_all_gather(group, own, NULL, all, 4, &count));
  TD_CHECK_INT(count, 3);
  group_check(all[0], 0);
  TD_CHECK_BATCH(all[1], 7);
  td_free(all[1]);
  group_check(all[2], 2);
  td_free(own);

  own = group_dict(rank);
  td_tensordict *stack = TD_POISON;
  TD_DO(td_group_gather_and_stack(group, own, 1, NULL, &stack));
  td_free(own);
  TD_CHECK((stack != NULL) == (rank == 1));
  if (stack == NULL) return;
  TD_CHECK_BATCH(stack, 3, 2);
  td_tensor *a = td_take(stack, TD_KEY("a"));
  TD_CHECK_VALUES(a, 0, 1, 1, 2, 2, 3);
  td_tensor_free(a);
  td_free(stack);
}

TD_TEST(gathers) { in_ranks(3, to_all); }

static void reductions(td_group *group, int rank) {
  static const double want[][2] = {{6, 9}, {0, 0}, {6, 24}, {1, 2}, {3, 4}};
  for (td_group_op op = TD_GROUP_OP_SUM; op <= TD_GROUP_OP_MAX; op++) {
    for (int form = 0; form < 5; form++) {
      td_tensordict *td = group_dict(rank + 1);
      td_group_call_options options = group_with(form == 1 ? TD_GROUP_FUSED : 0);
      if (form > 2) options.bucket_bytes = form == 3 ? 1000 : 1;
      const td_status wanted = op == TD_GROUP_OP_AVERAGE ? TD_ERR_DTYPE : TD_OK;
      if (form % 2 == 0 && form != 0) {
        TD_EXPECT(td_group_reduce(group, td, 1, op, &options), wanted);
      } else {
        TD_EXPECT(td_group_all_reduce(group, td, op, &options), wanted);
      }
      if (wanted != TD_OK || (form % 2 == 0 && form != 0 && rank != 1)) {
        group_check(td, rank + 1);
        continue;
      }
      group_check_a(td, want[op][0], want[op][1]);
      td_free(td);
    }
  }
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, rank, TD_SIZES(2)));
  TD_DO(td_group_all_reduce(group, td, TD_GROUP_OP_AVERAGE, NULL));
  group_check_a(td, 1, 2);
  /* Other keys: fused says so, and the group goes on. */
  if (rank == 1) td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(5)));
  const td_group_call_options fused = group_with(TD_GROUP_FUSED);
  TD_EXPECT(td_group_all_reduce(group, td, TD_GROUP_OP_SUM, &fused), TD_ERR_SHAPE);
  td_group_call_options both = fused;
  both.bucket_bytes = 8;
  TD_EXPECT(td_group_all_reduce(group, td, TD_GROUP_OP_SUM, &both), TD_ERR_INVALID_ARGUMENT);
  group_check_a(td, 1, 2);
  td_free(td);
}

TD_TEST(reduced_values) { in_ranks(3, reductions); }

/* Two tensors fit in a buffer, the third does not. */
static void buckets(td_group *group, int rank) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *turned = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, rank, TD_SIZES(2, 3)));
  TD_DO(td_unsqueeze(td, 0, &turned));
  td_put(turned, TD_KEY("b"), td_arange(TD_DTYPE_FLOAT32, rank, TD_SIZES(1, 2)));
  td_put(turned, TD_KEY("c"), td_arange(TD_DTYPE_INT32, rank, TD_SIZES(1, 2)));
  td_put(turned, TD_KEY("d"), td_arange(TD_DTYPE_FLOAT32, rank, TD_SIZES(1, 3)));
  td_group_call_options options = group_with(0);
  options.bucket_bytes = 32;
  TD_DO(td_group_all_reduce(group, turned, TD_GROUP_OP_SUM, &options));
  TD_CHECK_ENTRY(turned, TD_KEY("a"), TD_SIZES(1, 2, 3), TD_VALUES(1, 3, 5, 7, 9, 11));
  TD_CHECK_ENTRY(turned, TD_KEY("b"), TD_SIZES(1, 2), TD_VALUES(1, 3));
  TD_CHECK_ENTRY(turned, TD_KEY("c"), TD_SIZES(1, 2), TD_VALUES(1, 3));
  TD_CHECK_ENTRY(turned, TD_KEY("d"), TD_SIZES(1, 3), TD_VALUES(1, 3, 5));
  TD_DO(td_group_reduce(group, turned, 0, TD_GROUP_OP_MAX, &options));
  td_free(turned);
  td_free(td);
}

TD_TEST(reductions_in_buckets) { in_ranks(2, buckets); }

static void parts(td_group *group, int rank) {
  td_group *part = TD_POISON;
  TD_DO(td_group_split(group, (const int32_t[]){2, 0}, 2, NULL, &part));
  TD_CHECK((part == NULL) == (rank == 1));
  if (part == NULL) return;
  int32_t number = -1, size = -1;
  TD_DO(td_group_rank(part, &number, &size));
  TD_CHECK_INT(number, rank == 2 ? 1 : 0); /* they keep their order */
  TD_CHECK_INT(size, 2);
  td_tensordict *own = rank == 2 ? group_dict(4) : NULL, *td = NULL;
  TD_DO(td_group_broadcast(part, own, 1, NULL, &td));
  td_free(own);
  group_check(td, 4);
  td_group_free(part);
}

TD_TEST(a_group_of_some_ranks) { in_ranks(3, parts); }
