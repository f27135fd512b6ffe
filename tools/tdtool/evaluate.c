/* Conditions on the rows of a block: each operation gives values for all rows, one or more for each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

typedef struct results {
  long double *values;   /* row after row */
  size_t width;          /* of a row; a constant has one value in all */
  bool constant, single; /* single: of float32; constants are rounded to it */
  const char *typed;     /* the key it comes from, or NULL */
} results;

static results of_key(const condition *of, const block *rows) {
  elements all;
  if (!elements_at(rows->td, &of->path, &all)) {
    td_entry_kind kind;
    must(td_get_kind(rows->td, of->path.names, of->path.length, &kind));
    if (kind == TD_ENTRY_NONE) { /* the message of the library lists the keys */
      td_tensor *none;
      must(td_get(rows->td, of->path.names, of->path.length, &none));
    }
    die_usage("grep: %s is no tensor, so it cannot be compared", of->typed);
  }
  results result = {.typed = of->typed, .single = all.dtype == TD_DTYPE_FLOAT32};
  result.width = all.count / (size_t)rows->rows;
  result.values = xcalloc(all.count, sizeof *result.values);
  for (size_t i = 0; i < all.count; i++)
    result.values[i] = element_exact(all.dtype, all.data + i * all.item);
  elements_free(&all);
  return result;
}

static long double compared(operation is, long double left, long double right) {
  switch (is) {
    case IS_LESS: return left < right;
    case IS_LESS_EQUAL: return left <= right;
    case IS_GREATER: return left > right;
    case IS_GREATER_EQUAL: return left >= right;
    case IS_EQUAL: return left == right;
    case IS_NOT_EQUAL: return left != right;
    case IS_AND: return left != 0 && right != 0;
    default: return left != 0 || right != 0;
  }
}

static const char *name_of(const results *of) { return of->typed ? of->typed : "one side"; }

static results pair(operation is, results left, results right, size_t rows) {
  if (left.constant && right.single) left.values[0] = (float)left.values[0];
  if (right.constant && left.single) right.values[0] = (float)right.values[0];
  size_t width = left.width > right.width ? left.width : right.width;
  if ((left.width != width && left.width != 1) || (right.width != width && right.width != 1)) {
    die_usage(
        "grep: %s has %zu elements in a row and %s has %zu; any() and all() make one of several",
        name_of(&left), left.width, name_of(&right), right.width);
  }
  if (left.width == 0 || right.width == 0) width = 0;
  results result = {.width = width,
                    .values = xcalloc(rows * width, sizeof(long double)),
                    .typed = left.typed ? left.typed : right.typed};
  for (size_t i = 0; i < rows * width; i++) {
    size_t row = i / width, column = i % width;
    size_t one = left.constant ? 0 : row * left.width + (left.width == 1 ? 0 : column);
    size_t other = right.constant ? 0 : row * right.width + (right.width == 1 ? 0 : column);
    result.values[i] = compared(is, left.values[one], right.values[other]);
  }
  free(left.values);
  free(right.values);
  return result;
}

static results reduce(const results *of, bool all, size_t rows) {
  results result = {.width = 1, .values = xcalloc(rows, sizeof(long double)), .typed = of->typed};
  for (size_t row = 0; row < rows; row++) {
    bool found = all;
    for (size_t i = 0; i < of->width; i++) {
      bool truth = of->values[of->constant ? 0 : row * of->width + i] != 0;
      found = all ? found && truth : found || truth;
    }
    result.values[row] = found;
  }
  return result;
}

static results evaluate(const condition *of, const block *rows) {
  size_t count = (size_t)rows->rows;
  if (of->is == IS_KEY) return of_key(of, rows);
  if (of->is == IS_NUMBER) {
    results result = {.width = 1, .constant = true, .values = xcalloc(1, sizeof(long double))};
    result.values[0] = of->number;
    return result;
  }
  results left = evaluate(of->left, rows);
  if (of->right) return pair(of->is, left, evaluate(of->right, rows), count);
  if (of->is == IS_ANY || of->is == IS_ALL) {
    results result = reduce(&left, of->is == IS_ALL, count);
    free(left.values);
    return result;
  }
  for (size_t i = 0; i < (left.constant ? 1 : count * left.width); i++) {
    long double value = left.values[i];
    left.values[i] = of->is == IS_ABS ? fabsl(value) : of->is == IS_NAN ? isnan(value) : value == 0;
  }
  return left;
}

int64_t condition_rows(const condition *of, const block *rows, unsigned char *met) {
  results found = evaluate(of, rows);
  int64_t count = 0;
  if (found.width != 1) {
    die_usage("grep: %s has %zu elements in a row; say any(...) or all(...)", name_of(&found),
              found.width);
  }
  for (int64_t row = 0; row < rows->rows; row++) {
    met[row] = found.values[found.constant ? 0 : row] != 0;
    count += met[row];
  }
  free(found.values);
  return count;
}
