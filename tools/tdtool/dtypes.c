/* Dtypes by their names. A test compares them with those of the library. */
#include <string.h>

#include "plain.h"

typedef struct dtype_row {
  td_dtype dtype;
  unsigned bytes;
  const char *name;
} dtype_row;
static const dtype_row rows[] = {
    {TD_DTYPE_UINT8, 1, "uint8"},
    {TD_DTYPE_INT8, 1, "int8"},
    {TD_DTYPE_INT16, 2, "int16"},
    {TD_DTYPE_INT32, 4, "int32"},
    {TD_DTYPE_INT64, 8, "int64"},
    {TD_DTYPE_FLOAT16, 2, "float16"},
    {TD_DTYPE_FLOAT32, 4, "float32"},
    {TD_DTYPE_FLOAT64, 8, "float64"},
    {TD_DTYPE_COMPLEX32, 4, "complex32"},
    {TD_DTYPE_COMPLEX64, 8, "complex64"},
    {TD_DTYPE_COMPLEX128, 16, "complex128"},
    {TD_DTYPE_BOOL, 1, "bool"},
    {TD_DTYPE_BFLOAT16, 2, "bfloat16"},
    {TD_DTYPE_UINT16, 2, "uint16"},
    {TD_DTYPE_UINT32, 4, "uint32"},
    {TD_DTYPE_UINT64, 8, "uint64"},
};

const char *dtype_name(td_dtype dtype) {
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    if (rows[i].dtype == dtype) return rows[i].name;
  }
  return "?";
}

td_dtype dtype_called(const char *name, uint64_t *bytes) {
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    if (strcmp(rows[i].name, name) != 0) continue;
    *bytes = rows[i].bytes;
    return rows[i].dtype;
  }
  return TD_DTYPE_OTHER;
}
