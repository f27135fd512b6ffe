/* Another dtype, another device: all at once, as another dictionary, each tensor for itself, in place. */
#include <string.h>

#include "td_values.h"

static td_dtype dtype_of(const td_tensordict *td, const char *const *path, size_t path_len) {
  td_tensor *tensor = td_take(td, path, path_len);
  td_dtype dtype = TD_DTYPE_OTHER;
  TD_DO(td_tensor_dtype(tensor, &dtype));
  return dtype;
}

static td_device_type device_of(const td_tensordict *td) {
  td_device_type kind = 99;
  int32_t index = 0;
  TD_DO(td_device(td, &kind, &index));
  return kind;
}

static int64_t measured(const td_tensordict *td, td_measure_kind kind) {
  int64_t result = -1;
  TD_DO(td_measure(td, kind, &result));
  return result;
}

TD_TEST(nothing_to_do_gives_the_same_dictionary) {
  td_tensordict *td = td_sample(), *result = NULL;
  TD_DO(td_to(td, NULL, TD_DTYPE_OTHER, TD_DEVICE_NONE, -1, NULL, &result));
  TD_CHECK(td_is_same_dict(td, result));
}

TD_TEST(dtype_and_device_at_once) {
  td_tensordict *td = td_sample(), *result = NULL;
  TD_DO(td_lock(td));
  TD_DO(td_to(td, NULL, TD_DTYPE_FLOAT64, TD_DEVICE_CPU, -1, NULL, &result));
  TD_CHECK_INT(device_of(result), TD_DEVICE_CPU);
  TD_CHECK_INT(device_of(td), TD_DEVICE_NONE);
  TD_CHECK_INT(dtype_of(result, TD_KEY("n", "b")), TD_DTYPE_FLOAT64);
  TD_CHECK_FLAG(td_is_locked, result, 1);
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  TD_DO(td_to(td, NULL, TD_DTYPE_INT8, TD_DEVICE_META, -1, NULL, &result));
  TD_CHECK_INT(device_of(result), TD_DEVICE_META);
  TD_CHECK_INT(dtype_of(result, TD_KEY("a")), TD_DTYPE_INT8);
}

TD_TEST(as_another_dictionary) {
  td_tensordict *td = td_sample(), *like = NULL, *result = NULL;
  TD_DO(td_to(td, NULL, TD_DTYPE_FLOAT16, TD_DEVICE_CPU, -1, NULL, &like));
  TD_DO(td_to(td, like, TD_DTYPE_OTHER, TD_DEVICE_NONE, -1, NULL, &result));
  TD_CHECK_INT(device_of(result), TD_DEVICE_CPU);
  TD_CHECK_INT(dtype_of(result, TD_KEY("a")), TD_DTYPE_FLOAT16);
  /* What is said goes before what the other has. */
  TD_DO(td_to(td, like, TD_DTYPE_INT32, TD_DEVICE_NONE, -1, NULL, &result));
  TD_CHECK_INT(dtype_of(result, TD_KEY("a")), TD_DTYPE_INT32);
  like = td_sample(); /* no device, and no dtype in common */
  TD_DO(td_to(td, like, TD_DTYPE_OTHER, TD_DEVICE_NONE, -1, NULL, &result));
  TD_CHECK(td_is_same_dict(td, result));
}

TD_TEST(each_tensor_as_the_one_of_its_key) {
  td_tensordict *td = td_sample(), *like = td_empty(TD_NO_SIZES), *result = NULL;
  td_to_options options = TD_TO_OPTIONS_INIT;
  td_tensor *meta = NULL;
  options.each_like = 1;
  TD_EXPECT_NULL(td_to(td, NULL, TD_DTYPE_OTHER, TD_DEVICE_NONE, -1, &options, &result),
                 TD_ERR_INVALID_ARGUMENT, result);
  td_put(like, TD_KEY("n", "b"), td_filled(TD_DTYPE_UINT8, 0, TD_NO_SIZES));
  TD_EXPECT_NULL(td_to(td, like, TD_DTYPE_OTHER, TD_DEVICE_NONE, -1, &options, &result),
                 TD_ERR_KEY_NOT_FOUND, result);
  TD_DO(td_tensor_zeros(TD_NO_SIZES, TD_DTYPE_FLOAT16, TD_DEVICE_META, -1, &meta));
  td_put(like, TD_KEY("a"), meta);
  TD_DO(td_to(td, like, TD_DTYPE_OTHER, TD_DEVICE_NONE, -1, &options, &result));
  TD_CHECK_INT(dtype_of(result, TD_KEY("a")), TD_DTYPE_FLOAT16);
  TD_CHECK_INT(dtype_of(result, TD_KEY("n", "b")), TD_DTYPE_UINT8);
  TD_CHECK_BATCH(result, 4, 3);
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  TD_CHECK_INT(dtype_of(td, TD_KEY("a")), TD_DTYPE_FLOAT32);
  td_put(like, TD_KEY("x"), td_filled(TD_DTYPE_UINT8, 0, TD_NO_SIZES));
  TD_EXPECT_NULL(td_to(td, like, TD_DTYPE_OTHER, TD_DEVICE_NONE, -1, &options, &result),
                 TD_ERR_KEY_NOT_FOUND, result);
}

TD_TEST(in_place) {
  td_tensordict *td = td_sample(), *n = td_take_dict(td, TD_KEY("n"));
  td_to_options options = TD_TO_OPTIONS_INIT;
  TD_DO(td_to_inplace(td, NULL, TD_DTYPE_FLOAT64, TD_DEVICE_CPU, -1, &options));
  TD_CHECK_INT(dtype_of(n, TD_KEY("b")), TD_DTYPE_FLOAT64); /* nested ones are the same, too */
  TD_CHECK_INT(device_of(n), TD_DEVICE_CPU);
  TD_DO(td_lock(td));
  TD_EXPECT(td_to_inplace(td, NULL, TD_DTYPE_INT8, TD_DEVICE_NONE, -1, &options), TD_ERR_LOCKED);
  TD_CHECK_INT(dtype_of(td, TD_KEY("a")), TD_DTYPE_FLOAT64);
}

TD_TEST(options_of_an_older_client) {
  td_tensordict *td = td_sample(), *result = NULL;
  struct {
    uint32_t struct_size;
    int32_t non_blocking, beyond;
  } old = {8, 1, -1};
  TD_DO(td_to_device(td, TD_DEVICE_CPU, -1, (const td_to_options *)&old, &result));
  TD_DO(td_to(td, NULL, TD_DTYPE_INT8, TD_DEVICE_NONE, -1, (const td_to_options *)&old, &result));
  old.struct_size = 7;
  TD_EXPECT_NULL(
      td_to(td, NULL, TD_DTYPE_INT8, TD_DEVICE_NONE, -1, (const td_to_options *)&old, &result),
      TD_ERR_INVALID_ARGUMENT, result);
}

TD_TEST(devices_that_are_not_there) {
  td_tensordict *td = td_sample(), *result;
  TD_EXPECT_NULL(td_to(td, NULL, TD_DTYPE_OTHER, TD_DEVICE_CPU, 1, NULL, &result), TD_ERR_DEVICE,
                 result);
  TD_EXPECT_NULL(td_to(td, NULL, TD_DTYPE_OTHER, TD_DEVICE_CUDA, 300, NULL, &result), TD_ERR_DEVICE,
                 result);
  TD_EXPECT_NULL(td_to(td, NULL, TD_DTYPE_OTHER, 77, -1, NULL, &result), TD_ERR_DEVICE, result);
  TD_EXPECT_NULL(td_to(td, NULL, 99, TD_DEVICE_NONE, -1, NULL, &result), TD_ERR_DTYPE, result);
  TD_EXPECT(td_record_stream(td, TD_DEVICE_CPU, -1, 0), TD_ERR_DEVICE);
  TD_EXPECT(td_record_stream(td, TD_DEVICE_NONE, -1, 0), TD_ERR_DEVICE);
  if (!td_device_available(TD_DEVICE_CUDA)) {
    TD_EXPECT(td_record_stream(td, TD_DEVICE_CUDA, 0, 0), TD_ERR_DEVICE);
  }
}

TD_TEST(pinned_memory_needs_an_accelerator) {
  td_tensordict *td = td_sample(), *result = NULL;
  td_to_options options = TD_TO_OPTIONS_INIT;
  options.pin_memory = 1;
  TD_CHECK_INT(measured(td, TD_MEASURE_IS_PINNED), 0);
  if (td_device_available(TD_DEVICE_CUDA)) {
    TD_DO(td_to(td, NULL, TD_DTYPE_OTHER, TD_DEVICE_NONE, -1, &options, &result));
    TD_CHECK_INT(measured(result, TD_MEASURE_IS_PINNED), 1);
  } else if (!td_device_available(TD_DEVICE_XPU)) {
    TD_EXPECT_NULL(td_to(td, NULL, TD_DTYPE_OTHER, TD_DEVICE_NONE, -1, &options, &result),
                   TD_ERR_DEVICE, result);
    TD_CHECK_TEXT(td_last_error_message(), "accelerator");
  }
}

TD_TEST(the_common_device) {
  td_tensordict *td = td_sample(), *n = td_take_dict(td, TD_KEY("n"));
  TD_DO(td_lock(td));
  TD_DO(td_auto_device(td));
  TD_CHECK_INT(device_of(td), TD_DEVICE_CPU);
  TD_CHECK_INT(device_of(n), TD_DEVICE_CPU);
  TD_DO(td_clear_device(td));
  TD_CHECK_INT(device_of(n), TD_DEVICE_NONE);
  TD_DO(td_unlock(td));
  td_tensor *meta = NULL;
  TD_DO(td_tensor_zeros(TD_SIZES(4, 3), TD_DTYPE_INT8, TD_DEVICE_META, -1, &meta));
  td_put(td, TD_KEY("m"), meta);
  TD_DO(td_auto_device(td)); /* two of them */
  TD_CHECK_INT(device_of(td), TD_DEVICE_NONE);
  td_free(td);
  td = td_empty(TD_SIZES(3));
  TD_DO(td_auto_device(td));
  TD_CHECK_INT(device_of(td), TD_DEVICE_NONE);
}

TD_TEST(counted_together) {
  td_tensordict *td = td_sample();
  TD_CHECK_INT(measured(td, TD_MEASURE_ELEMENTS), 36);
  TD_CHECK_INT(measured(td, TD_MEASURE_BYTES), 24 * 4 + 12 * 8);
  TD_CHECK_INT(measured(td, TD_MEASURE_DTYPE), TD_DTYPE_OTHER);
  TD_CHECK_INT(measured(td, TD_MEASURE_IS_FLOATING_POINT), 0);
  td_put(td, TD_KEY("again"), td_take(td, TD_KEY("a")));
  TD_CHECK_INT(measured(td, TD_MEASURE_ELEMENTS), 60);
  TD_CHECK_INT(measured(td, TD_MEASURE_ELEMENTS_ONCE), 36);
  TD_CHECK_INT(measured(td, TD_MEASURE_BYTES_ONCE), 24 * 4 + 12 * 8);
  TD_DO(td_remove(td, TD_KEY("n")));
  TD_CHECK_INT(measured(td, TD_MEASURE_DTYPE), TD_DTYPE_FLOAT32);
  TD_CHECK_INT(measured(td, TD_MEASURE_IS_FLOATING_POINT), 1);
  int64_t result = -1;
  TD_EXPECT(td_measure(td, 8, &result), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_measure(td, -1, &result), TD_ERR_INVALID_ARGUMENT);
  td = td_empty(TD_SIZES(3));
  TD_CHECK_INT(measured(td, TD_MEASURE_ELEMENTS), 0);
  TD_CHECK_INT(measured(td, TD_MEASURE_DTYPE), TD_DTYPE_OTHER);
}

TD_TEST(addresses_in_the_order_of_the_keys) {
  td_tensordict *td = td_sample(), *part = NULL;
  td_tensor *a = td_take(td, TD_KEY("a")), *b = td_take(td, TD_KEY("n", "b"));
  void *at_a = NULL, *at_b = NULL;
  int64_t found[2] = {0, 0};
  size_t count = 0;
  TD_DO(td_tensor_data(a, &at_a));
  TD_DO(td_tensor_data(b, &at_b));
  TD_DO(td_data_pointers(td, 0, NULL, 0, &count));
  TD_CHECK_INT(count, 2);
  TD_DO(td_data_pointers(td, 0, found, 2, &count));
  TD_CHECK_INT(found[0], (intptr_t)at_a);
  TD_CHECK_INT(found[1], (intptr_t)at_b);
  TD_DO(td_index(td, TD_AT(TD_I_INT(1)), &part));
  TD_DO(td_data_pointers(part, 0, found, 2, &count));
  TD_CHECK_INT(found[1], (intptr_t)at_b + 24);
  TD_DO(td_data_pointers(part, TD_DATA_POINTERS_STORAGE, found, 2, &count));
  TD_CHECK_INT(found[1], (intptr_t)at_b);
  TD_EXPECT(td_data_pointers(td, 0, found, 1, &count), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(count, 2);
}

TD_TEST(however_deep) {
  enum { depth = 10000 };
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
  td_to_options options = TD_TO_OPTIONS_INIT;
  const char *path[depth + 1];
  for (int i = 0; i <= depth; i++) path[i] = "n";
  td_put(td, path, depth + 1, td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_DO(td_to(td, NULL, TD_DTYPE_FLOAT64, TD_DEVICE_CPU, -1, NULL, &result));
  TD_CHECK_INT(dtype_of(result, path, depth + 1), TD_DTYPE_FLOAT64);
  options.each_like = 1;
  td_tensordict *like = result;
  TD_DO(td_to(td, like, TD_DTYPE_OTHER, TD_DEVICE_NONE, -1, &options, &result));
  options.each_like = 0;
  TD_DO(td_to_inplace(td, NULL, TD_DTYPE_INT8, TD_DEVICE_NONE, -1, &options));
  TD_CHECK_INT(dtype_of(td, path, depth + 1), TD_DTYPE_INT8);
  TD_DO(td_auto_device(td));
  TD_DO(td_detach(td, TD_DETACH_HISTORY, &result));
  TD_CHECK_INT(measured(result, TD_MEASURE_ELEMENTS), 2);
  TD_DO(td_set_requires_grad(td, 0));
}
