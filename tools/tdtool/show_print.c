/* Prints a tree for show. */
#include "plain.h"

#include <inttypes.h>

static void add_count(text *to, size_t count, const char *what) {
  addf(to, ", %zu %s%s", count, what, count == 1 ? "" : "s");
}

static void add_names(text *to, const tree *of) {
  size_t dims = of->entries->dims;
  bool any = false;
  for (size_t i = 0; of->names && i < dims; i++) any = any || of->names[i];
  for (size_t i = 0; any && i < dims; i++) {
    add(to, i ? ", " : " (");
    add_escaped(to, of->names[i] ? of->names[i] : "-");
    if (i + 1 == dims) add(to, ")");
  }
}

static void print_head(const tree *of, const char *path, form which) {
  const entry *root = of->entries;
  text line = {NULL, 0, 0};
  add_escaped(&line, path);
  printf("%s%s%s", color_on(BOLD), line.data, color_off(BOLD));
  line.length = 0;
  addf(&line, "  %s, batch ", of->ring ? "replay buffer" : form_title(which));
  add_shape(&line, root->sizes, root->dims);
  add_names(&line, of);
  add_count(&line, root->tensors, "tensor");
  if (root->values) add_count(&line, root->values, "value");
  add(&line, ", ");
  add_size(&line, root->bytes);
  text note = {NULL, 0, 0};
  add_note(&note, root);
  printf("%s%s%s\n", line.data, note.data ? ", " : "", note.data ? note.data : "");
  if (of->ring) {
    printf("%" PRId64 " of %" PRId64 " places hold rows; %" PRId64
           " rows were written, the next one goes to place %" PRId64 "\n",
           of->ring->len, of->ring->capacity, of->ring->written, of->ring->cursor);
  }
  text_free(&note);
  text_free(&line);
}

static void print_metadata(const char *place, const char *name, const char *json) {
  text line = {NULL, 0, 0};
  if (place) add_escaped(&line, place);
  add(&line, place ? " @" : "@");
  add_escaped(&line, name);
  add(&line, "  ");
  add_abbreviated(&line, json, 60);
  printf("%s%s%s\n", color_on(DIM), line.data, color_off(DIM));
  text_free(&line);
}

static void print_json(const tree *of, const char *path, form which, int64_t most_depth) {
  const entry *root = of->entries;
  json_begin('{');
  json_member(text, "path", path);
  json_member(text, "form", form_name(which));
  if (of->ring) {
    json_member(begin, "replay", '{');
    json_member(int, "len", of->ring->len);
    json_member(int, "capacity", of->ring->capacity);
    json_member(int, "cursor", of->ring->cursor);
    json_member(int, "written", of->ring->written);
    json_end('}');
  }
  json_member(sizes, "batch_size", root->sizes, root->dims);
  json_member(begin, "names", '[');
  for (size_t i = 0; i < root->dims; i++) {
    if (of->names && of->names[i])
      json_text(of->names[i]);
    else
      json_raw("null");
  }
  json_end(']');
  if (root->tensorclass) {
    json_member(text, "tensorclass", root->tensorclass);
  }
  if (root->dict_kind == TD_DICT_LAZY_STACK) {
    json_member(int, "stack_dim", root->stack_dim);
    json_member(size, "elements", root->elements);
  }
  json_member(size, "tensors", root->tensors);
  json_member(size, "values", root->values);
  json_member(size, "bytes", root->bytes);
  if (of->metadata) json_member(raw, "metadata", of->metadata);
  json_lines(of, most_depth);
  json_end('}');
  json_finish();
}

void print_tree(const tree *of, const char *path, form which, int64_t most_depth) {
  if (common.json) {
    print_json(of, path, which, most_depth);
    return;
  }
  print_head(of, path, which);
  if (of->metadata) metadata_each(of->metadata, print_metadata);
  print_lines(of, most_depth);
}
