/* A series has a fixed number of buckets. When they are full, neighbours are joined: least and greatest values stay. */
#include <math.h>
#include <stdlib.h>

#include "series.h"

static const bucket nothing = {INFINITY, -INFINITY, 0, 0};

void series_begin(series *of) {
  of->span = 1;
  of->rows = 0;
  of->not_finite = 0;
  of->low = INFINITY;
  of->high = -INFINITY;
}

size_t series_length(const series *of) { return (size_t)((of->rows + of->span - 1) / of->span); }

bucket bucket_join(bucket one, bucket other) {
  return (bucket){fmin(one.low, other.low), fmax(one.high, other.high), one.sum + other.sum,
                  one.count + other.count};
}

double part_between(double value, double low, double high) {
  double part = (value / 2 - low / 2) / (high / 2 - low / 2);
  return high > low && isfinite(part) ? part : 0.5;
}

static bucket *next_bucket(series *of) {
  if (of->rows / of->span == MOST_BUCKETS) {
    for (size_t i = 0; i < MOST_BUCKETS / 2; i++)
      of->buckets[i] = bucket_join(of->buckets[2 * i], of->buckets[2 * i + 1]);
    of->span *= 2;
  }
  bucket *at = of->buckets + of->rows / of->span;
  if (of->rows % of->span == 0) *at = nothing;
  of->rows++;
  return at;
}

void series_skip(series *of) { next_bucket(of); }

static void add_to(series *of, bucket *at, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double value = values[i];
    if (!isfinite(value)) {
      of->not_finite++;
      continue;
    }
    *at = bucket_join(*at, (bucket){value, value, value, 1});
    of->low = fmin(of->low, value);
    of->high = fmax(of->high, value);
  }
}

void series_row(series *of, const double *values, size_t count) {
  add_to(of, next_bucket(of), values, count);
}

void series_more(series *of, const double *values, size_t count) {
  add_to(of, of->buckets + (of->rows - 1) / of->span, values, count);
}

void series_add(series *of, double value) { series_row(of, &value, 1); }

static void column_block(void *user, const block *rows) {
  column *of = user;
  bool all_rows = !of->rows || of->rows > INT64_MAX - of->from;
  int64_t past = all_rows ? INT64_MAX : of->from + of->rows;
  if (rows->row + rows->rows <= of->from || rows->row >= past) return;
  elements all = {0};
  size_t width = 0;
  if (elements_at(rows->td, &of->path, &all)) width = all.count / (size_t)rows->rows;
  for (int64_t row = 0; row < rows->rows; row++) {
    int64_t number = rows->row + row;
    if (number < of->from || number >= past) continue;
    bool there = (uint64_t)of->element < width;
    size_t at = (size_t)row * width + (size_t)of->element;
    of->each(of->user, there ? element_real(all.dtype, all.data + at * all.item) : NAN, there);
  }
  if (all.held) elements_free(&all);
}

void column_rows(const td_tensordict *td, column *of) { each_block(td, column_block, of); }
