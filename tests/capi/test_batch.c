/* Batch size, device and lock: the rules that hold a dictionary together. */
#include "td_values.h"

TD_TEST(entries_begin_with_the_batch_size) {
  td_tensordict *td = td_empty(TD_SIZES(3, 4));
  td_tensor *fits = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3, 4));
  td_tensor *longer = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3, 4, 5));
  td_tensor *shorter = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3));
  td_tensor *other = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3));
  TD_DO(td_set(td, TD_KEY("fits"), fits));
  TD_DO(td_set(td, TD_KEY("longer"), longer));
  TD_EXPECT(td_set(td, TD_KEY("shorter"), shorter), TD_ERR_SHAPE);
  TD_EXPECT(td_set(td, TD_KEY("other"), other), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "[4, 3]");
  TD_CHECK_TEXT(td_last_error_message(), "[3, 4]");
  td_keys *keys = NULL;
  TD_DO(td_keys_of(td, NULL, &keys));
  TD_CHECK_INT(td_keys_len(keys), 2);
}

TD_TEST(create_checks_its_arguments) {
  td_tensordict *td;
  TD_EXPECT_NULL(td_create(TD_SIZES(3, -1), TD_DEVICE_NONE, -1, &td), TD_ERR_SHAPE, td);
  TD_EXPECT_NULL(td_create(NULL, 1, TD_DEVICE_NONE, -1, &td), TD_ERR_NULL_ARGUMENT, td);
  TD_EXPECT_NULL(td_create(TD_SIZES(3), 555, -1, &td), TD_ERR_DEVICE, td);
  if (!td_device_available(TD_DEVICE_CUDA))
    TD_EXPECT_NULL(td_create(TD_SIZES(3), TD_DEVICE_CUDA, 0, &td), TD_ERR_DEVICE, td);
  TD_DO(td_create(TD_SIZES(0), TD_DEVICE_NONE, -1, &td));
  TD_CHECK_BATCH(td, 0);
}

TD_TEST(batch_size_grows_nested_dictionaries) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *n = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3, 4)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3, 4, 5)));
  n = td_take_dict(td, TD_KEY("n"));
  TD_DO(td_set_batch_size(td, TD_SIZES(3, 4)));
  TD_CHECK_BATCH(td, 3, 4);
  TD_CHECK_BATCH(n, 3, 4);
  TD_DO(td_set_batch_size(td, TD_SIZES(3)));
  TD_CHECK_BATCH(td, 3);
  TD_CHECK_BATCH(n, 3, 4); /* none shrinks */
  TD_DO(td_set_batch_size(td, TD_NO_SIZES));
  TD_CHECK_NO_BATCH(td);
}

TD_TEST(batch_size_changes_as_a_whole_or_not_at_all) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *n = NULL;
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3, 4)));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  n = td_take_dict(td, TD_KEY("n"));
  TD_EXPECT(td_set_batch_size(td, TD_SIZES(3, 4)), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "a");
  TD_CHECK_BATCH(td, 3);
  TD_CHECK_BATCH(n, 3);
  TD_EXPECT(td_set_batch_size(td, TD_SIZES(4)), TD_ERR_SHAPE);
  TD_EXPECT(td_set_batch_size(td, TD_SIZES(-3)), TD_ERR_SHAPE);
  TD_EXPECT(td_set_batch_size(td, NULL, 1), TD_ERR_NULL_ARGUMENT);
  TD_CHECK_BATCH(td, 3);
  TD_DO(td_lock(td));
  TD_DO(td_set_batch_size(td, TD_NO_SIZES)); /* allowed when locked */
  TD_CHECK_NO_BATCH(td);
}

TD_TEST(batch_size_needs_room) {
  td_tensordict *td = td_empty(TD_SIZES(3, 4));
  int64_t sizes[1] = {-7};
  size_t dims = 0;
  TD_EXPECT(td_batch_size(td, sizes, 1, &dims), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(dims, 2);
  TD_CHECK_INT(sizes[0], -7);
  TD_DO(td_batch_size(td, NULL, 0, &dims));
  TD_CHECK_INT(dims, 2);
}

static void check_device(const td_tensordict *td, td_device_type want) {
  td_device_type device = 99;
  int32_t device_index = 99;
  TD_DO(td_device(td, &device, &device_index));
  TD_CHECK_INT(device, want);
  TD_CHECK_INT(device_index, -1);
}

static void check_tensor_device(const td_tensordict *td, const char *const *path, size_t path_len,
                                td_device_type want) {
  td_tensor *tensor = td_take(td, path, path_len);
  td_device_type device = 99;
  int32_t device_index = 99;
  TD_DO(td_tensor_device(tensor, &device, &device_index));
  TD_CHECK_INT(device, want);
  td_tensor_free(tensor);
}

TD_TEST(a_device_moves_what_is_set) {
  td_tensordict *td = NULL, *entry = td_sample(), *n = NULL;
  TD_DO(td_create(TD_SIZES(4, 3), TD_DEVICE_META, -1, &td));
  check_device(td, TD_DEVICE_META);
  td_put(td, TD_KEY("t"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 3)));
  check_tensor_device(td, TD_KEY("t"), TD_DEVICE_META);
  td_put(td, TD_KEY("x", "y"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 3)));
  check_tensor_device(td, TD_KEY("x", "y"), TD_DEVICE_META);
  n = td_take_dict(td, TD_KEY("x"));
  check_device(n, TD_DEVICE_META);
  td_free(n);

  TD_DO(td_set_dict(td, TD_KEY("sub"), entry));
  check_tensor_device(td, TD_KEY("sub", "n", "b"), TD_DEVICE_META);
  check_tensor_device(entry, TD_KEY("n", "b"), TD_DEVICE_CPU); /* the original stays */
  check_device(entry, TD_DEVICE_NONE);

  TD_DO(td_lock(td));
  TD_DO(td_clear_device(td)); /* allowed when locked */
  check_device(td, TD_DEVICE_NONE);
  n = td_take_dict(td, TD_KEY("sub", "n"));
  check_device(n, TD_DEVICE_NONE);
  check_tensor_device(td, TD_KEY("t"), TD_DEVICE_META); /* nothing moved */
}

TD_TEST(without_device_entries_live_anywhere) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_tensor *meta = NULL;
  TD_DO(td_tensor_zeros(TD_SIZES(2), TD_DTYPE_INT8, TD_DEVICE_META, -1, &meta));
  td_put(td, TD_KEY("meta"), meta);
  td_put(td, TD_KEY("cpu"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  check_tensor_device(td, TD_KEY("meta"), TD_DEVICE_META);
  check_tensor_device(td, TD_KEY("cpu"), TD_DEVICE_CPU);
}

TD_TEST(to_device) {
  td_tensordict *td = td_sample(), *cpu = NULL, *same = NULL, *meta = NULL, *none;
  TD_DO(td_to_device(td, TD_DEVICE_CPU, -1, NULL, &cpu));
  check_device(cpu, TD_DEVICE_CPU);
  check_device(td, TD_DEVICE_NONE);
  td_tensor *one = td_take(td, TD_KEY("n", "b")), *other = td_take(cpu, TD_KEY("n", "b"));
  TD_CHECK(td_same_memory(one, other)); /* already there: shared */
  TD_DO(td_to_device(cpu, TD_DEVICE_CPU, -1, NULL, &same));
  td_put(same, TD_KEY("new"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  one = td_take(cpu, TD_KEY("new")); /* the same dictionary */
  TD_DO(td_lock(td));
  td_to_options options = TD_TO_OPTIONS_INIT;
  TD_DO(td_to_device(td, TD_DEVICE_META, -1, &options, &meta));
  check_tensor_device(meta, TD_KEY("a"), TD_DEVICE_META);
  TD_CHECK_FLAG(td_is_locked, meta, 1); /* the lock is kept */
  const td_status status = td_to_device(td, TD_DEVICE_NONE, -1, NULL, &none);
  TD_CHECK(status == TD_ERR_DEVICE || status == TD_ERR_INVALID_ARGUMENT);
  TD_CHECK(none == NULL);
  if (!td_device_available(TD_DEVICE_CUDA)) {
    TD_EXPECT_NULL(td_to_device(td, TD_DEVICE_CUDA, 0, NULL, &none), TD_ERR_DEVICE, none);
    TD_CHECK_TEXT(td_last_error_message(), "cuda");
  }
}

TD_TEST(to_dtype_casts_every_leaf) {
  td_tensordict *td = td_sample(), *halves = NULL, *none;
  td_dtype dtype = TD_DTYPE_OTHER;
  TD_DO(td_lock(td));
  TD_DO(td_to_dtype(td, TD_DTYPE_FLOAT64, &halves));
  td_tensor *b = td_take(halves, TD_KEY("n", "b"));
  TD_DO(td_tensor_dtype(b, &dtype));
  TD_CHECK_INT(dtype, TD_DTYPE_FLOAT64);
  TD_CHECK_VALUES(b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  TD_CHECK_FLAG(td_is_locked, halves, 1);
  TD_EXPECT_NULL(td_to_dtype(td, TD_DTYPE_OTHER, &none), TD_ERR_DTYPE, none);
  TD_EXPECT_NULL(td_to_dtype(td, 321, &none), TD_ERR_DTYPE, none);
}

TD_TEST(on_an_accelerator) {
  if (!td_device_available(TD_DEVICE_CUDA)) td_test_skip("no CUDA device");
  td_tensordict *td = td_sample(), *there = NULL, *back = NULL;
  TD_DO(td_to_device(td, TD_DEVICE_CUDA, -1, NULL, &there));
  check_tensor_device(there, TD_KEY("n", "b"), TD_DEVICE_CUDA);
  TD_DO(td_to_device(there, TD_DEVICE_CPU, -1, NULL, &back));
  TD_CHECK_ENTRY(back, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

/* A nested dictionary does not know who holds it: its batch size can change beneath a parent, which went
 * on reading and writing with its own. */
TD_TEST(a_nested_batch_size_changes_beneath_its_parent) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *inner = NULL, *result = NULL;
  td_put(td, TD_KEY("n", "y"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  td_tensordict *values = NULL;
  TD_DO(td_clone(td, 0, &values));
  inner = td_take_dict(td, TD_KEY("n"));
  TD_DO(td_set_batch_size(inner, TD_NO_SIZES));
  td_put(inner, TD_KEY("y"), td_arange(TD_DTYPE_INT64, 7, TD_SIZES(1)));
  TD_DO(td_set_batch_size(inner, TD_SIZES(1)));
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_INT(3)), &result), TD_ERR_SHAPE, result);
  TD_CHECK_TEXT(td_last_error_message(), "\"n\"");
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_SLICE(0, 1)), &result), TD_ERR_SHAPE, result);
  td_tensor *rows = td_positions((const int64_t[]){3, 2}, 2);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_TENSOR(rows)), &result), TD_ERR_SHAPE, result);
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_ELLIPSIS), values), TD_ERR_SHAPE);
  TD_EXPECT(td_update_at(td, TD_AT(TD_I_SLICE(2, 4)), values, 0), TD_ERR_SHAPE);
  TD_EXPECT_NULL(td_unsqueeze(td, 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_expand(td, TD_SIZES(2, 4), &result), TD_ERR_SHAPE, result);
  td_tensordict *out[4] = {NULL, NULL, NULL, NULL};
  size_t n = 0;
  TD_EXPECT(td_unbind(td, 0, out, 4, &n), TD_ERR_SHAPE);
  const td_tensordict *both[] = {td, td};
  TD_EXPECT_NULL(td_stack(both, 2, 1, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_cat(both, 2, 0, &result), TD_ERR_SHAPE, result);
  td_tensor *one = td_take(td, TD_KEY("n", "y")); /* what asks for no batch dimension goes on */
  TD_CHECK_VALUES(one, 7);
  td_put(inner, TD_KEY("y"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1)));
  TD_EXPECT(td_set_batch_size(td, TD_SIZES(4)), TD_ERR_SHAPE);
  TD_DO(td_set_batch_size(inner, TD_NO_SIZES));
  td_put(inner, TD_KEY("y"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  TD_DO(td_set_batch_size(td, TD_SIZES(4))); /* puts it right */
  TD_CHECK_BATCH(inner, 4);
  TD_DO(td_index(td, TD_AT(TD_I_INT(3)), &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "y"), TD_NO_SIZES, TD_VALUES(3));
}

/* An empty dictionary takes the batch size of the one that asks last. */
TD_TEST(an_empty_dictionary_in_two_parents) {
  td_tensordict *one = td_empty(TD_SIZES(4)), *other = td_empty(TD_NO_SIZES), *result = NULL;
  td_tensordict *inner = td_empty(TD_SIZES(4));
  TD_DO(td_set_dict(one, TD_KEY("n"), inner));
  TD_DO(td_set_dict(other, TD_KEY("n"), inner));
  TD_DO(td_set_batch_size(other, TD_SIZES(2)));
  td_put(inner, TD_KEY("y"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_EXPECT_NULL(td_index(one, TD_AT(TD_I_INT(3)), &result), TD_ERR_SHAPE, result);
  TD_DO(td_index(other, TD_AT(TD_I_INT(1)), &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "y"), TD_NO_SIZES, TD_VALUES(1));
}

TD_TEST(an_element_changes_beneath_a_lazy_stack) {
  td_tensordict *a = td_empty(TD_SIZES(4)), *b = td_empty(TD_SIZES(4)), *lazy = NULL,
                *result = NULL;
  td_put(a, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  td_put(b, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  const td_tensordict *both[] = {a, b};
  TD_DO(td_lazy_stack(both, 2, 0, &lazy));
  TD_DO(td_set_batch_size(a, TD_NO_SIZES));
  td_put(a, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1)));
  TD_EXPECT_NULL(td_index(lazy, TD_AT(TD_I_ALL, TD_I_INT(3)), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_permute(lazy, TD_SIZES(1, 0), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_to_lazy_stack(lazy, 1, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_clone(lazy, 0, &result), TD_ERR_SHAPE, result);
}
