/* Lines of a tree: what all readers of one need. */
#include <stdlib.h>
#include <string.h>

#include "plain.h"

bool same_sizes(const entry *one, const entry *other) {
  return one->dims == other->dims &&
         (one->dims == 0 || memcmp(one->sizes, other->sizes, one->dims * sizeof *one->sizes) == 0);
}

void tree_sum(tree *of) {
  for (size_t i = of->length; i-- > 1;) {
    entry *line = of->entries + i, *around = of->entries + line->parent;
    line->tensors += line->kind == TD_ENTRY_TENSOR || line->kind == TD_ENTRY_NESTED_TENSOR;
    line->values += line->kind == TD_ENTRY_NON_TENSOR;
    around->tensors += line->tensors;
    around->values += line->values;
    around->bytes += line->bytes;
  }
}

void tree_free(tree *of) {
  for (size_t i = 0; of->names && i < of->entries->dims; i++) free(of->names[i]);
  for (size_t i = 0; i < of->length; i++) {
    free(of->entries[i].name);
    free(of->entries[i].sizes);
    free(of->entries[i].tensorclass);
    free(of->entries[i].value);
  }
  free(of->names);
  free(of->entries);
  free(of->metadata);
  *of = (tree){NULL, 0, NULL, NULL, NULL};
}

void entry_key(const tree *of, size_t position, key *result) {
  const entry *line = of->entries + position;
  size_t at = line->depth;
  result->length = at;
  result->names = xcalloc(at, sizeof *result->names);
  for (; at > 0; line = of->entries + line->parent) result->names[--at] = xstrdup(line->name);
}
