/* Tensors that look like pictures: [height, width], with 1, 3 or 4 channels before or behind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { LEAST_SIDE = 8, MOST_SIDE = 200, MOST_DOTS = 1 << 26 };

bool picture_of(const entry *line, size_t batch_dims, picture *result) {
  if (line->kind != TD_ENTRY_TENSOR || line->dims < batch_dims + 2 || line->dims > batch_dims + 3)
    return false;
  const int64_t *sizes = line->sizes + batch_dims;
  bool three = line->dims == batch_dims + 3;
  if (line->dtype != TD_DTYPE_UINT8 && !is_real(line->dtype) && three) return false;
  for (size_t i = 0; i < line->dims; i++) {
    if (line->sizes[i] < 1) return false;
  }
  if (!three)
    *result = (picture){(size_t)sizes[0], (size_t)sizes[1], 1, false, false};
  else if (sizes[2] == 1 || sizes[2] == 3 || sizes[2] == 4)
    *result = (picture){(size_t)sizes[0], (size_t)sizes[1], (size_t)sizes[2], false, false};
  else if (sizes[0] == 1 || sizes[0] == 3)
    *result = (picture){(size_t)sizes[1], (size_t)sizes[2], (size_t)sizes[0], true, false};
  else
    return false;
  result->depth = result->channels == 1 && line->dtype != TD_DTYPE_UINT8;
  return result->height >= LEAST_SIDE && result->width >= LEAST_SIDE &&
         result->height <= MOST_DOTS / result->width / result->channels;
}

/* From dark blue over green to yellow: brightness alone tells the order, also without colours. */
static void add_depth(unsigned char *to, double part) {
  static const unsigned char colors[][3] = {{68, 1, 84},    {71, 44, 122},  {59, 81, 139},
                                            {44, 113, 142}, {33, 144, 141}, {39, 173, 129},
                                            {92, 200, 99},  {170, 220, 50}, {253, 231, 37}};
  const size_t last = COUNT_OF(colors) - 1;
  if (!(part > 0)) part = 0;
  if (part > 1) part = 1;
  size_t at = (size_t)(part * (double)last);
  if (at >= last) at = last - 1;
  double rest = part * (double)last - (double)at;
  for (int i = 0; i < 3; i++)
    to[i] = (unsigned char)(colors[at][i] * (1 - rest) + colors[at + 1][i] * rest + 0.5);
}

static unsigned char shade(double value, double low, double high) {
  double part = high > low ? (value - low) / (high - low) : 0;
  return (unsigned char)(!(part > 0) ? 0 : part > 1 ? 255 : part * 255 + 0.5);
}

/* The values of black and white: 0 and 255 for bytes, the range of the data for small bytes and for floats. */
static void range_for(const summary *about, bool depth, double *low, double *high) {
  *low = 0;
  *high = about->dtype == TD_DTYPE_UINT8 ? 255 : 1;
  if (about->dtype == TD_DTYPE_UINT8 && about->high > 0 && about->high < 64) *high = about->high;
  if (depth) *low = about->low;
  if (depth || (is_real(about->dtype) && about->high > 1.5)) *high = about->high;
  if (is_real(about->dtype) && about->high > 1.5 && about->high <= 255 && !depth) *high = 255;
  if (!depth && about->low < 0) *low = about->low;
}

static void print_picture(const elements *all, const picture *as, const summary *about) {
  size_t step = 1;
  while (as->height / step > MOST_SIDE || as->width / step > MOST_SIDE) step++;
  size_t height = as->height / step, width = as->width / step, out = as->depth ? 3 : as->channels;
  if (!height) height = 1;
  if (!width) width = 1;
  unsigned char *dots = xcalloc(height * width, out);
  double low, high;
  range_for(about, as->depth, &low, &high);
  for (size_t y = 0; y < height; y++) {
    for (size_t x = 0; x < width; x++) {
      for (size_t c = 0; c < as->channels; c++) {
        size_t row = y * step, column = x * step;
        size_t at = as->channels_first ? (c * as->height + row) * as->width + column
                                       : (row * as->width + column) * as->channels + c;
        double value = element_real(all->dtype, all->data + at * all->item);
        unsigned char *to = dots + (y * width + x) * out;
        if (!as->depth)
          to[c] = shade(value, low, high);
        else if (isfinite(value))
          add_depth(to, high > low ? (value - low) / (high - low) : 0);
        else
          memset(to, 128, 3);
      }
    }
  }
  fputs("<img alt=\"\" src=\"", stdout);
  png_address(dots, width, height, out);
  fputs("\">", stdout);
  free(dots);
}

typedef struct search {
  const key *path;
  const picture *as;
  const summary *about;
  int64_t rows, shown;
  size_t wanted;
} search;

static void print_some(void *user, const block *rows) {
  search *of = user;
  size_t size = of->as->height * of->as->width * of->as->channels;
  elements all;
  int64_t next = of->shown * (of->rows - 1) / (int64_t)(of->wanted > 1 ? of->wanted - 1 : 1);
  if (of->shown == (int64_t)of->wanted || next >= rows->row + rows->rows) return;
  if (!elements_at(rows->td, of->path, &all)) return;
  while (of->shown < (int64_t)of->wanted && next < rows->row + rows->rows &&
         all.count == size * (size_t)rows->rows) {
    int64_t place[64];
    elements one = all;
    one.data += (size_t)(next - rows->row) * size * all.item;
    fputs("<figure>", stdout);
    print_picture(&one, of->as, of->about);
    size_t dims = block_place(rows, next - rows->row, place);
    fputs("<figcaption>", stdout);
    for (size_t i = 0; i < dims; i++) printf("%s%lld", i ? ", " : "", (long long)place[i]);
    fputs("</figcaption></figure>", stdout);
    of->shown++;
    next = of->shown * (of->rows - 1) / (int64_t)(of->wanted > 1 ? of->wanted - 1 : 1);
  }
  elements_free(&all);
}

void print_pictures(const td_tensordict *td, const key *path, const picture *as,
                    const summary *about, int64_t rows) {
  search of = {path, as, about, rows, 0, rows < PICTURES ? (size_t)rows : PICTURES};
  td_key one = {path->names, path->length};
  td_tensordict *alone = only(td, &one, 1);
  printf("<figure><figcaption>%s</figcaption><div class=\"pictures\">",
         as->depth ? "Rows as maps: dark is least, bright is greatest" : "Rows as pictures");
  each_block(alone, print_some, &of);
  fputs("</div></figure>\n", stdout);
  td_free(alone);
}
