/* Memory of others: from_blob and DLPack. Whatever happens, it is released exactly once. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "td_dlpack.h"
#include "td_values.h"

static void count(void *user) { ++*(int *)user; }

TD_TEST(blob_is_shared_and_released_once) {
  float numbers[6] = {0, 1, 2, 3, 4, 5};
  int released = 0;
  td_tensor *tensor = NULL, *shared = NULL;
  void *data = NULL;
  TD_DO(td_tensor_from_blob(numbers, (const int64_t[]){2, 3}, NULL, 2, TD_DTYPE_FLOAT32,
                            TD_DEVICE_CPU, -1, count, &released, &tensor));
  TD_DO(td_tensor_data(tensor, &data));
  TD_CHECK(data == numbers);
  numbers[4] = 40;
  TD_CHECK_VALUES(tensor, 0, 1, 2, 3, 40, 5);
  TD_DO(td_tensor_dup(tensor, &shared));
  td_tensor_free(tensor);
  TD_CHECK_INT(released, 0);
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), shared);
  TD_CHECK_INT(released, 0);
  td_free(td);
  TD_CHECK_INT(released, 1);
  td_tensor_free(tensor);
  TD_CHECK_INT(released, 1);
}

TD_TEST(blob_with_strides) {
  float numbers[6] = {0, 1, 2, 3, 4, 5};
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_blob(numbers, (const int64_t[]){3, 2}, (const int64_t[]){1, 3}, 2,
                            TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, NULL, NULL, &tensor));
  TD_CHECK_VALUES(tensor, 0, 3, 1, 4, 2, 5);
  TD_CHECK_FLAG(td_tensor_is_contiguous, tensor, 0);
  td_tensor_free(tensor);
}

TD_TEST(blob_without_elements) {
  int released = 0;
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_blob(NULL, (const int64_t[]){0, 4}, NULL, 2, TD_DTYPE_INT8, TD_DEVICE_CPU,
                            -1, count, &released, &tensor));
  TD_CHECK_SIZES(tensor, 0, 4);
  td_tensor_free(tensor);
  TD_CHECK_INT(released, 1);
}

TD_TEST(blob_is_released_once_by_every_failure) {
  float numbers[6] = {0};
  const int64_t sizes[2] = {2, 3}, negative[2] = {-2, 3}, huge[2] = {INT64_MAX, 3};
  const int64_t backwards[2] = {-3, 1}, far[2] = {INT64_MAX, 1};
  td_tensor *tensor;
  int released = 0, failures = 0;
#define FAILS(status, data, dtype, sizes, strides, dims, device)                             \
  do {                                                                                       \
    TD_EXPECT_NULL(td_tensor_from_blob(data, sizes, strides, dims, dtype, device, -1, count, \
                                       &released, &tensor),                                  \
                   status, tensor);                                                          \
    TD_CHECK_INT(released, ++failures);                                                      \
  } while (0)
  FAILS(TD_ERR_NULL_ARGUMENT, NULL, TD_DTYPE_FLOAT32, sizes, NULL, 2, TD_DEVICE_CPU);
  FAILS(TD_ERR_NULL_ARGUMENT, numbers, TD_DTYPE_FLOAT32, NULL, NULL, 2, TD_DEVICE_CPU);
  FAILS(TD_ERR_DTYPE, numbers, TD_DTYPE_OTHER, sizes, NULL, 2, TD_DEVICE_CPU);
  FAILS(TD_ERR_DTYPE, numbers, 1000, sizes, NULL, 2, TD_DEVICE_CPU);
  FAILS(TD_ERR_SHAPE, numbers, TD_DTYPE_FLOAT32, negative, NULL, 2, TD_DEVICE_CPU);
  FAILS(TD_ERR_SHAPE, numbers, TD_DTYPE_FLOAT32, huge, NULL, 2, TD_DEVICE_CPU);
  FAILS(TD_ERR_SHAPE, numbers, TD_DTYPE_FLOAT32, sizes, backwards, 2, TD_DEVICE_CPU);
  FAILS(TD_ERR_SHAPE, numbers, TD_DTYPE_FLOAT32, sizes, far, 2, TD_DEVICE_CPU);
  FAILS(TD_ERR_DEVICE, numbers, TD_DTYPE_FLOAT32, sizes, NULL, 2, 77);
  if (!td_device_available(TD_DEVICE_CUDA))
    FAILS(TD_ERR_DEVICE, numbers, TD_DTYPE_FLOAT32, sizes, NULL, 2, TD_DEVICE_CUDA);
#undef FAILS
  TD_EXPECT(td_tensor_from_blob(numbers, sizes, NULL, 2, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, count,
                                &released, NULL),
            TD_ERR_NULL_ARGUMENT);
  TD_CHECK_INT(released, ++failures);
}

static void *free_there(void *tensor) {
  td_tensor_free(tensor);
  return NULL;
}

TD_TEST(blob_is_released_on_another_thread) {
  float numbers[2] = {1, 2};
  int released = 0;
  td_tensor *tensor = NULL;
  pthread_t thread;
  TD_DO(td_tensor_from_blob(numbers, (const int64_t[]){2}, NULL, 1, TD_DTYPE_FLOAT32, TD_DEVICE_CPU,
                            -1, count, &released, &tensor));
  TD_CHECK(pthread_create(&thread, NULL, free_there, tensor) == 0);
  pthread_join(thread, NULL);
  TD_CHECK_INT(released, 1);
}

static void free_a_handle(void *tensor) { td_tensor_free(tensor); }

TD_TEST(a_release_may_call_the_library) {
  float numbers[2] = {1, 2};
  td_tensor *inner = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(1)), *tensor = NULL;
  TD_DO(td_tensor_from_blob(numbers, (const int64_t[]){2}, NULL, 1, TD_DTYPE_FLOAT32, TD_DEVICE_CPU,
                            -1, free_a_handle, inner, &tensor));
  td_tensor_free(tensor);
  int32_t flag = 0;
  TD_EXPECT(td_tensor_is_contiguous(inner, &flag), TD_ERR_BAD_HANDLE);
}

/* What a release takes out of a dictionary, and how that ended. */
typedef struct removal {
  float numbers[2];
  td_tensordict *td;
  const char *path[2];
  size_t path_len;
  td_status status;
} removal;

static void remove_entry(void *user) {
  removal *it = user;
  it->status = td_remove(it->td, it->path, it->path_len);
}

static td_tensor *that_removes(removal *it) {
  td_tensor *tensor = NULL;
  it->status = TD_ERR_INTERNAL;
  TD_DO(td_tensor_from_blob(it->numbers, (const int64_t[]){2}, NULL, 1, TD_DTYPE_FLOAT32,
                            TD_DEVICE_CPU, -1, remove_entry, it, &tensor));
  return tensor;
}

TD_TEST(a_release_may_change_the_dictionary_that_is_changed) {
  for (int replace = 0; replace < 2; replace++) {
    td_tensordict *td = td_empty(TD_SIZES(2));
    removal y = {{1, 2}, td, {"y"}, 1, TD_OK}, gone = {{1, 2}, td, {"gone"}, 1, TD_OK};
    removal nested = {{1, 2}, td, {"n"}, 1, TD_OK}, self = {{1, 2}, td, {"n", "self"}, 2, TD_OK};
    td_put(td, TD_KEY("gone"), that_removes(&gone));
    td_put(td, TD_KEY("x"), that_removes(&y));
    td_put(td, TD_KEY("y"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
    td_put(td, TD_KEY("n", "self"), that_removes(&self));
    td_put(td, TD_KEY("n", "z"), that_removes(&nested));
    if (replace) td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
    TD_DO(td_remove(td, TD_KEY("x")));
    TD_CHECK_INT(y.status, TD_OK);
    TD_DO(td_remove(td, TD_KEY("gone"))); /* it is no longer there when its release looks for it */
    TD_CHECK_INT(gone.status, TD_ERR_KEY_NOT_FOUND);
    TD_DO(td_remove(td, TD_KEY("n", "self")));
    TD_CHECK_INT(self.status, TD_ERR_KEY_NOT_FOUND);
    TD_DO(td_remove(td, TD_KEY("n", "z"))); /* its release removes the dictionary that it was in */
    TD_CHECK_INT(nested.status, TD_OK);
    int32_t empty = 0;
    TD_DO(td_is_empty(td, &empty));
    TD_CHECK_INT(empty, 1);
    td_free(td);
  }
}

/* A DLPack tensor of our own making, that counts its releases. */
typedef struct lent {
  float numbers[6];
  int64_t sizes[2];
  int64_t strides[2];
  struct DLManagedTensorVersioned versioned;
  struct DLManagedTensor legacy;
  int released;
} lent;

static void release_versioned(struct DLManagedTensorVersioned *self) {
  ++((lent *)self->context)->released;
}

static void release_legacy(struct DLManagedTensor *self) { ++((lent *)self->context)->released; }

static void lend(lent *it) {
  const struct DLTensorLayout tensor = {it->numbers, DLPACK_CPU, 0,         2,    DLPACK_FLOAT,
                                        32,          1,          it->sizes, NULL, 0};
  memset(it, 0, sizeof *it);
  for (int i = 0; i < 6; i++) it->numbers[i] = (float)i;
  it->sizes[0] = 2;
  it->sizes[1] = 3;
  it->strides[0] = 1;
  it->strides[1] = 2;
  it->versioned.major = 1;
  it->versioned.context = it;
  it->versioned.deleter = release_versioned;
  it->versioned.tensor = tensor;
  it->legacy.context = it;
  it->legacy.deleter = release_legacy;
  it->legacy.tensor = tensor;
}

TD_TEST(dlpack_in_shares_and_releases_once) {
  lent it;
  td_tensor *tensor = NULL, *row = NULL;
  void *data = NULL;
  for (int old = 0; old < 2; old++) {
    lend(&it);
    if (old)
      TD_DO(td_tensor_from_dlpack_legacy(&it.legacy, &tensor));
    else
      TD_DO(td_tensor_from_dlpack(&it.versioned, &tensor));
    TD_DO(td_tensor_data(tensor, &data));
    TD_CHECK(data == it.numbers);
    TD_CHECK_SIZES(tensor, 2, 3);
    TD_DO(td_tensor_index(tensor, TD_AT(TD_I_INT(1)), &row));
    td_tensor_free(tensor);
    TD_CHECK_INT(it.released, 0);
    TD_CHECK_VALUES(row, 3, 4, 5);
    td_tensor_free(row);
    TD_CHECK_INT(it.released, 1);
  }
}

TD_TEST(dlpack_in_with_strides_and_offset) {
  lent it;
  td_tensor *tensor = NULL;
  lend(&it);
  it.versioned.tensor.strides = it.strides;
  it.versioned.tensor.byte_offset = 4;
  it.sizes[1] = 2;
  TD_DO(td_tensor_from_dlpack(&it.versioned, &tensor));
  TD_CHECK_VALUES(tensor, 1, 3, 2, 4);
  td_tensor_free(tensor);
  TD_CHECK_INT(it.released, 1);
}

TD_TEST(dlpack_in_without_deleter) {
  lent it;
  td_tensor *tensor = NULL;
  lend(&it);
  it.versioned.deleter = NULL;
  TD_DO(td_tensor_from_dlpack(&it.versioned, &tensor));
  TD_CHECK_VALUES(tensor, 0, 1, 2, 3, 4, 5);
  td_tensor_free(tensor);
  it.legacy.deleter = NULL;
  TD_DO(td_tensor_from_dlpack_legacy(&it.legacy, &tensor));
  td_tensor_free(tensor);
  TD_CHECK_INT(it.released, 0);
}

TD_TEST(dlpack_in_read_only_is_copied) {
  lent it;
  td_tensor *tensor = NULL;
  void *data = NULL;
  lend(&it);
  it.versioned.flags = DLPACK_READ_ONLY;
  TD_DO(td_tensor_from_dlpack(&it.versioned, &tensor));
  TD_DO(td_tensor_data(tensor, &data));
  TD_CHECK(data != it.numbers);
  TD_CHECK_VALUES(tensor, 0, 1, 2, 3, 4, 5);
  td_tensor_free(tensor);
  TD_CHECK_INT(it.released, 1);
}

TD_TEST(dlpack_in_failures_release_once) {
  lent it;
  td_tensor *tensor;
  lend(&it);
  it.versioned.major = 2;
  TD_EXPECT_NULL(td_tensor_from_dlpack(&it.versioned, &tensor), TD_ERR_VERSION, tensor);
  TD_CHECK_INT(it.released, 1);

  lend(&it);
  it.versioned.tensor.lanes = 4;
  TD_EXPECT_NULL(td_tensor_from_dlpack(&it.versioned, &tensor), TD_ERR_DTYPE, tensor);
  TD_CHECK_INT(it.released, 1);

  lend(&it);
  it.legacy.tensor.bits = 24;
  TD_EXPECT_NULL(td_tensor_from_dlpack_legacy(&it.legacy, &tensor), TD_ERR_DTYPE, tensor);
  TD_CHECK_INT(it.released, 1);

  lend(&it);
  it.versioned.tensor.device_type = 99;
  TD_EXPECT_NULL(td_tensor_from_dlpack(&it.versioned, &tensor), TD_ERR_DEVICE, tensor);
  TD_CHECK_INT(it.released, 1);

  lend(&it);
  it.versioned.tensor.device_type = 2;
  it.versioned.tensor.device_index = 256; /* would be 0 in the byte that libtorch has for it */
  TD_EXPECT_NULL(td_tensor_from_dlpack(&it.versioned, &tensor), TD_ERR_DEVICE, tensor);
  TD_CHECK_TEXT(td_last_error_message(), "256");
  TD_CHECK_INT(it.released, 1);

  lend(&it);
  TD_EXPECT(td_tensor_from_dlpack(&it.versioned, NULL), TD_ERR_NULL_ARGUMENT);
  TD_CHECK_INT(it.released, 1);
  lend(&it);
  TD_EXPECT(td_tensor_from_dlpack_legacy(&it.legacy, NULL), TD_ERR_NULL_ARGUMENT);
  TD_CHECK_INT(it.released, 1);
}

TD_TEST(dlpack_in_with_damaged_sizes) {
  lent it;
  td_tensor *tensor;
  lend(&it);
  it.sizes[0] = -1;
  it.released = 0;
  const td_status negative = td_tensor_from_dlpack(&it.versioned, &tensor);
  TD_CHECK(negative == TD_ERR_SHAPE || negative == TD_ERR_INVALID_ARGUMENT);
  TD_CHECK(tensor == NULL);
  TD_CHECK_INT(it.released, 1);
  lend(&it);
  it.versioned.tensor.sizes = NULL;
  TD_CHECK(td_tensor_from_dlpack(&it.versioned, &tensor) != TD_OK);
  TD_CHECK(tensor == NULL);
  TD_CHECK_INT(it.released, 1);
}

TD_TEST(dlpack_out_shares_and_outlives_the_handle) {
  td_tensor *tensor = td_arange(TD_DTYPE_INT16, 0, TD_SIZES(2, 3)), *column = NULL;
  struct DLManagedTensorVersioned *lentout = NULL;
  void *data = NULL;
  TD_DO(td_tensor_index(tensor, TD_AT(TD_I_ALL, TD_I_INT(1)), &column));
  TD_DO(td_tensor_data(column, &data));
  TD_DO(td_tensor_to_dlpack(column, &lentout));
  td_tensor_free(tensor);
  td_tensor_free(column);
  TD_CHECK_INT(lentout->major, 1);
  TD_CHECK(((char *)lentout->tensor.data + lentout->tensor.byte_offset) == (char *)data);
  TD_CHECK_INT(lentout->tensor.device_type, DLPACK_CPU);
  TD_CHECK_INT(lentout->tensor.dims, 1);
  TD_CHECK_INT(lentout->tensor.code, DLPACK_INT);
  TD_CHECK_INT(lentout->tensor.bits, 16);
  TD_CHECK_INT(lentout->tensor.lanes, 1);
  TD_CHECK_INT(lentout->tensor.sizes[0], 2);
  TD_CHECK_INT(lentout->tensor.strides[0], 3);
  TD_CHECK_INT(((const int16_t *)data)[0], 1);
  TD_CHECK_INT(((const int16_t *)data)[3], 4);
  TD_CHECK_INT(lentout->flags & DLPACK_READ_ONLY, 0);
  lentout->deleter(lentout);
}

TD_TEST(dlpack_out_and_in_again) {
  td_tensor *tensor = td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(4)), *again = NULL;
  struct DLManagedTensorVersioned *versioned = NULL;
  struct DLManagedTensor *legacy = NULL;
  TD_DO(td_tensor_to_dlpack(tensor, &versioned));
  TD_CHECK_INT(versioned->tensor.code, DLPACK_BOOL);
  TD_CHECK_INT(versioned->tensor.bits, 8);
  TD_DO(td_tensor_from_dlpack(versioned, &again));
  TD_CHECK(td_same_memory(tensor, again));
  TD_CHECK_VALUES(again, 1, 0, 0, 1);
  td_tensor_free(again);
  TD_DO(td_tensor_to_dlpack_legacy(tensor, &legacy));
  TD_DO(td_tensor_from_dlpack_legacy(legacy, &again));
  TD_CHECK(td_same_memory(tensor, again));
  td_tensor_free(tensor);
  TD_CHECK_VALUES(again, 1, 0, 0, 1);
  td_tensor_free(again);
}

TD_TEST(dlpack_out_of_every_dtype) {
  for (td_dtype dtype = TD_DTYPE_UINT8; dtype <= TD_DTYPE_BFLOAT16; dtype++) {
    td_tensor *tensor = NULL, *again = NULL;
    struct DLManagedTensorVersioned *lentout = NULL;
    td_dtype back = TD_DTYPE_OTHER;
    TD_DO(td_tensor_zeros(TD_SIZES(2), dtype, TD_DEVICE_CPU, -1, &tensor));
    TD_DO(td_tensor_to_dlpack(tensor, &lentout));
    TD_CHECK_INT(lentout->tensor.bits, 8 * td_dtype_size(dtype));
    TD_DO(td_tensor_from_dlpack(lentout, &again));
    TD_DO(td_tensor_dtype(again, &back));
    TD_CHECK_INT(back, dtype);
    td_tensor_free(again);
    td_tensor_free(tensor);
  }
}

TD_TEST(meta_tensors_have_nothing_to_lend) {
  td_tensor *tensor = NULL;
  struct DLManagedTensorVersioned *lentout;
  TD_DO(td_tensor_zeros(TD_SIZES(2), TD_DTYPE_INT8, TD_DEVICE_META, -1, &tensor));
  lentout = TD_POISON;
  const td_status status = td_tensor_to_dlpack(tensor, &lentout);
  TD_CHECK(status == TD_ERR_DEVICE || status == TD_ERR_UNSUPPORTED);
  TD_CHECK(lentout == NULL);
  td_tensor_free(tensor);
}
