/* Statistics of a tensor. */
#ifndef TDTOOL_SUMMARY_H
#define TDTOOL_SUMMARY_H

#include "tdtool.h"

enum { MOST_BINS = 64 };
typedef struct summary {
  td_dtype dtype;
  uint64_t count, finite, nan, infinite;
  double least, greatest; /* of all but NaN */
  double low, high;       /* of finite ones */
  double mean, squares;   /* of finite ones: squares of the distances from the mean */
  double edge;            /* the end of the last bin */
  uint64_t bins[MOST_BINS];
  size_t bins_len;
} summary;

void summary_begin(summary *of);
void summary_look(summary *of, const double *values, size_t count);
/* Prepares the bins of a histogram for a second pass over the values. False if there is no finite value, or if all
 * are equal and already in the one bin. */
bool summary_bins(summary *of, size_t most);
void summary_sort(summary *of, const double *values, size_t count);
double summary_deviation(const summary *of);

#endif
