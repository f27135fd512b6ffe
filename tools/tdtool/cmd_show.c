/* tdtool show: the tree of a dictionary. Reads shapes only, so that any size shows at once. */
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

static struct {
  int64_t depth;
  bool elements;
} given;

static const tool_option options[] = {
    {"depth", 'd', "N", NULL, "show N levels; 0, the default, shows all", TAKES_COUNT,
     &given.depth},
    {"elements", 'e', NULL, NULL, "show each element of a lazy stack separately", TAKES_NOTHING,
     &given.elements},
};

/* The lines of a tree in front of a name, built from the end: its ancestors say where lines go on. */
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

static void add_abbreviated(text *to, const char *json, size_t columns) {
  text clean = {NULL, 0, 0};
  add_escaped(&clean, json);
  size_t bytes = text_fit(clean.data ? clean.data : "", columns);
  add_bytes(to, clean.data ? clean.data : "", bytes);
  if (bytes < clean.length) add(to, terminal_utf8() ? "…" : "...");
  text_free(&clean);
}

static void add_note(text *to, const entry *line) {
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

static void add_count(text *to, size_t count, const char *what) {
  addf(to, ", %zu %s%s", count, what, count == 1 ? "" : "s");
}

/* The names of the batch dimensions, if there are any. */
static td_keys *names_of(const td_tensordict *td, bool *any) {
  td_keys *names;
  must(td_names(td, &names));
  *any = false;
  for (size_t i = 0; i < td_keys_len(names); i++) {
    const char *const *path;
    size_t path_len;
    must(td_keys_at(names, i, &path, &path_len));
    *any = *any || path_len > 0;
  }
  return names;
}

static void print_head(const td_tensordict *td, const char *path, form which, const entry *root) {
  text line = {NULL, 0, 0};
  add_escaped(&line, path);
  printf("%s%s%s", color_on(BOLD), line.data, color_off(BOLD));
  line.length = 0;
  addf(&line, "  %s, batch ", form_title(which));
  add_shape(&line, root->sizes, root->dims);
  bool any;
  td_keys *names = names_of(td, &any);
  for (size_t i = 0; any && i < td_keys_len(names); i++) {
    const char *const *name;
    size_t length;
    must(td_keys_at(names, i, &name, &length));
    add(&line, i ? ", " : " (");
    add_escaped(&line, length ? name[0] : "-");
    if (i + 1 == td_keys_len(names)) add(&line, ")");
  }
  td_keys_free(names);
  add_count(&line, root->tensors, "tensor");
  if (root->values) add_count(&line, root->values, "value");
  add(&line, ", ");
  add_size(&line, root->bytes);
  text note = {NULL, 0, 0};
  add_note(&note, root);
  printf("%s%s%s\n", line.data, note.data ? ", " : "", note.data ? note.data : "");
  text_free(&note);
  text_free(&line);
}

static void json_names(const td_tensordict *td) {
  bool any;
  td_keys *names = names_of(td, &any);
  json_name("names");
  json_begin('[');
  for (size_t i = 0; i < td_keys_len(names); i++) {
    const char *const *name;
    size_t length;
    must(td_keys_at(names, i, &name, &length));
    if (length)
      json_text(name[0]);
    else
      json_raw("null");
  }
  json_end(']');
  td_keys_free(names);
}

static void json_entry(const tree *of, size_t position) {
  static const char *const kinds[] = {"none", "tensor", "dictionary", "value", "nested tensor"};
  const entry *line = of->entries + position;
  key path;
  entry_key(of, position, &path);
  json_begin('{');
  json_path(path.names, path.length);
  key_free(&path);
  json_name("kind");
  json_text(kinds[line->kind]);
  if (line->kind == TD_ENTRY_TENSOR || line->kind == TD_ENTRY_NESTED_TENSOR) {
    json_name("dtype");
    json_text(dtype_name(line->dtype));
    json_name("shape");
    json_sizes(line->sizes, line->dims);
    json_name("bytes");
    json_size(line->bytes);
  } else if (line->kind == TD_ENTRY_DICT) {
    json_name("batch_size");
    json_sizes(line->sizes, line->dims);
  } else if (line->value) {
    json_name("value");
    json_raw(line->value);
  }
  if (line->tensorclass) {
    json_name("tensorclass");
    json_text(line->tensorclass);
  }
  if (line->kind == TD_ENTRY_DICT && line->dict_kind == TD_DICT_LAZY_STACK) {
    json_name("stack_dim");
    json_int(line->stack_dim);
    json_name("elements");
    json_size(line->elements);
  }
  if (line->having) {
    json_name("in_elements");
    json_size(line->having);
  }
  json_end('}');
}

static bool shown(const entry *line) { return !given.depth || line->depth <= (size_t)given.depth; }

static void print_json(const td_tensordict *td, const char *path, form which, const tree *of) {
  json_begin('{');
  json_name("path");
  json_text(path);
  json_name("form");
  json_text(form_name(which));
  json_name("batch_size");
  json_sizes(of->entries->sizes, of->entries->dims);
  json_names(td);
  if (of->entries->tensorclass) {
    json_name("tensorclass");
    json_text(of->entries->tensorclass);
  }
  if (of->entries->dict_kind == TD_DICT_LAZY_STACK) {
    json_name("stack_dim");
    json_int(of->entries->stack_dim);
    json_name("elements");
    json_size(of->entries->elements);
  }
  json_name("tensors");
  json_size(of->entries->tensors);
  json_name("values");
  json_size(of->entries->values);
  json_name("bytes");
  json_size(of->entries->bytes);
  json_name("entries");
  json_begin('[');
  for (size_t i = 1; i < of->length; i++) {
    if (shown(of->entries + i)) json_entry(of, i);
  }
  json_end(']');
  json_end('}');
  json_finish();
}

static int run(int count, char **arguments) {
  td_tensordict *td = open_key(arguments[0], count > 1 ? arguments[1] : NULL, true);
  form which = form_of_file(arguments[0]);
  tree of = tree_of(td, given.elements);
  if (common.json) {
    print_json(td, arguments[0], which, &of);
  } else {
    print_head(td, arguments[0], which, of.entries);
    table *lines = table_new("Lllrl");
    for (size_t i = 1; i < of.length; i++) {
      if (shown(of.entries + i)) print_line(lines, &of, i);
    }
    table_print(lines, CUT_LINES);
    table_free(lines);
  }
  tree_free(&of);
  td_free(td);
  return TOOL_FINE;
}

const tool_command command_show = {
    .name = "show",
    .arguments = "PATH [KEY] [OPTION...]",
    .summary = "Shows the tree of entries with dtypes, shapes and sizes",
    .text =
        "tdtool does not read the values of tensors, so a folder of any size shows at "
        "once. KEY selects one entry; separate its names by slashes (a/b). A size of -1 "
        "differs between the elements of a lazy stack.",
    .example = "tdtool show rollout\ntdtool show rollout observation\ntdtool show rollout --json",
    .options = options,
    .options_len = COUNT_OF(options),
    .least = 1,
    .most = 2,
    .run = run,
};
