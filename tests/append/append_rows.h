/* Rows that tell whether they are whole: a number, what follows from it, and a hash of both. */
#ifndef APPEND_ROWS_H
#define APPEND_ROWS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "td_values.h"

/* In forked processes: there a failure cannot end a test. */
#define GROW_DO(call)                                                                      \
  do {                                                                                     \
    const td_status grow_status = (call);                                                  \
    if (grow_status != TD_OK) {                                                            \
      fprintf(stderr, "# %s:%d: %s gave %d: %s\n", __FILE__, __LINE__, #call, grow_status, \
              td_last_error_message());                                                    \
      _exit(1);                                                                            \
    }                                                                                      \
  } while (0)
#define GROW_CHECK(condition, ...)                      \
  do {                                                  \
    if (!(condition)) {                                 \
      fprintf(stderr, "# %s:%d: ", __FILE__, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                     \
      fprintf(stderr, "\n");                            \
      _exit(1);                                         \
    }                                                   \
  } while (0)

typedef struct grow_row {
  int64_t number;
  double values[6];
  uint64_t hash;
} grow_row;

static inline grow_row grow_make_row(int64_t number) {
  grow_row row;
  row.number = number;
  row.hash = 0x9e3779b97f4a7c15ull * (uint64_t)(number + 1);
  for (int i = 0; i < 6; i++) {
    row.values[i] = (double)number * (i + 1) + 0.5;
    uint64_t word;
    memcpy(&word, &row.values[i], sizeof word);
    row.hash = (row.hash ^ word) * 0x100000001b3ull;
    row.hash ^= row.hash >> 29;
  }
  return row;
}

/* The keys: flat, or in dictionaries of their own. */
static const char *const grow_number[] = {"number"}, *const grow_hash[2] = {"check", "hash"},
                         *const grow_flat_hash[1] = {"hash"},
                         *const grow_values[3] = {"deep", "er", "values"},
                         *const grow_flat_values[1] = {"values"};
#define GROW_HASH(nested) (nested) ? grow_hash : grow_flat_hash, (size_t)((nested) ? 2 : 1)
#define GROW_VALUES(nested) (nested) ? grow_values : grow_flat_values, (size_t)((nested) ? 3 : 1)

static inline void grow_put(td_tensordict *td, const char *const *path, size_t path_len,
                            const void *data, td_dtype dtype, int64_t n, int64_t width) {
  const int64_t sizes[2] = {n, width};
  td_tensor *tensor = NULL;
  void *to = NULL;
  GROW_DO(td_tensor_zeros(sizes, width == 0 ? 1 : 2, dtype, TD_DEVICE_CPU, -1, &tensor));
  GROW_DO(td_tensor_data(tensor, &to));
  if (n != 0) memcpy(to, data, (size_t)(n * (width == 0 ? 1 : width)) * 8);
  GROW_DO(td_set(td, path, path_len, tensor));
  td_tensor_free(tensor);
}

/* Rows first … first + n - 1 as a dictionary. */
static inline td_tensordict *grow_rows(int64_t first, int64_t n, int nested) {
  td_tensordict *td = NULL;
  int64_t *numbers = malloc((size_t)(n + 1) * 8);
  double *values = malloc((size_t)(n + 1) * 48);
  uint64_t *hashes = malloc((size_t)(n + 1) * 8);
  for (int64_t i = 0; i < n; i++) {
    const grow_row row = grow_make_row(first + i);
    numbers[i] = row.number;
    hashes[i] = row.hash;
    memcpy(values + 6 * i, row.values, sizeof row.values);
  }
  GROW_DO(td_create(&n, 1, TD_DEVICE_NONE, -1, &td));
  grow_put(td, grow_number, 1, numbers, TD_DTYPE_INT64, n, 0);
  grow_put(td, GROW_HASH(nested), hashes, TD_DTYPE_INT64, n, 0);
  grow_put(td, GROW_VALUES(nested), values, TD_DTYPE_FLOAT64, n, 6);
  free(numbers);
  free(values);
  free(hashes);
  return td;
}

static inline const void *grow_data(const td_tensordict *td, const char *const *path, size_t len) {
  td_tensor *tensor = NULL;
  void *data = NULL;
  GROW_DO(td_get(td, path, len, &tensor));
  GROW_DO(td_tensor_data(tensor, &data));
  td_tensor_free(tensor); /* the dictionary keeps it */
  return data;
}

/* Rows `from` up to the end of a dictionary are whole, and every 97th before. The number of rows. */
static inline int64_t grow_check(const td_tensordict *td, int64_t from, int nested) {
  int64_t rows = -1;
  size_t dims = 0;
  GROW_DO(td_batch_size(td, &rows, 1, &dims));
  if (rows == 0) return 0;
  const int64_t *numbers = grow_data(td, grow_number, 1);
  const double *values = grow_data(td, GROW_VALUES(nested));
  const uint64_t *hashes = grow_data(td, GROW_HASH(nested));
  for (int64_t i = from % 97; i < rows; i += i < from ? 97 : 1) {
    const grow_row row = grow_make_row(i);
    GROW_CHECK(numbers[i] == row.number, "row %lld of %lld has number %lld", (long long)i,
               (long long)rows, (long long)numbers[i]);
    GROW_CHECK(memcmp(values + 6 * i, row.values, sizeof row.values) == 0,
               "row %lld of %lld has torn values", (long long)i, (long long)rows);
    GROW_CHECK(hashes[i] == row.hash, "row %lld of %lld has a torn hash", (long long)i,
               (long long)rows);
  }
  return rows;
}

static inline td_writer *grow_open(const char *folder, int nested,
                                   const td_append_options *options) {
  td_tensordict *like = grow_rows(0, 1, nested);
  td_writer *writer = NULL;
  int32_t field = -1;
  GROW_DO(td_writer_open_append(folder, like, options, &writer));
  GROW_DO(td_writer_bind(writer, grow_number, 1, &field));
  GROW_DO(td_writer_bind(writer, GROW_VALUES(nested), &field));
  GROW_DO(td_writer_bind(writer, GROW_HASH(nested), &field));
  td_free(like);
  return writer;
}

static inline void grow_write(td_writer *writer, int64_t number) {
  const grow_row row = grow_make_row(number);
  GROW_DO(td_writer_put(writer, 0, &row.number, sizeof row.number));
  GROW_DO(td_writer_put(writer, 1, row.values, sizeof row.values));
  GROW_DO(td_writer_put(writer, 2, &row.hash, sizeof row.hash));
  GROW_DO(td_writer_next(writer));
}

#endif
