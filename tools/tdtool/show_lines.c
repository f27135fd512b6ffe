/* The lines of a tree, as people read them and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "plain.h"

/* The branches before a name. Built from the end: each ancestor that is not the last of its siblings has a line. */
static void add_branch(text *to, const tree *of, size_t position) {
  static const char *const drawn[2][4] = {{"|- ", "`- ", "|  ", "   "},
                                          {"├─ ", "└─ ", "│  ", "   "}};
  const char *const *parts = drawn[terminal_utf8()];
  size_t depth = of->entries[position].depth, count = 0;
  if (depth == 0) return;
  const char **pieces = xcalloc(depth, sizeof *pieces);
  for (const entry *line = of->entries + position; line->depth > 0;
       line = of->entries + line->parent) {
    pieces[count] = parts[(count ? 2 : 0) + (line->last ? 1 : 0)];
    count++;
  }
  if (depth > 30) addf(to, "(%zu levels) ", depth);
  for (size_t i = depth > 30 ? 1 : count; i-- > 0;) add(to, pieces[i]);
  free(pieces);
}

static const char *value_kind(const char *json) {
  if (*json == '"') return "text";
  if (*json == '[') return "list";
  if (*json == '{') return "map";
  if (*json == 't' || *json == 'f') return "truth";
  return *json == 'n' ? "null" : "number";
}

void add_abbreviated(text *to, const char *json, size_t columns) {
  text clean = {NULL, 0, 0};
  add_escaped(&clean, json);
  size_t bytes = text_fit(clean.data ? clean.data : "", columns);
  add_bytes(to, clean.data ? clean.data : "", bytes);
  if (bytes < clean.length) add(to, terminal_utf8() ? "…" : "...");
  text_free(&clean);
}

void add_note(text *to, const entry *line) {
  if (line->tensorclass) {
    add(to, "tensorclass ");
    add_escaped(to, line->tensorclass);
  }
  if (line->kind == TD_ENTRY_DICT && line->dict_kind == TD_DICT_LAZY_STACK) {
    addf(to, "%slazy stack of %zu along %lld", to->length ? ", " : "", line->elements,
         (long long)line->stack_dim);
  }
  if (line->kind == TD_ENTRY_NON_TENSOR && line->value) add_abbreviated(to, line->value, 40);
  if (line->kind == TD_ENTRY_NESTED_TENSOR) add(to, "nested");
  if (line->having) addf(to, "%sin %zu of %zu", to->length ? ", " : "", line->having, line->of);
}

static void print_line(table *to, const tree *of, size_t position) {
  const entry *line = of->entries + position;
  text name = {NULL, 0, 0}, shape = {NULL, 0, 0}, size = {NULL, 0, 0}, note = {NULL, 0, 0};
  bool dict = line->kind == TD_ENTRY_DICT, tensor = !dict && line->kind != TD_ENTRY_NON_TENSOR;
  add_branch(&name, of, position);
  add_escaped(&name, line->name);
  if (!*line->name) add(&name, "\"\"");
  if (tensor || (dict && !line->same_batch)) add_shape(&shape, line->sizes, line->dims);
  if (tensor) add_size(&size, line->bytes);
  add_note(&note, line);
  table_cell(to, dict ? BLUE : PLAIN, name.data);
  if (line->kind == TD_ENTRY_NON_TENSOR)
    table_cell(to, MAGENTA, line->value ? value_kind(line->value) : "value");
  else
    table_cell(to, dict ? DIM : CYAN,
               !dict              ? dtype_name(line->dtype)
               : line->same_batch ? ""
                                  : "batch");
  table_cell(to, dict ? DIM : PLAIN, shape.data ? shape.data : "");
  table_cell(to, GREEN, size.data ? size.data : "");
  table_cell(to, line->kind == TD_ENTRY_NON_TENSOR ? YELLOW : DIM, note.data ? note.data : "");
  text_free(&name);
  text_free(&shape);
  text_free(&size);
  text_free(&note);
}

static bool shown(const entry *line, int64_t most_depth) {
  return !most_depth || line->depth <= (size_t)most_depth;
}

void print_lines(const tree *of, int64_t most_depth) {
  table *lines = table_new("Lllrl");
  for (size_t i = 1; i < of->length; i++) {
    if (shown(of->entries + i, most_depth)) print_line(lines, of, i);
  }
  table_print(lines, CUT_LINES);
  table_free(lines);
}

static void json_entry(const tree *of, size_t position) {
  static const char *const kinds[] = {"none", "tensor", "dictionary", "value", "nested tensor"};
  const entry *line = of->entries + position;
  key path;
  entry_key(of, position, &path);
  json_begin('{');
  json_path(path.names, path.length);
  key_free(&path);
  json_member(text, "kind", kinds[line->kind]);
  if (line->kind == TD_ENTRY_TENSOR || line->kind == TD_ENTRY_NESTED_TENSOR) {
    json_member(text, "dtype", dtype_name(line->dtype));
    json_member(sizes, "shape", line->sizes, line->dims);
    json_member(size, "bytes", line->bytes);
  } else if (line->kind == TD_ENTRY_DICT) {
    json_member(sizes, "batch_size", line->sizes, line->dims);
  } else if (line->value) {
    json_member(raw, "value", line->value);
  }
  if (line->tensorclass) {
    json_member(text, "tensorclass", line->tensorclass);
  }
  if (line->kind == TD_ENTRY_DICT && line->dict_kind == TD_DICT_LAZY_STACK) {
    json_member(int, "stack_dim", line->stack_dim);
    json_member(size, "elements", line->elements);
  }
  if (line->having) {
    json_member(size, "in_elements", line->having);
  }
  json_end('}');
}

void json_lines(const tree *of, int64_t most_depth) {
  json_member(begin, "entries", '[');
  for (size_t i = 1; i < of->length; i++) {
    if (shown(of->entries + i, most_depth)) json_entry(of, i);
  }
  json_end(']');
}
