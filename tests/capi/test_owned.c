/* What freeing a handle would give back. */
#include "td_values.h"

#define CHECK_OWNED(td, want) TD_CHECK_INT(owned(td), want)
#define CHECK_OWNED_TENSOR(tensor, want) TD_CHECK_INT(owned_tensor(tensor), want)

static int64_t owned(const td_tensordict *td) {
  size_t bytes = 99;
  TD_DO(td_owned_nbytes(td, &bytes));
  return (int64_t)bytes;
}

static int64_t owned_tensor(const td_tensor *tensor) {
  size_t bytes = 99;
  TD_DO(td_tensor_owned_nbytes(tensor, &bytes));
  return (int64_t)bytes;
}

/* {"a": float32 [4,3,2], "n": {"b": int64 [4,3]}}: 96 bytes and 96 bytes */
TD_TEST(what_others_hold_too_is_not_counted) {
  td_tensordict *td = td_sample(), *other = NULL, *nested = NULL;
  CHECK_OWNED(td, 192);
  td_tensor *a = td_take(td, TD_KEY("a"));
  CHECK_OWNED_TENSOR(a, 0);
  CHECK_OWNED(td, 96);
  td_tensor_free(a);
  TD_DO(td_get_dict(td, TD_KEY("n"), &nested));
  CHECK_OWNED(nested, 0);
  CHECK_OWNED(td, 96);
  TD_DO(td_dup(td, &other));
  CHECK_OWNED(other, 0);
  CHECK_OWNED(td, 0);
  td_free(td);
  CHECK_OWNED(other, 96);
  td_free(other);
  CHECK_OWNED(nested, 96);
}

TD_TEST(views_and_copies) {
  td_tensordict *td = td_sample(), *view = NULL, *rows = NULL, *dense = NULL, *copy = NULL;
  td_tensor *positions = td_positions((const int64_t[]){2, 0}, 2);
  TD_DO(td_index(td, TD_AT(TD_I_INT(1)), &view));
  CHECK_OWNED(view, 0);
  CHECK_OWNED(td, 0); /* the view keeps it */
  td_free(view);
  CHECK_OWNED(td, 192);
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(positions)), &rows));
  CHECK_OWNED(rows, 96);
  TD_DO(td_contiguous(rows, &dense));
  CHECK_OWNED(dense, 0);
  td_free(dense);
  TD_DO(td_clone(td, TD_CLONE_SHALLOW, &copy));
  CHECK_OWNED(copy, 0);
  td_free(copy);
  TD_DO(td_clone(td, 0, &copy));
  CHECK_OWNED(copy, 192);
}

TD_TEST(tensors_of_one_buffer) {
  td_tensordict *td = td_sample(), *packed = NULL;
  TD_DO(td_consolidate(td, NULL, NULL, &packed));
  const int64_t all = owned(packed);
  TD_CHECK(all >= 192 && all < 1024);
  td_tensor *a = td_take(packed, TD_KEY("a")); /* keeps the whole buffer */
  CHECK_OWNED(packed, 0);
  CHECK_OWNED_TENSOR(a, 0);
  td_free(packed);
  CHECK_OWNED_TENSOR(a, all);
}

/* A pool keeps the memory of batches to use it again: it is the holder's all the same. */
TD_TEST(batches_of_a_pool) {
  td_tensordict *td = td_empty(TD_SIZES(8)), *batch = NULL, *nested = NULL, *second = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(8, 3)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(8)));
  for (int workers = 0; workers < 2; workers++) {
    td_loader_options options = TD_LOADER_OPTIONS_INIT;
    td_loader *loader = NULL;
    options.rows = 4;
    options.num_workers = workers;
    TD_DO(td_loader_create(td, &options, &loader));
    TD_DO(td_loader_next(loader, &batch));
    CHECK_OWNED(batch, 4 * 3 * 4 + 4 * 8);
    td_tensor *a = td_take(batch, TD_KEY("a"));
    CHECK_OWNED_TENSOR(a, 0);
    CHECK_OWNED(batch, 0); /* its first tensor is somebody else's, too */
    td_tensor_free(a);
    TD_DO(td_get_dict(batch, TD_KEY("n"), &nested));
    CHECK_OWNED(nested, 4 * 8); /* counted once: here, and no longer there */
    CHECK_OWNED(batch, 4 * 3 * 4);
    td_free(nested);
    TD_DO(td_dup(batch, &second));
    CHECK_OWNED(batch, 0);
    td_free(second);
    CHECK_OWNED(batch, 4 * 3 * 4 + 4 * 8);
    td_loader_free(loader);
    CHECK_OWNED(batch, 4 * 3 * 4 + 4 * 8); /* freed now, when the handle is */
    TD_DO(td_dup(batch, &second));
    CHECK_OWNED(batch, 0);
    td_free(second);
    td_free(batch);
  }
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  td_replay *replay = NULL;
  options.capacity = 8;
  options.sampler = TD_REPLAY_SAMPLER_PRIORITIZED;
  TD_DO(td_replay_create(&options, &replay));
  TD_DO(td_replay_extend(replay, td));
  TD_DO(td_replay_sample(replay, 4, &batch));
  CHECK_OWNED(batch, 4 * 3 * 4 + 4 * 8 + 4 * 8 + 4 * 4); /* with "index" and "priority_weight" */
  td_free(batch);
  td_replay_free(replay);
  td_free(td);
}

TD_TEST(memory_of_others) {
  float values[6] = {0};
  td_tensor *tensor = NULL, *made = NULL;
  TD_DO(td_tensor_from_blob(values, (const int64_t[]){2, 3}, NULL, 2, TD_DTYPE_FLOAT32,
                            TD_DEVICE_CPU, -1, NULL, NULL, &tensor));
  CHECK_OWNED_TENSOR(tensor, 0);
  TD_DO(td_tensor_clone(tensor, &made));
  CHECK_OWNED_TENSOR(made, 24);
  td_tensor_free(made);
  TD_DO(td_tensor_zeros(TD_SIZES(1000), TD_DTYPE_FLOAT32, TD_DEVICE_META, -1, &made));
  CHECK_OWNED_TENSOR(made, 0);
  td_tensor_free(made);
  TD_DO(td_tensor_clone(tensor, &made));
  td_tensordict *td = td_empty(TD_SIZES(2));
  CHECK_OWNED(td, 0);
  td_put(td, TD_KEY("x"), tensor);
  CHECK_OWNED(td, 0);
  td_put(td, TD_KEY("n", "y"), made);
  CHECK_OWNED(td, 24);
  TD_DO(td_share_memory(td));
  CHECK_OWNED(td, 0);
  td_free(td);
}

TD_TEST(lazy_stacks_and_nested_tensors) {
  td_tensordict *one = td_sample(), *two = td_sample(), *lazy = NULL, *sub_tensordict = NULL,
                *rows = NULL;
  const td_tensordict *both[] = {one, two};
  TD_DO(td_lazy_stack(both, 2, 0, &lazy));
  CHECK_OWNED(lazy, 0);
  td_tensor *a = td_take(lazy, TD_KEY("a"));
  CHECK_OWNED_TENSOR(a, 192); /* stacked when read */
  td_tensor_free(a);
  td_free(one);
  CHECK_OWNED(lazy, 192);
  td_free(two);
  CHECK_OWNED(lazy, 384);
  TD_DO(td_sub_tensordict(lazy, TD_AT(TD_I_INT(0)), &sub_tensordict));
  CHECK_OWNED(lazy, 0);
  td_free(lazy);
  TD_CHECK(owned(sub_tensordict) >= 192);
  td_free(sub_tensordict);

  td_tensor *parts[] = {td_filled(TD_DTYPE_INT64, 1, TD_SIZES(2)),
                        td_filled(TD_DTYPE_INT64, 2, TD_SIZES(3))};
  TD_DO(td_nested_tensor_from_tensors((const td_tensor *const *)parts, 2, &rows));
  TD_CHECK(owned(rows) >= 5 * 8);
}

TD_TEST(bad_arguments) {
  size_t bytes = 7;
  td_tensordict *td = td_sample();
  TD_EXPECT(td_owned_nbytes(td, NULL), TD_ERR_NULL_ARGUMENT);
  TD_EXPECT(td_owned_nbytes(NULL, &bytes), TD_ERR_NULL_ARGUMENT);
  TD_EXPECT(td_tensor_owned_nbytes(NULL, &bytes), TD_ERR_NULL_ARGUMENT);
}
