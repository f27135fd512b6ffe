/* tdtool show, with the library: what tdtool does not read by itself. Reads shapes only, so that any size shows at
 * once. */
#include <stdlib.h>
#include <sys/stat.h>

#include "dataset.h"
#include "runs.h"

/* The names of the batch dimensions. */
static char **names_of(const td_tensordict *td) {
  td_keys *names;
  must(td_names(td, &names));
  char **result = xcalloc(td_keys_len(names), sizeof *result);
  for (size_t i = 0; i < td_keys_len(names); i++) {
    const char *const *path;
    size_t path_len;
    must(td_keys_at(names, i, &path, &path_len));
    if (path_len) result[i] = xstrdup(path[0]);
  }
  td_keys_free(names);
  return result;
}

static bool has(const char *folder, const char *name) {
  text path = {NULL, 0, 0};
  addf(&path, "%s/%s", folder, name);
  struct stat about;
  const bool found = stat(path.data, &about) == 0;
  text_free(&path);
  return found;
}

/* A folder of a replay buffer has its rows in storage/; an ensemble has buffers in it. */
static bool is_replay(const char *path) {
  return !has(path, "meta.json") &&
         (has(path, "storage/meta.json") || has(path, "storage/metadata.json") ||
          has(path, "storage/storage_metadata.json"));
}

static int show_replay(const char *path) {
  td_replay *replay;
  td_tensordict *td;
  ring stands;
  must(td_replay_load(path, NULL, &replay));
  must(td_replay_where(replay, &stands.len, &stands.capacity, &stands.cursor, &stands.written));
  must(td_replay_dict(replay, &td));
  tree of = tree_of(td, show_asked.elements);
  of.ring = &stands;
  print_tree(&of, path, FORM_FOLDER, show_asked.depth);
  tree_free(&of);
  td_free(td);
  td_replay_free(replay);
  return TOOL_FINE;
}

int run_show(int count, char **arguments) {
  form which = form_of_file(arguments[0]);
  if (loading.sha256 && (which != FORM_MODULE || count > 1)) {
    die_usage("show: --sha256 is for a whole TorchScript archive");
  }
  if (which == FORM_MODULE && count == 1 && show_module(arguments[0], show_asked.depth)) {
    return TOOL_FINE;
  }
  if (which == FORM_FOLDER && count == 1 && is_replay(arguments[0]))
    return show_replay(arguments[0]);
  const bool may_be_set = (which == FORM_FOLDER && !has(arguments[0], "meta.json")) ||
                          which == (form)TD_FILE_HDF5 || which == FORM_UNKNOWN;
  if (may_be_set && count == 1 && show_dataset(arguments[0], show_asked.depth)) return TOOL_FINE;
  td_tensordict *td = open_key(arguments[0], count > 1 ? arguments[1] : NULL, true);
  tree of = tree_of(td, show_asked.elements);
  of.names = names_of(td);
  if (count == 1) of.metadata = metadata_of(arguments[0], which);
  print_tree(&of, arguments[0], which, show_asked.depth);
  tree_free(&of);
  td_free(td);
  return TOOL_FINE;
}
