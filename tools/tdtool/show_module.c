/* tdtool show of a TorchScript archive: the keys of the module, and its parameters as a tree. */
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

/* "ScriptModule", of the line that the library prints. */
static char *kind_of(const td_module *module) {
  size_t length = 0;
  td_status status = td_module_to_string(module, NULL, 0, &length);
  if (status != TD_OK && status != TD_ERR_BUFFER_TOO_SMALL) must(status);
  char *line = xcalloc(length + 1, 1);
  must(td_module_to_string(module, line, length + 1, &length));
  line[strcspn(line, "(")] = '\0';
  return line;
}

static void print_keys(const char *title, const td_keys *keys) {
  text line = {NULL, 0, 0}, one = {NULL, 0, 0};
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path;
    size_t path_len;
    must(td_keys_at(keys, i, &path, &path_len));
    one.length = 0;
    add_key(&one, path, path_len);
    if (i) add(&line, ", ");
    add_escaped(&line, one.data);
  }
  printf("%s%s%s%s\n", color_on(DIM), title, color_off(DIM), line.data ? line.data : "none");
  text_free(&one);
  text_free(&line);
}

static void json_keys(const char *name, const td_keys *keys) {
  json_member(begin, name, '[');
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path;
    size_t path_len;
    must(td_keys_at(keys, i, &path, &path_len));
    json_begin('[');
    for (size_t at = 0; at < path_len; at++) json_text(path[at]);
    json_end(']');
  }
  json_end(']');
}

static void print_head(const char *path, const char *kind, const entry *root, int64_t numbers) {
  text line = {NULL, 0, 0};
  add_escaped(&line, path);
  printf("%s%s%s", color_on(BOLD), line.data, color_off(BOLD));
  line.length = 0;
  addf(&line, "  %s, %s, %zu tensor%s, %lld parameter%s, ", form_title(FORM_MODULE), kind,
       root->tensors, root->tensors == 1 ? "" : "s", (long long)numbers, numbers == 1 ? "" : "s");
  add_size(&line, root->bytes);
  puts(line.data);
  text_free(&line);
}

static void print_json(const char *path, const char *kind, const td_keys *in, const td_keys *out,
                       const tree *of, int64_t numbers, int64_t most_depth) {
  json_begin('{');
  json_member(text, "path", path);
  json_member(text, "form", form_name(FORM_MODULE));
  json_member(text, "kind", kind);
  json_keys("in_keys", in);
  json_keys("out_keys", out);
  json_member(size, "tensors", of->entries->tensors);
  json_member(int, "parameters", numbers);
  json_member(size, "bytes", of->entries->bytes);
  json_lines(of, most_depth);
  json_end('}');
  json_finish();
}

bool show_module(const char *path, int64_t most_depth) {
  td_module *module;
  td_status status = load_module(path, &module);
  if (status == TD_ERR_KEY_NOT_FOUND) return false; /* without keys it is shown as an archive */
  must(status);
  td_keys *in, *out;
  td_tensordict *params;
  int64_t numbers;
  must(td_module_in_keys(module, &in));
  must(td_module_out_keys(module, &out));
  must(td_module_params(module, &params));
  must(td_measure(params, TD_MEASURE_ELEMENTS_ONCE, &numbers)); /* tied ones once */
  tree of = tree_of(params, false);
  char *kind = kind_of(module);
  if (common.json) {
    print_json(path, kind, in, out, &of, numbers, most_depth);
  } else {
    print_head(path, kind, of.entries, numbers);
    print_keys("in   ", in);
    print_keys("out  ", out);
    print_lines(&of, most_depth);
  }
  free(kind);
  tree_free(&of);
  td_free(params);
  td_keys_free(in);
  td_keys_free(out);
  td_module_free(module);
  return true;
}
