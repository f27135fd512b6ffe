/* The values of one tensor, in two passes: numbers, course and a sample; then histogram and outliers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { BARS = 40, MOST_VALUES = 1 << 20 /* as numbers in memory */ };
static const double far_off = 8; /* in standard deviations of the values near the median */

typedef struct walk {
  look *of;
  const leaf *what;
  double *sample;
  size_t sample_len;
  uint64_t seen, random;
  bool second, by_rows;
} walk;

/* Each value has the same chance to be in the sample. */
static void add_sample(walk *by, double value) {
  if (!isfinite(value)) return;
  by->seen++;
  if (by->sample_len < SAMPLE) {
    by->sample[by->sample_len++] = value;
    return;
  }
  by->random = by->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t place = (by->random >> 16) % by->seen;
  if (place < SAMPLE) by->sample[place] = value;
}

static void add_outlier(look *of, double value, const block *rows, int64_t row) {
  double score = (value - of->median) / of->spread;
  if (!isfinite(value) || !(fabs(score) > far_off)) return;
  if (of->outliers < OUTLIERS) {
    outlier *to = of->first + of->outliers;
    *to = (outlier){.value = value, .score = score};
    if (rows) to->dims = block_place(rows, row, to->place);
  }
  of->outliers++;
}

static void add_course(look *of, const double *values, size_t rows, size_t width) {
  if (!of->curves) {
    of->width = width;
    of->curves_len = width <= CURVES ? width : 1;
    of->curves = xcalloc(of->curves_len, sizeof *of->curves);
    for (size_t i = 0; i < of->curves_len; i++) series_begin(of->curves + i);
  }
  if (width != of->width && width < MOST_VALUES) { /* in a lazy stack: one band for all */
    of->width = 0;
    of->curves_len = of->curves_len ? 1 : 0;
  }
  for (size_t row = 0; row < rows && of->curves_len; row++) {
    const double *from = values + row * width;
    if (of->width == of->curves_len) {
      for (size_t i = 0; i < of->curves_len; i++) series_add(of->curves + i, from[i]);
    } else {
      series_row(of->curves, from, width);
    }
  }
}

static void add_values(walk *by, const elements *all, const block *rows) {
  double *values = xcalloc(all->count, sizeof *values);
  size_t width = rows && rows->rows ? all->count / (size_t)rows->rows : 0;
  elements_real(all->dtype, all->data, all->count, values);
  if (!by->second) {
    by->of->about.dtype = all->dtype;
    summary_look(&by->of->about, values, all->count);
    for (size_t i = 0; i < all->count; i++) add_sample(by, values[i]);
    if (rows) add_course(by->of, values, (size_t)rows->rows, width);
  } else {
    if (by->of->about.bins_len > 1) summary_sort(&by->of->about, values, all->count);
    for (size_t i = 0; i < all->count && by->of->spread > 0; i++)
      add_outlier(by->of, values[i], rows, width ? (int64_t)(i / width) : 0);
  }
  free(values);
  progress_add(all->count * all->item);
}

static elements part_of(const elements *all, size_t from) {
  elements part = *all;
  part.data = all->data + from * all->item;
  part.count = all->count - from < MOST_VALUES ? all->count - from : MOST_VALUES;
  return part;
}

/* Reads a long row in pieces. */
static void add_long_row(walk *by, const elements *all, const block *rows) {
  double *values = xcalloc(MOST_VALUES, sizeof *values);
  for (size_t at = 0; at < all->count; at += MOST_VALUES) {
    elements part = part_of(all, at);
    if (!by->second) {
      elements_real(part.dtype, part.data, part.count, values);
      if (at == 0)
        add_course(by->of, values, 1, part.count);
      else if (by->of->curves_len)
        series_more(by->of->curves, values, part.count);
      by->of->width = all->count;
    }
    uint64_t before = by->of->outliers;
    add_values(by, &part, NULL);
    for (uint64_t i = before; i < by->of->outliers && i < OUTLIERS; i++)
      by->of->first[i].dims = block_place(rows, 0, by->of->first[i].place);
  }
  free(values);
}

static void look_block(void *user, const block *rows) {
  walk *by = user;
  elements all;
  if (!elements_at(rows->td, &by->what->path,
                   &all)) { /* an element of a lazy stack that lacks it */
    for (int64_t row = 0; row < rows->rows && !by->second; row++) {
      for (size_t i = 0; i < by->of->curves_len; i++) series_skip(by->of->curves + i);
    }
    return;
  }
  if (rows->rows == 1 && all.count > MOST_VALUES)
    add_long_row(by, &all, rows);
  else
    add_values(by, &all, rows);
  elements_free(&all);
}

static void look_piece(void *user, const td_tensor *piece) {
  elements all = elements_of(piece);
  for (size_t at = 0; at < all.count; at += MOST_VALUES) {
    elements part = part_of(&all, at);
    add_values(user, &part, NULL);
  }
  elements_free(&all);
}

static int by_size(const void *one, const void *other) {
  double left = *(const double *)one, right = *(const double *)other;
  return (left > right) - (left < right);
}

static double middle(double *values, size_t count) {
  qsort(values, count, sizeof *values, by_size);
  return count % 2 ? values[count / 2] : values[count / 2 - 1] / 2 + values[count / 2] / 2;
}

/* Flags and constants have no outliers; a quarter of equal values has no spread. */
static void measure(walk *by) {
  look *of = by->of;
  if (!by->sample_len) return;
  of->median = middle(by->sample, by->sample_len);
  for (size_t i = 0; i < by->sample_len; i++) by->sample[i] = fabs(by->sample[i] - of->median);
  of->spread = 1.4826 * middle(by->sample, by->sample_len);
  if (of->about.dtype == TD_DTYPE_BOOL || of->about.finite < 16) of->spread = 0;
}

static void pass(const td_tensordict *alone, walk *by) {
  if (by->by_rows && by->what->kind != TD_ENTRY_NESTED_TENSOR)
    each_block(alone, look_block, by);
  else
    leaf_pieces(alone, by->what->path, look_piece, by);
}

look look_at(const td_tensordict *td, const leaf *what, bool by_rows) {
  look result = {.width = 0};
  walk by = {
      .of = &result, .what = what, .sample = xcalloc(SAMPLE, sizeof(double)), .by_rows = by_rows};
  td_key one = {what->path.names, what->path.length};
  td_tensordict *alone = only(td, &one, 1); /* so that the size of pieces fits this tensor */
  summary_begin(&result.about);
  pass(alone, &by);
  measure(&by);
  by.second = true;
  bool bins = summary_bins(&result.about, BARS);
  if (bins || result.spread > 0) pass(alone, &by);
  free(by.sample);
  td_free(alone);
  return result;
}

void look_free(look *of) {
  free(of->curves);
  *of = (look){.width = 0};
}
