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
    SHA256_OPTION,
};

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
  json_lines(of, given.depth);
  json_end('}');
  json_finish();
}

static int run(int count, char **arguments) {
  form which = form_of_file(arguments[0]);
  if (loading.sha256 && (which != FORM_MODULE || count > 1)) {
    die_usage("show: --sha256 is for a whole TorchScript archive");
  }
  if (which == FORM_MODULE && count == 1 && show_module(arguments[0], given.depth)) {
    return TOOL_FINE;
  }
  td_tensordict *td = open_key(arguments[0], count > 1 ? arguments[1] : NULL, true);
  tree of = tree_of(td, given.elements);
  if (common.json) {
    print_json(td, arguments[0], which, &of);
  } else {
    print_head(td, arguments[0], which, of.entries);
    print_lines(&of, given.depth);
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
        "differs between the elements of a lazy stack. Of a TorchScript archive it shows the keys "
        "and parameters of the module. Such an archive is code, and tdtool loads it: show only "
        "those that you trust, or give the checksum. With a KEY, tdtool reads the tensors alone "
        "and runs no code.",
    .example =
        "tdtool show rollout\ntdtool show rollout observation\ntdtool show rollout --json\ntdtool "
        "show policy.pt",
    .options = options,
    .options_len = COUNT_OF(options),
    .least = 1,
    .most = 2,
    .run = run,
};
