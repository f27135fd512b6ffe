/* Two tensors: where they differ first, in how many places, and by how much. */
#include <math.h>
#include <string.h>

#include "tdtool.h"

enum { CHUNK = 8192 };

typedef struct tolerance {
  double relative, absolute;
} tolerance;

typedef struct comparison {
  uint64_t different, first;
  double largest;
} comparison;

static bool close_enough(double one, double other, tolerance by) {
  if (isnan(one) || isnan(other)) return isnan(one) && isnan(other);
  if (one == other) return true;
  return fabs(one - other) <= by.absolute + by.relative * fabs(other);
}

/* Whether two elements are equal within the tolerances; their distance. */
static bool same_element(const elements *one, const elements *other, size_t at, tolerance by,
                         double *distance) {
  const unsigned char *left = one->data + at * one->item, *right = other->data + at * one->item;
  bool exact = by.relative <= 0 && by.absolute <= 0;
  double first = element_real(one->dtype, left), second = element_real(one->dtype, right);
  *distance = fabs(first - second);
  if (is_integer(one->dtype)) {
    bool equal = memcmp(left, right, one->item) == 0;
    return equal || (!exact && close_enough(first, second, by));
  }
  if (is_real(one->dtype)) return close_enough(first, second, by);
  td_dtype half = one->dtype == TD_DTYPE_COMPLEX32   ? TD_DTYPE_FLOAT16
                  : one->dtype == TD_DTYPE_COMPLEX64 ? TD_DTYPE_FLOAT32
                                                     : TD_DTYPE_FLOAT64;
  double real = element_real(half, left) - element_real(half, right);
  double imaginary =
      element_real(half, left + one->item / 2) - element_real(half, right + one->item / 2);
  *distance = hypot(real, imaginary);
  if (isnan(*distance)) return isnan(first) && isnan(second);
  return *distance <= by.absolute + by.relative * second;
}

static comparison compare(const elements *one, const elements *other, tolerance by) {
  comparison result = {0, 0, 0};
  for (size_t at = 0; at < one->count; at += CHUNK) {
    size_t count = one->count - at < CHUNK ? one->count - at : CHUNK;
    progress_add(2 * count * one->item);
    if (memcmp(one->data + at * one->item, other->data + at * one->item, count * one->item) == 0)
      continue;
    for (size_t i = at; i < at + count; i++) {
      double distance;
      if (same_element(one, other, i, by, &distance)) continue;
      if (result.different++ == 0) result.first = i;
      if (distance > result.largest || isnan(distance)) result.largest = distance;
    }
  }
  return result;
}

static void add_difference(text *to, const elements *one, const elements *other, comparison found) {
  int64_t place[64];
  uint64_t rest = found.first;
  for (size_t dim = one->dims; dim-- > 0; rest /= (uint64_t)one->sizes[dim]) {
    if (dim < COUNT_OF(place)) place[dim] = (int64_t)(rest % (uint64_t)one->sizes[dim]);
  }
  addf(to, "%llu of %llu differ, first at ", (unsigned long long)found.different,
       (unsigned long long)one->count);
  add_shape(to, place, one->dims < COUNT_OF(place) ? one->dims : COUNT_OF(place));
  add(to, ": ");
  add_element(to, one->dtype, one->data + found.first * one->item, false);
  add(to, " and ");
  add_element(to, one->dtype, other->data + found.first * one->item, false);
  addf(to, ", at most by %.5g", found.largest);
}

const char *tensors_differ(const td_tensor *left, const td_tensor *right, double relative,
                           double absolute, text *details) {
  elements one = elements_of(left), other = elements_of(right);
  const char *kind = NULL;
  if (one.dtype != other.dtype) {
    kind = "dtype";
    addf(details, "%s and %s", dtype_name(one.dtype), dtype_name(other.dtype));
  } else if (one.dims != other.dims ||
             (one.dims && memcmp(one.sizes, other.sizes, one.dims * sizeof *one.sizes) != 0)) {
    kind = "shape";
    add_shape(details, one.sizes, one.dims);
    add(details, " and ");
    add_shape(details, other.sizes, other.dims);
  } else {
    comparison found = compare(&one, &other, (tolerance){relative, absolute});
    if (found.different) kind = "values";
    if (found.different) add_difference(details, &one, &other, found);
  }
  elements_free(&one);
  elements_free(&other);
  return kind;
}
