/* tdtool head: rows of a dictionary. A row is one element of the batch. */
#include <stdlib.h>
#include <string.h>

#include "runs.h"

/* A walk over the elements of a batch, which may have sizes that differ (-1) inside a lazy stack. */
typedef struct level {
  td_tensordict *td;
  int64_t next, size;
} level;
typedef struct cursor {
  level levels[65];
  size_t depth;
  td_tensordict *row; /* the element itself */
} cursor;

static int64_t first_size(const td_tensordict *td, size_t *dims) {
  int64_t sizes[64];
  must(td_batch_size(td, NULL, 0, dims));
  if (*dims > 64) die("a batch of %zu dimensions", *dims);
  if (*dims) must(td_batch_size(td, sizes, 64, dims));
  return *dims ? sizes[0] : 0;
}

/* Rows that one element of a dictionary with such a batch holds, -1 when they differ. */
static int64_t rows_below(const td_tensordict *td) {
  int64_t sizes[64], rows = 1;
  size_t dims;
  must(td_batch_size(td, sizes, 64, &dims));
  for (size_t i = 1; i < dims; i++) {
    if (sizes[i] < 0) return -1;
    if (sizes[i] && rows > INT64_MAX / sizes[i]) return -1;
    rows *= sizes[i];
  }
  return rows;
}

static void descend(cursor *at, td_tensordict *td) {
  size_t dims;
  int64_t size = first_size(td, &dims);
  if (dims == 0)
    at->row = td;
  else
    at->levels[at->depth++] = (level){td, 0, size};
}

/* Steps to the next row. Passes over `skip` rows without reading them, if their number is known. */
static bool next_row(cursor *at, int64_t *skip) {
  td_free(at->row);
  at->row = NULL;
  while (at->depth) {
    level *top = at->levels + at->depth - 1;
    int64_t below = rows_below(top->td);
    if (*skip > 0 && below > 0) {
      int64_t whole = *skip / below;
      if (whole > top->size - top->next) whole = top->size - top->next;
      top->next += whole;
      *skip -= whole * below;
    }
    if (top->next >= top->size) {
      td_free(top->td);
      at->depth--;
      continue;
    }
    td_index_item item = TD_I_INT(top->next++);
    td_tensordict *inner;
    must(td_index(top->td, &item, 1, &inner));
    descend(at, inner);
    if (at->row && (*skip)-- <= 0) return *skip = 0, true;
    td_free(at->row);
    at->row = NULL;
  }
  return false;
}

static void add_place(text *to, const cursor *at) {
  for (size_t i = 0; i < at->depth; i++) {
    addf(to, "%s%lld", i ? ", " : "", (long long)at->levels[i].next - 1);
  }
}

/* A cell: an element, the first of several elements, or a non-tensor value. */
static void row_cell(table *to, const td_tensordict *row, const leaf *of, size_t most) {
  text cell = {NULL, 0, 0};
  td_entry_kind kind;
  must(td_get_kind(row, of->path.names, of->path.length, &kind));
  elements values;
  if (elements_at(row, &of->path, &values)) {
    add_elements(&cell, &values, most);
    elements_free(&values);
  } else if (kind == TD_ENTRY_NON_TENSOR) {
    char *json = non_tensor_text(row, of->path.names, of->path.length, false);
    if (json) add_escaped(&cell, json);
    free(json);
    size_t bytes = cell.data ? text_fit(cell.data, 40) : 0;
    if (bytes < cell.length) {
      cell.length = bytes;
      add(&cell, terminal_utf8() ? "…" : "...");
    }
  }
  table_cell(to, kind == TD_ENTRY_NON_TENSOR ? YELLOW : PLAIN, cell.data ? cell.data : "");
  text_free(&cell);
}

static void json_row(const cursor *at, const td_tensordict *row, const leaves *chosen) {
  json_begin('{');
  json_member(begin, "index", '[');
  for (size_t i = 0; i < at->depth; i++) json_int(at->levels[i].next - 1);
  json_end(']');
  json_member(begin, "values", '{');
  for (size_t i = 0; i < chosen->length; i++) {
    const key *path = &chosen->items[i].path;
    td_entry_kind kind;
    must(td_get_kind(row, path->names, path->length, &kind));
    if (kind != TD_ENTRY_TENSOR && kind != TD_ENTRY_NON_TENSOR) continue;
    text name = {NULL, 0, 0};
    add_key(&name, path->names, path->length);
    json_name(name.data);
    text_free(&name);
    if (kind == TD_ENTRY_NON_TENSOR) {
      char *json = non_tensor_text(row, path->names, path->length, false);
      json_raw(json ? json : "null");
      free(json);
      continue;
    }
    elements values;
    elements_at(row, path, &values);
    json_elements(&values);
    elements_free(&values);
  }
  json_end('}');
  json_end('}');
}

/* The line of a chosen leaf in the tree; both have the same order. */
static const entry *line_of(const tree *lines, const leaf *wanted, size_t *from) {
  for (; *from < lines->length; ++*from) {
    const entry *line = lines->entries + *from;
    if (line->depth != wanted->path.length || line->kind != wanted->kind) continue;
    key path;
    entry_key(lines, *from, &path);
    bool found = key_within(path.names, path.length, wanted->path);
    key_free(&path);
    if (found) return line;
  }
  die("an entry has vanished");
  return NULL;
}

/* A table whose heads are the keys, dtypes and sizes of one row. */
static table *column_heads(const td_tensordict *td, const leaves *chosen, size_t batch_dims) {
  tree lines = tree_of(td, false);
  text alignment = {NULL, 0, 0}, *about = xcalloc(chosen->length, sizeof *about);
  add(&alignment, "l");
  size_t at = 1;
  for (size_t i = 0; i < chosen->length; i++) {
    const entry *line = line_of(&lines, chosen->items + i, &at);
    bool tensor = line->kind != TD_ENTRY_NON_TENSOR, number = line->kind == TD_ENTRY_TENSOR;
    add(about + i, tensor ? dtype_name(line->dtype) : "");
    for (size_t dim = batch_dims; dim < line->dims; dim++) number = number && line->sizes[dim] == 1;
    if (tensor && line->dims > batch_dims) {
      add(about + i, " ");
      add_shape(about + i, line->sizes + batch_dims, line->dims - batch_dims);
    }
    add(&alignment, number ? "r" : "l");
  }
  table *made = table_new(alignment.data);
  table_cell(made, BOLD, "row");
  for (size_t i = 0; i < chosen->length; i++) {
    text name = {NULL, 0, 0};
    add_key(&name, chosen->items[i].path.names, chosen->items[i].path.length);
    table_cell(made, BOLD, name.data);
    text_free(&name);
  }
  table_cell(made, DIM, "");
  for (size_t i = 0; i < chosen->length; i++) {
    table_cell(made, DIM, about[i].data);
    text_free(about + i);
  }
  free(about);
  text_free(&alignment);
  tree_free(&lines);
  return made;
}

void print_rows(const td_tensordict *td, const leaves *chosen, int64_t from, int64_t count) {
  cursor at = {.depth = 0};
  size_t dims, most = 4;
  td_tensordict *again;
  first_size(td, &dims);
  must(td_dup(td, &again));
  table *lines = common.json ? NULL : column_heads(td, chosen, dims);
  if (common.json) json_begin('[');
  int64_t skip = from, done = 0;
  descend(&at, again);
  bool alone = at.row != NULL; /* no batch dimension: one row */
  while (done < count && (alone ? done == 0 && from == 0 : next_row(&at, &skip))) {
    if (common.json) {
      json_row(&at, at.row, chosen);
    } else {
      text place = {NULL, 0, 0};
      add_place(&place, &at);
      table_cell(lines, DIM, place.data ? place.data : "-");
      text_free(&place);
      for (size_t i = 0; i < chosen->length; i++) row_cell(lines, at.row, chosen->items + i, most);
    }
    done++;
  }
  td_free(at.row);
  while (at.depth) td_free(at.levels[--at.depth].td);
  if (!common.json && done == 0 && from > 0 && count > 0) {
    int64_t rows = from - skip; /* what could be passed over */
    die("no row %lld: there %s %lld %s", (long long)from, rows == 1 ? "is" : "are", (long long)rows,
        rows == 1 ? "row" : "rows");
  }
  if (common.json) {
    json_end(']');
    json_finish();
  } else {
    table_print(lines, BLOCKS);
    table_free(lines);
  }
}

int run_head(int count, char **arguments) {
  td_tensordict *td = open_rows(arguments[0]);
  leaves chosen = leaves_of(td, true);
  leaves_keep(&chosen, count - 1, arguments + 1);
  print_rows(td, &chosen, head_asked.from, head_asked.rows);
  leaves_free(&chosen);
  td_free(td);
  return TOOL_FINE;
}
