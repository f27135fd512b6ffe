/* Values in the order of their rows, in little memory. */
#ifndef TDTOOL_SERIES_H
#define TDTOOL_SERIES_H

#include "rows.h"

enum { MOST_BUCKETS = 1024 };
typedef struct bucket { /* of adjacent rows */
  double low, high;     /* of the finite values; low > high: no value is finite */
  double sum;           /* of these */
  uint64_t count;
} bucket;
typedef struct series {
  bucket buckets[MOST_BUCKETS];
  int64_t span; /* rows of a bucket; the last one may have fewer */
  int64_t rows; /* that were added */
  uint64_t not_finite;
  double low, high; /* of all */
} series;
void series_begin(series *of);
void series_add(series *of, double value);
void series_row(series *of, const double *values, size_t count);  /* several values of one row */
void series_more(series *of, const double *values, size_t count); /* of the last row */
void series_skip(series *of);                                     /* a row without a value */
size_t series_length(const series *of);                           /* buckets in use */
bucket bucket_join(bucket one, bucket other);
/* The place of a value between `low` and `high`, 0 to 1; 0.5 if they are equal or their distance is infinite. */
double part_between(double value, double low, double high);

/* The values of a row: a key of all blocks. */
typedef struct column {
  key path;
  int64_t element;    /* of a row */
  int64_t from, rows; /* rows 0: all behind `from` */
  void (*each)(void *user, double value, bool there);
  void *user;
} column;
void column_rows(const td_tensordict *td, column *of);

#endif
