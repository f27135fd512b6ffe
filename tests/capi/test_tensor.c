/* Tensors: making, reading, writing, converting, comparing, printing. */
#include <math.h>
#include <string.h>

#include "td_values.h"

TD_TEST(from_data_copies) {
  float numbers[6] = {0, 1, 2, 3, 4, 5};
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_data(numbers, sizeof numbers, TD_SIZES(2, 3), TD_DTYPE_FLOAT32, &tensor));
  numbers[0] = 99;
  TD_CHECK_SIZES(tensor, 2, 3);
  TD_CHECK_VALUES(tensor, 0, 1, 2, 3, 4, 5);

  td_dtype dtype = TD_DTYPE_OTHER;
  td_device_type device = TD_DEVICE_NONE;
  int32_t device_index = 5;
  int64_t strides[2];
  size_t dims = 0, bytes = 0;
  TD_DO(td_tensor_dtype(tensor, &dtype));
  TD_CHECK_INT(dtype, TD_DTYPE_FLOAT32);
  TD_DO(td_tensor_device(tensor, &device, &device_index));
  TD_CHECK_INT(device, TD_DEVICE_CPU);
  TD_CHECK_INT(device_index, -1);
  TD_DO(td_tensor_strides(tensor, strides, 2, &dims));
  TD_CHECK_INT(dims, 2);
  TD_CHECK_INT(strides[0], 3);
  TD_CHECK_INT(strides[1], 1);
  TD_DO(td_tensor_nbytes(tensor, &bytes));
  TD_CHECK_INT(bytes, 24);
  TD_CHECK_FLAG(td_tensor_is_contiguous, tensor, 1);
  TD_CHECK_FLAG(td_tensor_requires_grad, tensor, 0);
}

TD_TEST(from_data_checks_bytes_sizes_and_dtype) {
  const float numbers[6] = {0};
  td_tensor *tensor;
  TD_EXPECT_NULL(td_tensor_from_data(numbers, 20, TD_SIZES(2, 3), TD_DTYPE_FLOAT32, &tensor),
                 TD_ERR_SHAPE, tensor);
  TD_EXPECT_NULL(td_tensor_from_data(numbers, 24, TD_SIZES(2, 3), TD_DTYPE_FLOAT64, &tensor),
                 TD_ERR_SHAPE, tensor);
  TD_EXPECT_NULL(td_tensor_from_data(numbers, 24, TD_SIZES(-2, -3), TD_DTYPE_FLOAT32, &tensor),
                 TD_ERR_SHAPE, tensor);
  TD_EXPECT_NULL(td_tensor_from_data(numbers, 24, TD_SIZES(6), 77, &tensor), TD_ERR_DTYPE, tensor);
  TD_EXPECT_NULL(td_tensor_from_data(numbers, 24, TD_SIZES(6), TD_DTYPE_OTHER, &tensor),
                 TD_ERR_DTYPE, tensor);
  TD_EXPECT_NULL(td_tensor_from_data(NULL, 24, TD_SIZES(6), TD_DTYPE_FLOAT32, &tensor),
                 TD_ERR_NULL_ARGUMENT, tensor);
  TD_EXPECT_NULL(td_tensor_from_data(numbers, 24, NULL, 1, TD_DTYPE_FLOAT32, &tensor),
                 TD_ERR_NULL_ARGUMENT, tensor);
  TD_EXPECT_NULL(td_tensor_from_data(numbers, 24, TD_SIZES(INT64_MAX, INT64_MAX, 4),
                                     TD_DTYPE_FLOAT32, &tensor),
                 TD_ERR_SHAPE, tensor);
}

TD_TEST(scalars_and_empty_tensors) {
  const double number = 2.5;
  td_tensor *tensor = NULL;
  void *data = TD_POISON;
  TD_DO(td_tensor_from_data(&number, sizeof number, TD_NO_SIZES, TD_DTYPE_FLOAT64, &tensor));
  size_t dims = 9;
  TD_DO(td_tensor_sizes(tensor, NULL, 0, &dims));
  TD_CHECK_INT(dims, 0);
  TD_CHECK_VALUES(tensor, 2.5);

  TD_DO(td_tensor_from_data(NULL, 0, TD_SIZES(3, 0), TD_DTYPE_INT32, &tensor));
  TD_CHECK_SIZES(tensor, 3, 0);
  TD_DO(td_tensor_data(tensor, &data));
  TD_CHECK(data == NULL);
  TD_DO(td_tensor_copy_to(tensor, NULL, 0));
  TD_DO(td_tensor_copy_from(tensor, NULL, 0));
}

TD_TEST(zeros_on_the_cpu_and_on_meta) {
  td_tensor *tensor = NULL;
  td_device_type device = TD_DEVICE_NONE;
  int32_t device_index = 0;
  TD_DO(td_tensor_zeros(TD_SIZES(2, 2), TD_DTYPE_INT16, TD_DEVICE_NONE, -1, &tensor));
  TD_CHECK_VALUES(tensor, 0, 0, 0, 0);

  void *data = TD_POISON;
  TD_DO(td_tensor_zeros(TD_SIZES(1000000, 1000000), TD_DTYPE_FLOAT32, TD_DEVICE_META, -1, &tensor));
  TD_CHECK_SIZES(tensor, 1000000, 1000000);
  TD_DO(td_tensor_device(tensor, &device, &device_index));
  TD_CHECK_INT(device, TD_DEVICE_META);
  TD_CHECK_INT(device_index, -1);
  TD_DO(td_tensor_data(tensor, &data));
  TD_CHECK(data == NULL);

  TD_EXPECT_NULL(td_tensor_zeros(TD_SIZES(-1), TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &tensor),
                 TD_ERR_SHAPE, tensor);
  TD_EXPECT_NULL(td_tensor_zeros(TD_SIZES(1), 99, TD_DEVICE_CPU, -1, &tensor), TD_ERR_DTYPE,
                 tensor);
  TD_EXPECT_NULL(td_tensor_zeros(TD_SIZES(1), TD_DTYPE_FLOAT32, 999, -1, &tensor), TD_ERR_DEVICE,
                 tensor);
  TD_EXPECT_NULL(
      td_tensor_zeros(TD_SIZES(INT64_MAX / 2, 16), TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &tensor),
      TD_ERR_SHAPE, tensor);
}

TD_TEST(more_memory_than_there_is) {
  td_tensor *tensor;
  if (TD_TEST_SANITIZED) td_test_skip("a sanitizer ends the process instead");
  TD_EXPECT_NULL(
      td_tensor_zeros(TD_SIZES((int64_t)1 << 52), TD_DTYPE_UINT8, TD_DEVICE_CPU, -1, &tensor),
      TD_ERR_OUT_OF_MEMORY, tensor);
}

TD_TEST(no_such_device) {
  td_tensor *tensor;
  TD_CHECK_INT(td_device_available(TD_DEVICE_CPU), 1);
  TD_CHECK_INT(td_device_available(12345), 0);
  if (td_device_available(TD_DEVICE_CUDA)) td_test_skip("this machine has CUDA");
  TD_EXPECT_NULL(td_tensor_zeros(TD_SIZES(1), TD_DTYPE_FLOAT32, TD_DEVICE_CUDA, 0, &tensor),
                 TD_ERR_DEVICE, tensor);
  TD_CHECK_TEXT(td_last_error_message(), "cuda");
}

TD_TEST(sizes_need_room) {
  td_tensor *tensor = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2, 3, 4));
  int64_t sizes[2] = {-7, -7};
  size_t dims = 0;
  TD_EXPECT(td_tensor_sizes(tensor, sizes, 2, &dims), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(dims, 3);
  TD_CHECK_INT(sizes[0], -7);
  dims = 0;
  TD_EXPECT(td_tensor_strides(tensor, sizes, 1, &dims), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(dims, 3);
  TD_DO(td_tensor_sizes(tensor, NULL, 0, &dims));
  TD_EXPECT(td_tensor_sizes(tensor, NULL, 3, &dims), TD_ERR_NULL_ARGUMENT);
}

TD_TEST(copy_in_and_out) {
  td_tensor *tensor = td_arange(TD_DTYPE_INT32, 0, TD_SIZES(2, 2)), *column = NULL;
  const int32_t fresh[4] = {5, 6, 7, 8};
  int32_t seen[4] = {0};
  TD_DO(td_tensor_copy_from(tensor, fresh, sizeof fresh));
  TD_DO(td_tensor_copy_to(tensor, seen, sizeof seen));
  TD_CHECK(memcmp(seen, fresh, sizeof seen) == 0);
  TD_EXPECT(td_tensor_copy_from(tensor, fresh, 15), TD_ERR_SHAPE);
  TD_EXPECT(td_tensor_copy_to(tensor, seen, 8), TD_ERR_SHAPE);
  TD_EXPECT(td_tensor_copy_to(tensor, NULL, 16), TD_ERR_NULL_ARGUMENT);

  TD_DO(td_tensor_index(tensor, TD_AT(TD_I_ALL, TD_I_INT(1)), &column));
  TD_CHECK_FLAG(td_tensor_is_contiguous, column, 0);
  TD_DO(td_tensor_copy_to(column, seen, 8));
  TD_CHECK_INT(seen[0], 6);
  TD_CHECK_INT(seen[1], 8);
  const int32_t pair[2] = {-1, -2};
  TD_DO(td_tensor_copy_from(column, pair, 8));
  TD_CHECK_VALUES(tensor, 5, -1, 7, -2);
}

TD_TEST(copy_broadcasts_and_converts) {
  td_tensor *tensor = td_arange(TD_DTYPE_INT32, 0, TD_SIZES(2, 3));
  td_tensor *row = td_filled(TD_DTYPE_FLOAT64, 7.9, TD_SIZES(3));
  td_tensor *wrong = td_filled(TD_DTYPE_INT32, 1, TD_SIZES(4));
  TD_DO(td_tensor_copy(tensor, row));
  TD_CHECK_VALUES(tensor, 7, 7, 7, 7, 7, 7);
  TD_EXPECT(td_tensor_copy(tensor, wrong), TD_ERR_SHAPE);
  TD_CHECK_VALUES(tensor, 7, 7, 7, 7, 7, 7);
}

TD_TEST(share_clone_and_contiguous) {
  td_tensor *tensor = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 2));
  td_tensor *shared = NULL, *copy = NULL, *dense = NULL, *column = NULL, *packed = NULL;
  TD_CHECK_FLAG(td_tensor_is_uniquely_owned, tensor, 1);
  TD_DO(td_tensor_dup(tensor, &shared));
  TD_CHECK(shared != tensor);
  TD_CHECK(td_same_memory(shared, tensor));
  TD_CHECK_FLAG(td_tensor_is_uniquely_owned, tensor, 0);
  TD_DO(td_tensor_clone(tensor, &copy));
  TD_CHECK(!td_same_memory(copy, tensor));
  TD_CHECK_VALUES(copy, 0, 1, 2, 3);
  TD_DO(td_tensor_contiguous(tensor, &dense));
  TD_CHECK(td_same_memory(dense, tensor));
  TD_DO(td_tensor_index(tensor, TD_AT(TD_I_ALL, TD_I_INT(1)), &column));
  TD_DO(td_tensor_contiguous(column, &packed));
  TD_CHECK_FLAG(td_tensor_is_contiguous, packed, 1);
  TD_CHECK_VALUES(packed, 1, 3);
  td_tensor_free(tensor);
  td_tensor_free(dense);
  TD_CHECK_VALUES(shared, 0, 1, 2, 3);
}

TD_TEST(a_view_keeps_the_tensor_from_being_unique) {
  td_tensor *tensor = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 2)), *row = NULL;
  TD_DO(td_tensor_index(tensor, TD_AT(TD_I_INT(0)), &row));
  TD_CHECK_FLAG(td_tensor_is_uniquely_owned, tensor, 0);
  td_tensor_free(row);
  TD_CHECK_FLAG(td_tensor_is_uniquely_owned, tensor, 1);
  td_tensordict *td = td_empty(TD_SIZES(2));
  TD_DO(td_set(td, TD_KEY("a"), tensor));
  TD_CHECK_FLAG(td_tensor_is_uniquely_owned, tensor, 0);
  td_free(td);
  TD_CHECK_FLAG(td_tensor_is_uniquely_owned, tensor, 1);
}

TD_TEST(to_converts_and_shares_when_nothing_changes) {
  td_tensor *tensor = td_arange(TD_DTYPE_INT64, 250, TD_SIZES(4)), *other = NULL;
  TD_DO(td_tensor_to(tensor, TD_DTYPE_OTHER, TD_DEVICE_NONE, -1, &other));
  TD_CHECK(td_same_memory(tensor, other));
  TD_DO(td_tensor_to(tensor, TD_DTYPE_INT64, TD_DEVICE_CPU, -1, &other));
  TD_CHECK(td_same_memory(tensor, other));
  TD_DO(td_tensor_to(tensor, TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, &other));
  TD_CHECK_VALUES(other, 250, 251, 252, 253);
  TD_DO(td_tensor_to(tensor, TD_DTYPE_OTHER, TD_DEVICE_META, -1, &other));
  TD_CHECK_SIZES(other, 4);
  TD_EXPECT_NULL(td_tensor_to(tensor, 55, TD_DEVICE_NONE, -1, &other), TD_ERR_DTYPE, other);
  TD_EXPECT_NULL(td_tensor_to(tensor, TD_DTYPE_OTHER, 55, -1, &other), TD_ERR_DEVICE, other);
}

TD_TEST(equality_looks_at_dtype_sizes_and_values) {
  td_tensor *tensor = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4));
  td_tensor *same = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4));
  td_tensor *values = td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(4));
  td_tensor *dtype = td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(4));
  td_tensor *sizes = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 2));
  td_tensor *nothing = td_filled(TD_DTYPE_FLOAT32, (double)NAN, TD_SIZES(1));
  int32_t equal = -1;
#define EQUAL(one, other, want)                   \
  TD_DO(td_tensor_equal((one), (other), &equal)); \
  TD_CHECK_INT(equal, want)
  EQUAL(tensor, same, 1);
  EQUAL(tensor, values, 0);
  EQUAL(tensor, dtype, 0);
  EQUAL(tensor, sizes, 0);
  EQUAL(nothing, nothing, 0);
#undef EQUAL
}

TD_TEST(printed_line) {
  td_tensor *tensor = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3));
  const char *want =
      "Tensor(shape=torch.Size([3]), device=cpu, dtype=torch.float32, is_shared=False)";
  char text[128] = "";
  size_t length = 0;
  TD_DO(td_tensor_to_string(tensor, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
  TD_CHECK_INT(length, strlen(want));
  TD_EXPECT(td_tensor_to_string(tensor, text, strlen(want), &length), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(length, strlen(want));
  TD_DO(td_tensor_to_string(tensor, NULL, 0, &length));
  TD_CHECK_INT(length, strlen(want));
}

TD_TEST(dtypes_have_names_and_sizes) {
  static const struct {
    td_dtype dtype;
    const char *name;
    size_t size;
  } known[] = {
      {TD_DTYPE_UINT8, "torch.uint8", 1},
      {TD_DTYPE_INT8, "torch.int8", 1},
      {TD_DTYPE_INT16, "torch.int16", 2},
      {TD_DTYPE_INT32, "torch.int32", 4},
      {TD_DTYPE_INT64, "torch.int64", 8},
      {TD_DTYPE_FLOAT16, "torch.float16", 2},
      {TD_DTYPE_FLOAT32, "torch.float32", 4},
      {TD_DTYPE_FLOAT64, "torch.float64", 8},
      {TD_DTYPE_COMPLEX32, "torch.complex32", 4},
      {TD_DTYPE_COMPLEX64, "torch.complex64", 8},
      {TD_DTYPE_COMPLEX128, "torch.complex128", 16},
      {TD_DTYPE_BOOL, "torch.bool", 1},
      {TD_DTYPE_BFLOAT16, "torch.bfloat16", 2},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    td_tensor *tensor = NULL;
    td_dtype dtype = TD_DTYPE_OTHER;
    size_t bytes = 0;
    TD_CHECK_SAME_TEXT(td_dtype_name(known[i].dtype), known[i].name);
    TD_CHECK_INT(td_dtype_size(known[i].dtype), known[i].size);
    TD_DO(td_tensor_zeros(TD_SIZES(3), known[i].dtype, TD_DEVICE_CPU, -1, &tensor));
    TD_DO(td_tensor_dtype(tensor, &dtype));
    TD_CHECK_INT(dtype, known[i].dtype);
    TD_DO(td_tensor_nbytes(tensor, &bytes));
    TD_CHECK_INT(bytes, 3 * known[i].size);
  }
  TD_CHECK_SAME_TEXT(td_dtype_name(TD_DTYPE_OTHER), "");
  TD_CHECK_SAME_TEXT(td_dtype_name(-1), "");
  TD_CHECK_INT(td_dtype_size(99), 0);
}
