/* td_values.h: short ways to make tensors and dictionaries, and to check sizes and values. */
#ifndef TD_VALUES_H
#define TD_VALUES_H

#include "td_test.h"

/* TD_AT(TD_I_INT(0), TD_I_ALL): an array and its length, as TD_SIZES(3, 4). */
#define TD_NO_SIZES NULL, (size_t)0
#define TD_AT(...)                      \
  (const td_index_item[]){__VA_ARGS__}, \
      (sizeof((const td_index_item[]){__VA_ARGS__}) / sizeof(td_index_item))

/* A new tensor with first, first + 1, … in row-major order; for bool, every third is true. */
td_tensor *td_arange(td_dtype dtype, int64_t first, const int64_t *sizes, size_t dims);

/* A new tensor filled with one value. */
td_tensor *td_filled(td_dtype dtype, double value, const int64_t *sizes, size_t dims);

/* 0, 1, … in a dtype that C has not. */
td_tensor *td_converted(td_dtype dtype, const int64_t *sizes, size_t dims);

/* New one-dimensional index tensors and masks. */
td_tensor *td_positions(const int64_t *positions, size_t count);
td_tensor *td_mask(const int64_t *truths, size_t count);

/* A new empty dictionary without a device. */
td_tensordict *td_empty(const int64_t *sizes, size_t dims);

/* Stores a tensor and frees the handle. */
void td_put(td_tensordict *td, const char *const *path, size_t path_len, td_tensor *tensor);

/* Stores a dictionary and frees the handle. */
void td_put_dict(td_tensordict *td, const char *const *path, size_t path_len, td_tensordict *entry);

/* The tensor of a path as a new handle; the test fails when there is none. */
td_tensor *td_take(const td_tensordict *td, const char *const *path, size_t path_len);
td_tensordict *td_take_dict(const td_tensordict *td, const char *const *path, size_t path_len);

/* A folder or an archive, mapped. */
td_tensordict *td_loaded(const char *path);

/* A data set, and one of those that its own library wrote. The test is skipped where this build cannot read its kind. */
td_dataset *td_opened_set(const char *path);
td_dataset *td_golden_set(const char *name);

/* {"a": float32 [4,3,2] of 0…23, "n": {"b": int64 [4,3] of 0…11}} of batch [4,3]. */
td_tensordict *td_sample(void);

/* A flag that a call wrote. */
#define TD_CHECK_FLAG(function, handle, want) \
  do {                                        \
    int32_t td_flag = -1;                     \
    TD_DO(function((handle), &td_flag));      \
    TD_CHECK_INT(td_flag, want);              \
  } while (0)

#define TD_CHECK_SIZES(tensor, ...) \
  td_check_sizes(__FILE__, __LINE__, (tensor), TD_SIZES(__VA_ARGS__))
#define TD_CHECK_BATCH(td, ...) td_check_batch(__FILE__, __LINE__, (td), TD_SIZES(__VA_ARGS__))
#define TD_CHECK_NO_BATCH(td) td_check_batch(__FILE__, __LINE__, (td), TD_NO_SIZES)
#define TD_CHECK_VALUES(tensor, ...)                                           \
  td_check_values(__FILE__, __LINE__, (tensor), (const double[]){__VA_ARGS__}, \
                  sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
void td_check_sizes(const char *file, int line, const td_tensor *tensor, const int64_t *sizes,
                    size_t dims);
void td_check_batch(const char *file, int line, const td_tensordict *td, const int64_t *sizes,
                    size_t dims);
void td_check_values(const char *file, int line, const td_tensor *tensor, const double *values,
                     size_t count);

/* The sizes and the values of an entry in one line: TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2),
 * TD_VALUES(1, 2)). */
#define TD_VALUES(...) \
  (const double[]){__VA_ARGS__}, (sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
#define TD_CHECK_ENTRY(...) td_check_entry(__FILE__, __LINE__, __VA_ARGS__)
void td_check_entry(const char *file, int line, const td_tensordict *td, const char *const *path,
                    size_t path_len, const int64_t *sizes, size_t dims, const double *values,
                    size_t count);

/* The dtype of a tensor, and the JSON text of a value, in one line: TD_CHECK_DTYPE(td, TD_KEY("a"),
 * TD_DTYPE_BOOL), TD_CHECK_JSON(td, TD_KEY("note"), "[1,2]"). */
#define TD_CHECK_DTYPE(...) td_check_dtype(__FILE__, __LINE__, __VA_ARGS__)
#define TD_CHECK_JSON(...) td_check_json(__FILE__, __LINE__, __VA_ARGS__)
void td_check_dtype(const char *file, int line, const td_tensordict *td, const char *const *path,
                    size_t path_len, td_dtype want);
void td_check_json(const char *file, int line, const td_tensordict *td, const char *const *path,
                   size_t path_len, const char *want);

/* Both must be equal, and are printed if they are not. */
#define TD_CHECK_EQUAL(got, want) td_check_equal(__FILE__, __LINE__, (got), (want))
void td_check_equal(const char *file, int line, const td_tensordict *got,
                    const td_tensordict *want);

/* What td_equal, td_is_same and td_tensor_equal say. */
int td_equals(const td_tensordict *one, const td_tensordict *other);
int td_is_same_dict(const td_tensordict *one, const td_tensordict *other);
int td_tensor_equals(const td_tensor *one, const td_tensor *other);

/* Whether two tensors begin at the same address. */
int td_same_memory(const td_tensor *one, const td_tensor *other);

/* What td_file_metadata tells of a file; free() it. */
char *td_metadata_of(const char *path);

/* The detailed form of a dictionary, with a line for each tensor; free() it. */
char *td_printed(const td_tensordict *td);

#endif
