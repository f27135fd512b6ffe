/* One rank of a process group of two, the other of which is groups.py: group_rank RANK URL
 *
 * rank_rust and rank_csharp do the same steps. Does the other half of each step there, in the same order, and compares what comes with what Python should send. Ends with
 * 77 in a build without process groups.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensordict/td.h"

static const char *step;

static void must(td_status status) {
  if (status == TD_OK) return;
  fprintf(stderr, "group_rank: %s: %s: %s\n", step, td_last_error_function(),
          td_last_error_message());
  exit(1);
}

static void put(td_tensordict *td, const char *const *path, size_t path_len, const void *data,
                size_t bytes, const int64_t *sizes, size_t dims, td_dtype dtype) {
  td_tensor *tensor;
  must(td_tensor_from_data(data, bytes, sizes, dims, dtype, &tensor));
  must(td_set(td, path, path_len, tensor));
  td_tensor_free(tensor);
}

/* As values() of groups.py, with numbers from `first` on. */
static td_tensordict *values(int first) {
  td_tensordict *td;
  float b[6];
  for (int i = 0; i < 6; i++) b[i] = (float)(first + i) / 4;
  const int64_t a[2] = {first, -first};
  const uint8_t truths[2] = {(uint8_t)(first % 2), 1}, bytes[4] = {(uint8_t)first, 0, 255, 7};
  must(td_create((const int64_t[]){2}, 1, TD_DEVICE_NONE, -1, &td));
  put(td, TD_KEY("b"), b, sizeof b, (const int64_t[]){2, 3}, 2, TD_DTYPE_FLOAT32);
  put(td, TD_KEY("a"), a, sizeof a, (const int64_t[]){2}, 1, TD_DTYPE_INT64);
  put(td, TD_KEY("n", "u"), bytes, sizeof bytes, (const int64_t[]){2, 2}, 2, TD_DTYPE_UINT8);
  put(td, TD_KEY("n", "m", "t"), truths, sizeof truths, (const int64_t[]){2}, 1, TD_DTYPE_BOOL);
  put(td, TD_KEY("none"), NULL, 0, (const int64_t[]){2, 0}, 2, TD_DTYPE_FLOAT64);
  return td;
}

static td_tensordict *with_text(int first) {
  td_tensordict *td = values(first);
  must(td_set_non_tensor_json(td, TD_KEY("text"), "\"made by a rank\""));
  return td;
}

/* Frees both. */
static void same(td_tensordict *got, td_tensordict *want) {
  int32_t equal = 0;
  must(td_equal(got, want, &equal));
  if (!equal) {
    char text[4096];
    size_t length;
    must(td_to_string(got, text, sizeof text, &length));
    fprintf(stderr, "group_rank: %s: other values than expected in\n%s\n", step, text);
    exit(1);
  }
  td_free(got);
  td_free(want);
}

static td_group_call_options with(td_group_flags flags, int32_t init_tag) {
  td_group_call_options options = TD_GROUP_CALL_OPTIONS_INIT;
  options.flags = flags;
  options.init_tag = init_tag;
  return options;
}

static void send(td_group *group, td_tensordict *td, td_group_flags flags) {
  const td_group_call_options options = with(flags, 0);
  int32_t rank, size;
  must(td_group_rank(group, &rank, &size));
  must(td_group_send(group, td, 1 - rank, &options));
  td_free(td);
}

static td_tensordict *received(td_group *group, td_tensordict *into, td_group_flags flags) {
  const td_group_call_options options = with(flags, 0);
  int32_t rank, size;
  must(td_group_rank(group, &rank, &size));
  must(td_group_recv(group, into, 1 - rank, &options));
  return into;
}

static td_tensordict *lazy(int first, int second) {
  td_tensordict *parts[2] = {values(first), values(second)}, *stack, *td;
  must(td_lazy_stack((const td_tensordict *const *)parts, 2, 0, &stack));
  must(td_create(NULL, 0, TD_DEVICE_NONE, -1, &td));
  must(td_set_dict(td, TD_KEY("z"), stack));
  td_free(stack);
  td_free(parts[0]);
  td_free(parts[1]);
  return td;
}

static td_tensordict *future_result(td_future *future) {
  td_tensordict *td;
  must(td_future_result(future, &td));
  td_future_free(future);
  return td;
}

static void at_once(td_group *group, int other) {
  const td_group_call_options in = with(0, 50), out = with(0, 70);
  td_tensordict *into = values(0), *td = values(3);
  td_future *came, *sent;
  must(td_group_irecv(group, into, other, &in, &came));
  must(td_group_isend(group, td, other, &out, &sent));
  td_free(future_result(sent));
  td_free(future_result(came));
  td_free(td);
  same(into, values(4));
}

static void with_structure(td_group *group, int rank) {
  td_tensordict *td, *own = with_text(8);
  step = "from_remote_init";
  must(td_group_from_remote_init(group, 1 - rank, NULL, &td));
  same(td, with_text(7));
  step = "init_remote";
  must(td_group_init_remote(group, own, 1 - rank, NULL));
  step = "broadcast";
  must(td_group_broadcast(group, NULL, 1 - rank, NULL, &td));
  same(td, with_text(9));
  must(td_group_broadcast(group, own, rank, NULL, &td));
  same(td, own);
  step = "all_gather";
  td_tensordict *all[2], *parts[2] = {values(30), with_text(31)};
  size_t count;
  own = with_text(10 + rank);
  must(td_group_all_gather(group, own, NULL, all, 2, &count));
  td_free(own);
  same(all[rank], with_text(10 + rank));
  same(all[1 - rank], values(11 - rank));
  step = "scatter";
  must(td_group_scatter(group, NULL, 0, 1 - rank, NULL, &td));
  same(td, rank == 0 ? values(20) : with_text(21));
  must(td_group_scatter(group, (const td_tensordict *const *)parts, 2, rank, NULL, &td));
  same(td, parts[rank]);
  td_free(parts[1 - rank]);
}

static td_tensordict *numbers(int value) {
  td_tensordict *td;
  const float x[2] = {(float)value, (float)-value};
  const int64_t i = 10 * value;
  must(td_create(NULL, 0, TD_DEVICE_NONE, -1, &td));
  put(td, TD_KEY("x"), x, sizeof x, (const int64_t[]){2}, 1, TD_DTYPE_FLOAT32);
  put(td, TD_KEY("n", "i"), &i, sizeof i, NULL, 0, TD_DTYPE_INT64);
  return td;
}

static void reduce_all(td_group *group, int rank) {
  step = "all_reduce";
  td_tensordict *td, *sum = numbers(2);
  td_future *summed;
  must(td_group_iall_reduce(group, sum, TD_GROUP_OP_SUM, NULL, &summed));
  td = numbers(2);
  must(td_group_all_reduce(group, td, TD_GROUP_OP_PRODUCT, NULL)); /* its turn is after the sum */
  td_free(future_result(summed));
  same(sum, numbers(5));
  td_tensor *x;
  float got[2];
  must(td_get(td, TD_KEY("x"), &x));
  must(td_tensor_copy_to(x, got, sizeof got));
  td_tensor_free(x);
  td_free(td);
  if (got[0] != 6 || got[1] != 6) must(TD_ERR_INTERNAL);
  step = "reduce";
  td = numbers(2);
  must(td_group_reduce(group, td, rank, TD_GROUP_OP_SUM, NULL));
  same(td, numbers(5));
  td = numbers(2);
  must(td_group_reduce(group, td, 1 - rank, TD_GROUP_OP_SUM, NULL));
  same(td, numbers(2));
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const int rank = atoi(argv[1]);
  td_group_options options = TD_GROUP_OPTIONS_INIT;
  options.url = argv[2];
  options.rank = rank;
  options.world_size = 2;
  options.timeout_ms = 600000;
  td_group *group, *part;
  step = "open";
  const td_status opened = td_group_open(&options, &group);
  if (opened == TD_ERR_UNSUPPORTED) return 77;
  must(opened);

  step = "recv";
  same(received(group, values(0), 0), values(1));
  step = "send";
  send(group, values(2), 0);
  step = "isend and irecv";
  at_once(group, 1 - rank);
  step = "recv of a lazy stack";
  same(received(group, lazy(0, 0), 0), lazy(11, 12));
  send(group, lazy(13, 14), 0);
  step = "recv consolidated";
  same(received(group, values(0), TD_GROUP_CONSOLIDATED), values(5));
  send(group, values(6), TD_GROUP_CONSOLIDATED);
  with_structure(group, rank);
  reduce_all(group, rank);
  step = "split";
  must(td_group_split(group, (const int32_t[]){0, 1}, 2, NULL, &part));
  send(part, values(15), 0);
  td_tensordict *td, *own = values(16);
  must(td_group_broadcast(part, own, rank, NULL, &td));
  td_free(own);
  td_free(td);
  td_group_free(part);
  step = "barrier";
  must(td_group_barrier(group, NULL));

  step = "a rank that is killed";
  td_status status = td_group_recv_message(group, 1 - rank, NULL, NULL, &td);
  if (status != TD_ERR_IO) must(status == TD_OK ? TD_ERR_INTERNAL : status);
  td_group_free(group);
  if (td_debug_live_handles() != 0) return 1;
  return 0;
}
