/* Reads a dictionary in dense pieces of some rows each. */
#include <stdlib.h>
#include <string.h>

#include "rows.h"

enum { BLOCK_BYTES = 1 << 20 };

static void describe(block *of) {
  must(td_batch_size(of->td, NULL, 0, &of->dims));
  if (of->dims > COUNT_OF(of->sizes)) die("a batch of %zu dimensions", of->dims);
  if (of->dims) must(td_batch_size(of->td, of->sizes, COUNT_OF(of->sizes), &of->dims));
  of->rows = 1;
  for (size_t i = 0; i < of->dims; i++) of->rows *= of->sizes[i];
}

/* A dense dictionary, cut along its first dimension. */
static void cut(block *whole, block_user each, void *user) {
  size_t bytes;
  if (!whole->dims || whole->rows == 0) {
    if (whole->rows) each(user, whole);
    whole->row += whole->rows;
    return;
  }
  must(td_nbytes(whole->td, &bytes));
  int64_t size = whole->sizes[0], per_row = (int64_t)bytes / size + 1;
  int64_t step = BLOCK_BYTES / per_row < 1 ? 1 : BLOCK_BYTES / per_row;
  int64_t inner = whole->rows / size;
  if (inner > 0 && step > (1 << 16) / inner) step = (1 << 16) / inner < 1 ? 1 : (1 << 16) / inner;
  for (int64_t from = 0; from < size; from += step) {
    int64_t past = size - from < step ? size : from + step;
    td_index_item item = TD_I_SLICE(from, past);
    block part = *whole;
    must(td_index(whole->td, &item, 1, &part.td));
    part.first = from;
    part.sizes[0] = past - from;
    part.rows = (past - from) * inner;
    each(user, &part);
    td_free(part.td);
    whole->row += part.rows;
  }
}

/* Lazy stacks may be as deep as the batch has dimensions. */
static void walk(block *at, block_user each, void *user) {
  td_dict_kind kind;
  must(td_kind(at->td, &kind));
  if (kind != TD_DICT_LAZY_STACK) {
    describe(at);
    cut(at, each, user);
    return;
  }
  int64_t sizes[64];
  size_t dims;
  must(td_batch_size(at->td, sizes, COUNT_OF(sizes), &dims));
  if (sizes[0] < 0) die("the elements of a lazy stack differ in their first dimension");
  for (int64_t i = 0; i < sizes[0]; i++) {
    td_index_item item = TD_I_INT(i);
    block inner = *at;
    must(td_index(at->td, &item, 1, &inner.td));
    inner.place[inner.place_len++] = i;
    walk(&inner, each, user);
    td_free(inner.td);
    at->row = inner.row;
  }
}

int64_t each_block(const td_tensordict *td, block_user each, void *user) {
  block all = {0};
  size_t dims;
  must(td_batch_size(td, NULL, 0, &dims));
  if (dims == 0)
    die("no batch dimension, so no rows; --batch-dims gives some to a format that stores none");
  if (dims > COUNT_OF(all.sizes)) die("a batch of %zu dimensions", dims);
  must(td_dup(td, &all.td));
  walk(&all, each, user);
  td_free(all.td);
  return all.row;
}

td_tensordict *only(const td_tensordict *td, const td_key *keys, size_t count) {
  td_select_options some = TD_SELECT_OPTIONS_INIT;
  td_tensordict *alone;
  some.ignore_missing = 1;
  must(td_select(td, keys, count, &some, &alone));
  return alone;
}

size_t block_place(const block *of, int64_t row, int64_t *place) {
  size_t length = of->place_len + of->dims;
  memcpy(place, of->place, of->place_len * sizeof *place);
  for (size_t i = of->dims; i-- > 0;) {
    place[of->place_len + i] = row % of->sizes[i] + (i == 0 ? of->first : 0);
    row /= of->sizes[i];
  }
  return length;
}
