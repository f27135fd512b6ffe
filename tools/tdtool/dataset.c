/* Data sets of Minari, robomimic and D4RL: what show prints, and the names of the kinds. */
#include "dataset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "td_tool.h"

#define older_lerobot "lerobot-v2.1"

static const struct {
  td_dataset_kind kind;
  const char *name, *title;
} kinds[] = {{TD_DATASET_KIND_MINARI, "minari", "Minari"},
             {TD_DATASET_KIND_ROBOMIMIC, "robomimic", "robomimic"},
             {TD_DATASET_KIND_D4RL, "d4rl", "D4RL"},
             {TD_DATASET_KIND_LEROBOT, "lerobot", "LeRobot"},
             {TD_DATASET_KIND_LEROBOT, older_lerobot, "LeRobot"},
             {TD_DATASET_KIND_TORCHRL, "torchrl", "TorchRL"},
             {TD_DATASET_KIND_ROS, "ros", "ROS"},
             {TD_DATASET_KIND_DETECT, "tensordict", ""}};
enum { KINDS = sizeof kinds / sizeof *kinds };

td_dataset_kind dataset_kind_named(const char *command, const char *name) {
  for (size_t i = 0; i < KINDS; i++) {
    if (strcmp(kinds[i].name, name) == 0) return kinds[i].kind;
  }
  die_usage(
      "%s: --as takes one of: minari lerobot lerobot-v2.1 robomimic d4rl torchrl tensordict; not "
      "'%s'",
      command, name);
}

static size_t row_of(td_dataset_kind kind) {
  size_t i = 0;
  while (i + 1 < KINDS && kinds[i].kind != kind) i++;
  return i;
}

const char *dataset_kind_name(td_dataset_kind kind) { return kinds[row_of(kind)].name; }

td_dataset_save_options set_saving(const char *as, bool lossy) {
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  options.flags =
      (lossy ? TD_DATASET_SAVE_LOSSY : 0) | (saving.durable ? TD_DATASET_SAVE_DURABLE : 0);
  if (as && strcmp(as, older_lerobot) == 0) options.flags |= TD_DATASET_SAVE_LEROBOT_V21;
  options.deflate = saving.compress ? 4 : 0;
  return options;
}

td_status open_set(const char *path, td_dataset **set) {
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  options.flags = TD_DATASET_VIDEOS;
  return td_dataset_open(path, &options, set);
}

td_status open_set_as(const char *path, td_dataset_kind kind, td_dataset **set) {
  td_dataset_kind from = TD_DATASET_KIND_DETECT;
  const bool stays = kind == TD_DATASET_KIND_DETECT || kind == TD_DATASET_KIND_LEROBOT;
  if (!stays && td_tool_kind(path, &from) == TD_OK && from == TD_DATASET_KIND_LEROBOT)
    return open_set(path, set);
  return td_dataset_open(path, NULL, set);
}

bool is_set(const char *path) {
  td_dataset_kind kind;
  return td_tool_kind(path, &kind) == TD_OK && kind != TD_DATASET_KIND_DETECT;
}

td_tensordict *open_rows(const char *path) {
  td_dataset *set;
  td_tensordict *td;
  if (!is_set(path)) return open_any(path, false);
  const td_status status = td_dataset_open(path, NULL, &set);
  if (status != TD_OK && !is_set_folder(path)) return open_any(path, false);
  must(status);
  td = rows_of_set(set);
  td_dataset_free(set);
  return td;
}

static char *version_of(const td_dataset *set) {
  size_t length = 0;
  must(td_dataset_version(set, NULL, 0, &length));
  char *version = xcalloc(length + 1, 1);
  must(td_dataset_version(set, version, length + 1, &length));
  return version;
}

/* Begins an object with the kind, episodes and steps. */
static void json_about(const td_dataset *set, const char *path) {
  td_dataset_kind kind;
  int64_t episodes, steps;
  must(td_dataset_about(set, &kind, &episodes, &steps));
  char *version = version_of(set);
  json_begin('{');
  json_member(text, "path", path);
  json_member(text, "form", "dataset");
  json_member(text, "kind", kinds[row_of(kind)].name);
  json_member(text, "version", version);
  json_member(int, "episodes", episodes);
  json_member(int, "steps", steps);
  free(version);
}

void print_dataset(const td_dataset *set, const char *path) {
  if (common.json) {
    json_about(set, path);
    json_end('}');
    if (!json_is_open()) json_finish();
    return;
  }
  td_dataset_kind kind;
  int64_t episodes, steps;
  must(td_dataset_about(set, &kind, &episodes, &steps));
  char *version = version_of(set);
  text line = {NULL, 0, 0};
  add_escaped(&line, path);
  printf("%s%s%s", color_on(BOLD), line.data, color_off(BOLD));
  line.length = 0;
  addf(&line, "  data set of %s%s", kinds[row_of(kind)].title, *version ? " " : "");
  add_escaped(&line, version);
  printf("%s, %" PRId64 " episode%s, %" PRId64 " step%s\n", line.data, episodes,
         episodes == 1 ? "" : "s", steps, steps == 1 ? "" : "s");
  text_free(&line);
  free(version);
}

static void print_json(const td_dataset *set, const char *path, const tree *structure,
                       const tree *metadata, int64_t depth) {
  json_about(set, path);
  json_lines(structure, depth);
  json_member(begin, "metadata", '{');
  json_lines(metadata, 0);
  json_end('}');
  json_end('}');
  json_finish();
}

bool is_set_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode) && is_set(path);
}

bool show_dataset(const char *path, int64_t depth) {
  td_dataset *set;
  if (open_set(path, &set) != TD_OK) {
    if (!is_set_folder(path)) return false;
    must(open_set(path, &set));
  }
  td_tensordict *structure, *metadata;
  must(td_dataset_structure(set, &structure));
  must(td_dataset_metadata(set, &metadata));
  tree entries = tree_of(structure, false), about = tree_of(metadata, false);
  if (common.json) {
    print_json(set, path, &entries, &about, depth);
  } else {
    print_dataset(set, path);
    print_lines(&entries, depth);
    printf("%smetadata%s\n", color_on(DIM), color_off(DIM));
    print_lines(&about, 0);
  }
  tree_free(&about);
  tree_free(&entries);
  td_free(metadata);
  td_free(structure);
  td_dataset_free(set);
  return true;
}
