#include "td_values.h"

#include "td_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 };

static size_t count_of(const int64_t *sizes, size_t dims) {
  size_t count = 1;
  for (size_t i = 0; i < dims; i++) count *= (size_t)sizes[i];
  return count;
}

/* One value as the bytes of a dtype; float16 and the complex ones are not needed here. */
static void encode(td_dtype dtype, double value, void *bytes) {
#define CASE(number, type)               \
  case number: {                         \
    const type typed = (type)value;      \
    memcpy(bytes, &typed, sizeof typed); \
    return;                              \
  }
/* A count runs over, as it does in C. */
#define COUNT(number, type)                  \
  case number: {                             \
    const type typed = (type)(int64_t)value; \
    memcpy(bytes, &typed, sizeof typed);     \
    return;                                  \
  }
  switch (dtype) {
    COUNT(TD_DTYPE_UINT8, uint8_t)
    COUNT(TD_DTYPE_BOOL, uint8_t)
    COUNT(TD_DTYPE_INT8, int8_t)
    COUNT(TD_DTYPE_INT16, int16_t)
    COUNT(TD_DTYPE_INT32, int32_t)
    COUNT(TD_DTYPE_INT64, int64_t)
    COUNT(TD_DTYPE_UINT16, uint16_t)
    COUNT(TD_DTYPE_UINT32, uint32_t)
    COUNT(TD_DTYPE_UINT64, uint64_t)
    CASE(TD_DTYPE_FLOAT32, float)
    CASE(TD_DTYPE_FLOAT64, double)
    default: td_test_fail(__FILE__, __LINE__, "no test values of dtype %d", (int)dtype);
  }
#undef COUNT
#undef CASE
}

static double decode(td_dtype dtype, const unsigned char *bytes) {
#define CASE(number, type)               \
  case number: {                         \
    type typed;                          \
    memcpy(&typed, bytes, sizeof typed); \
    return (double)typed;                \
  }
  switch (dtype) {
    CASE(TD_DTYPE_UINT8, uint8_t)
    CASE(TD_DTYPE_BOOL, uint8_t)
    CASE(TD_DTYPE_INT8, int8_t)
    CASE(TD_DTYPE_INT16, int16_t)
    CASE(TD_DTYPE_INT32, int32_t)
    CASE(TD_DTYPE_INT64, int64_t)
    CASE(TD_DTYPE_UINT16, uint16_t)
    CASE(TD_DTYPE_UINT32, uint32_t)
    CASE(TD_DTYPE_UINT64, uint64_t)
    CASE(TD_DTYPE_FLOAT32, float)
    CASE(TD_DTYPE_FLOAT64, double)
    default: td_test_fail(__FILE__, __LINE__, "no test values of dtype %d", (int)dtype);
  }
#undef CASE
}

static td_tensor *make(td_dtype dtype, double first, double step, const int64_t *sizes,
                       size_t dims) {
  const size_t count = count_of(sizes, dims), size = td_dtype_size(dtype);
  unsigned char *bytes = malloc(count * size + 1);
  td_tensor *tensor = NULL;
  TD_CHECK(bytes != NULL);
  for (size_t i = 0; i < count; i++) {
    const double value = first + step * (double)i;
    encode(dtype, dtype == TD_DTYPE_BOOL && step != 0 ? (double)((int64_t)value % 3 == 0) : value,
           bytes + i * size);
  }
  const td_status status = td_tensor_from_data(bytes, count * size, sizes, dims, dtype, &tensor);
  free(bytes);
  TD_DO(status);
  return tensor;
}

td_tensor *td_arange(td_dtype dtype, int64_t first, const int64_t *sizes, size_t dims) {
  return make(dtype, (double)first, 1, sizes, dims);
}

td_tensor *td_filled(td_dtype dtype, double value, const int64_t *sizes, size_t dims) {
  return make(dtype, value, 0, sizes, dims);
}

td_tensor *td_converted(td_dtype dtype, const int64_t *sizes, size_t dims) {
  td_tensor *numbers = td_arange(TD_DTYPE_FLOAT32, 0, sizes, dims), *result = NULL;
  TD_DO(td_tensor_to(numbers, dtype, TD_DEVICE_NONE, -1, &result));
  td_tensor_free(numbers);
  return result;
}

td_tensor *td_positions(const int64_t *positions, size_t count) {
  td_tensor *tensor = NULL;
  const int64_t size = (int64_t)count;
  TD_DO(
      td_tensor_from_data(positions, count * sizeof *positions, &size, 1, TD_DTYPE_INT64, &tensor));
  return tensor;
}

td_tensor *td_mask(const int64_t *truths, size_t count) {
  unsigned char bytes[256];
  td_tensor *tensor = NULL;
  const int64_t size = (int64_t)count;
  TD_CHECK(count <= sizeof bytes);
  for (size_t i = 0; i < count; i++) bytes[i] = truths[i] != 0;
  TD_DO(td_tensor_from_data(bytes, count, &size, 1, TD_DTYPE_BOOL, &tensor));
  return tensor;
}

td_tensordict *td_empty(const int64_t *sizes, size_t dims) {
  td_tensordict *td = NULL;
  TD_DO(td_create(sizes, dims, TD_DEVICE_NONE, -1, &td));
  return td;
}

void td_put(td_tensordict *td, const char *const *path, size_t path_len, td_tensor *tensor) {
  TD_DO(td_set(td, path, path_len, tensor));
  td_tensor_free(tensor);
}

void td_put_dict(td_tensordict *td, const char *const *path, size_t path_len,
                 td_tensordict *entry) {
  TD_DO(td_set_dict(td, path, path_len, entry));
  td_free(entry);
}

td_tensor *td_take(const td_tensordict *td, const char *const *path, size_t path_len) {
  td_tensor *tensor = NULL;
  TD_DO(td_get(td, path, path_len, &tensor));
  return tensor;
}

td_tensordict *td_take_dict(const td_tensordict *td, const char *const *path, size_t path_len) {
  td_tensordict *entry = NULL;
  TD_DO(td_get_dict(td, path, path_len, &entry));
  return entry;
}

td_tensordict *td_loaded(const char *path) {
  td_tensordict *td = NULL;
  TD_DO(td_memmap_load(path, NULL, &td));
  return td;
}

td_dataset *td_opened_set(const char *path) {
  td_dataset *set = NULL;
  const td_status status = td_dataset_open(path, NULL, &set);
  if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
  TD_CHECK_INT(status, TD_OK);
  return set;
}

td_dataset *td_golden_set(const char *name) {
  return td_opened_set(td_path(td_golden("../datasets"), name));
}

td_tensordict *td_sample(void) {
  td_tensordict *td = td_empty(TD_SIZES(4, 3));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 3, 2)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4, 3)));
  return td;
}

static void check_same_sizes(const char *file, int line, const int64_t *got, size_t got_dims,
                             const int64_t *want, size_t want_dims) {
  char text[2][256] = {"[", "["};
  const int64_t *all[2] = {got, want};
  const size_t dims[2] = {got_dims, want_dims};
  int same = got_dims == want_dims;
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < dims[side]; i++) {
      char number[32];
      snprintf(number, sizeof number, "%s%lld", i == 0 ? "" : ", ", (long long)all[side][i]);
      strncat(text[side], number, sizeof text[side] - strlen(text[side]) - 2);
      same = same && got[i] == want[i];
    }
    strcat(text[side], "]");
  }
  if (!same) td_test_fail(file, line, "sizes are %s, not %s", text[0], text[1]);
}

void td_check_sizes(const char *file, int line, const td_tensor *tensor, const int64_t *sizes,
                    size_t dims) {
  int64_t got[16];
  size_t got_dims = 99;
  TD_DO(td_tensor_sizes(tensor, got, 16, &got_dims));
  check_same_sizes(file, line, got, got_dims, sizes, dims);
}

void td_check_batch(const char *file, int line, const td_tensordict *td, const int64_t *sizes,
                    size_t dims) {
  int64_t got[16];
  size_t got_dims = 99;
  TD_DO(td_batch_size(td, got, 16, &got_dims));
  check_same_sizes(file, line, got, got_dims, sizes, dims);
}

void td_check_values(const char *file, int line, const td_tensor *tensor, const double *values,
                     size_t count) {
  unsigned char bytes[MOST];
  size_t total = 0;
  td_dtype dtype = TD_DTYPE_OTHER;
  TD_DO(td_tensor_dtype(tensor, &dtype));
  TD_DO(td_tensor_nbytes(tensor, &total));
  const size_t size = td_dtype_size(dtype);
  if (total > sizeof bytes || total != count * size)
    td_test_fail(file, line, "%zu bytes, not %zu values of %zu bytes", total, count, size);
  TD_DO(td_tensor_copy_to(tensor, bytes, total));
  for (size_t i = 0; i < count; i++) {
    const double got = decode(dtype, bytes + i * size);
    if (got != values[i])
      td_test_fail(file, line, "value %zu is %.9g, not %.9g", i, got, values[i]);
  }
}

void td_check_entry(const char *file, int line, const td_tensordict *td, const char *const *path,
                    size_t path_len, const int64_t *sizes, size_t dims, const double *values,
                    size_t count) {
  td_tensor *tensor = td_take(td, path, path_len);
  td_check_sizes(file, line, tensor, sizes, dims);
  td_check_values(file, line, tensor, values, count);
  td_tensor_free(tensor);
}

int td_equals(const td_tensordict *one, const td_tensordict *other) {
  int32_t answer = -1;
  TD_DO(td_equal(one, other, &answer));
  return answer;
}

int td_is_same_dict(const td_tensordict *one, const td_tensordict *other) {
  int32_t answer = -1;
  TD_DO(td_is_same(one, other, &answer));
  return answer;
}

int td_tensor_equals(const td_tensor *one, const td_tensor *other) {
  int32_t answer = -1;
  TD_DO(td_tensor_equal(one, other, &answer));
  return answer;
}

void td_check_equal(const char *file, int line, const td_tensordict *got,
                    const td_tensordict *want) {
  if (!td_equals(got, want))
    td_test_fail(file, line, "%s, not %s", td_printed(got), td_printed(want));
}

int td_same_memory(const td_tensor *one, const td_tensor *other) {
  void *first = NULL, *second = NULL;
  TD_DO(td_tensor_data(one, &first));
  TD_DO(td_tensor_data(other, &second));
  return first != NULL && first == second;
}

char *td_metadata_of(const char *path) {
  size_t length = 0;
  TD_DO(td_file_metadata(path, NULL, NULL, 0, &length));
  char *text = malloc(length + 1);
  TD_DO(td_file_metadata(path, NULL, text, length + 1, &length));
  return text;
}

char *td_printed(const td_tensordict *td) {
  td_print_options options = TD_PRINT_OPTIONS_INIT;
  options.form = TD_PRINT_DETAILED;
  size_t length = 0;
  TD_EXPECT(td_print(td, &options, NULL, 0, &length), TD_OK);
  char *text = malloc(length + 1);
  TD_CHECK(text != NULL);
  TD_DO(td_print(td, &options, text, length + 1, &length));
  TD_CHECK_INT(strlen(text), length);
  return text;
}

void td_check_dtype(const char *file, int line, const td_tensordict *td, const char *const *path,
                    size_t path_len, td_dtype want) {
  td_tensor *tensor = td_take(td, path, path_len);
  td_dtype dtype = TD_DTYPE_OTHER;
  TD_DO(td_tensor_dtype(tensor, &dtype));
  td_tensor_free(tensor);
  if (dtype != want) {
    td_test_fail(file, line, "\"%s\" is of dtype %d, not %d", path[path_len - 1], (int)dtype,
                 (int)want);
  }
}

void td_check_json(const char *file, int line, const td_tensordict *td, const char *const *path,
                   size_t path_len, const char *want) {
  char text[256] = "";
  size_t length = 0;
  TD_DO(td_get_non_tensor_json(td, path, path_len, text, sizeof text, &length));
  td_test_check_same(file, line, text, want);
}
