#include "summary.h"

#include <math.h>
#include <string.h>

void summary_begin(summary *of) {
  memset(of, 0, sizeof *of);
  of->least = of->low = INFINITY;
  of->greatest = of->high = -INFINITY;
}

void summary_look(summary *of, const double *values, size_t count) {
  double sum = 0, squares = 0;
  size_t finite = 0;
  for (size_t i = 0; i < count; i++) {
    double value = values[i];
    if (isnan(value)) {
      of->nan++;
      continue;
    }
    if (value < of->least) of->least = value;
    if (value > of->greatest) of->greatest = value;
    if (isinf(value)) {
      of->infinite++;
      continue;
    }
    if (value < of->low) of->low = value;
    if (value > of->high) of->high = value;
    sum += value;
    finite++;
  }
  if (finite) { /* the means of two parts, and their squares */
    double mean = sum / (double)finite, apart = mean - of->mean;
    for (size_t i = 0; i < count; i++) {
      if (isfinite(values[i])) squares += (values[i] - mean) * (values[i] - mean);
    }
    double before = (double)of->finite, all = before + (double)finite;
    of->mean += apart * (double)finite / all;
    of->squares += squares + apart * apart * before * (double)finite / all;
    of->finite += finite;
  }
  of->count += count;
}

void summary_sort(summary *of, const double *values, size_t count) {
  double width = of->edge - of->low, scale = width > 0 ? (double)of->bins_len / width : 0;
  if (!isfinite(scale) || !isfinite(width)) return;
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(values[i])) continue;
    size_t bin = (size_t)((values[i] - of->low) * scale);
    of->bins[bin < of->bins_len ? bin : of->bins_len - 1]++;
  }
}

bool summary_bins(summary *of, size_t most) {
  if (of->low > of->high) return false;
  of->bins_len = most;
  of->edge = of->high;
  if (of->low == of->high) of->bins_len = 1;
  if (is_integer(of->dtype) && of->high - of->low < 1e15) { /* as many numbers in each bin */
    double numbers = of->high - of->low + 1, each = ceil(numbers / (double)most);
    of->bins_len = (size_t)ceil(numbers / each);
    of->edge = of->low + each * (double)of->bins_len;
  }
  if (of->bins_len == 1) of->bins[0] = of->finite;
  return of->bins_len > 1;
}

double summary_deviation(const summary *of) {
  return of->finite > 1 ? sqrt(of->squares / (double)(of->finite - 1)) : 0;
}
