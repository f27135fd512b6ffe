/* tdtool split: a data set in two for training and validation, or one for each task. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runs.h"
#include "views.h"

typedef struct part {
  char *out;
  numbers episodes;
} part;
typedef struct split {
  char **outs; /* of train and valid; NULL: named by the tasks */
  const char *folder, *suffix;
  part *parts;
  size_t length;
} split;

/* Letters and digits of a task, the rest as dashes: "Push the cube." is push-the-cube. */
static char *name_of_task(const split *of, const char *task) {
  text name = {NULL, 0, 0};
  addf(&name, "%s/", of->folder);
  const size_t begin = name.length;
  for (const char *at = task; *at && name.length < begin + 60; at++) {
    const unsigned char letter = (unsigned char)*at;
    if (letter < 128 && isalnum(letter)) {
      const char low = (char)tolower(letter);
      add_bytes(&name, &low, 1);
    } else if (name.length > begin && name.data[name.length - 1] != '-') {
      add(&name, "-");
    }
  }
  while (name.length > begin && name.data[name.length - 1] == '-') name.data[--name.length] = 0;
  if (name.length == begin) add(&name, "task");
  const size_t bare = name.length;
  for (size_t i = 0, number = 2; i < of->length; i++) { /* two tasks may have one such name */
    text whole = {NULL, 0, 0};
    addf(&whole, "%s%s", name.data, of->suffix);
    const bool taken = strcmp(of->parts[i].out, whole.data) == 0;
    text_free(&whole);
    if (!taken) continue;
    name.length = bare;
    addf(&name, "-%zu", number++);
    i = (size_t)-1;
  }
  add(&name, of->suffix);
  return name.data;
}

static void take_part(void *user, const char *name, const int64_t *episodes, size_t count) {
  split *of = user;
  part one = {of->outs ? xstrdup(of->outs[of->length]) : name_of_task(of, name),
              {xcalloc(count, sizeof *episodes), count}};
  memcpy(one.episodes.items, episodes, count * sizeof *episodes);
  of->parts = xrealloc(of->parts, (of->length + 1) * sizeof *of->parts);
  of->parts[of->length++] = one;
}

static bool is_one_file(td_dataset_kind kind) {
  return kind == TD_DATASET_KIND_ROBOMIMIC || kind == TD_DATASET_KIND_D4RL;
}

static bool is_same_place(const char *one, const char *other) {
  struct stat a, b;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The part that takes the place of the set comes last: if another one fails, the set is still there. */
static void put_own_place_last(split *of, const char *set) {
  for (size_t i = 0; i + 1 < of->length; i++) {
    if (!is_same_place(of->parts[i].out, set)) continue;
    const part own = of->parts[i];
    of->parts[i] = of->parts[of->length - 1];
    of->parts[of->length - 1] = own;
    return;
  }
}

int run_split(int count, char **arguments) {
  if (count != (split_asked.by_task ? 2 : 3)) {
    die_usage("usage: tdtool split SET TRAIN VALID, or tdtool split SET FOLDER --by-task");
  }
  if (!split_asked.by_task && split_asked.share == 0) die("a share is between 0 and 1, and not 0");
  td_dataset *set = opened_set("split", arguments[0]);
  td_dataset_kind kind;
  must(td_dataset_about(set, &kind, NULL, NULL));
  if (view_asked.as) kind = dataset_kind_named("split", view_asked.as);
  split of = {.outs = split_asked.by_task ? NULL : arguments + 1,
              .folder = arguments[1],
              .suffix = is_one_file(kind) ? ".hdf5" : ""};
  must(td_tool_split(set, split_asked.by_task ? 0 : split_asked.share, (uint64_t)split_asked.seed,
                     take_part, &of));
  for (size_t i = 0; i < of.length; i++) refuse_existing(of.parts[i].out);
  if (split_asked.by_task) mkdir(of.folder, 0777); /* the first set says what is wrong with it */
  if (common.json) json_begin('[');
  put_own_place_last(&of, arguments[0]);
  for (size_t i = 0; i < of.length; i++) {
    const td_tool_view view = {.episodes = of.parts[i].episodes.items,
                               .episodes_len = of.parts[i].episodes.length};
    save_view("split", (const td_dataset *const[]){set}, 1, &view, of.parts[i].out);
    free(of.parts[i].episodes.items);
    free(of.parts[i].out);
  }
  if (common.json) {
    json_end(']');
    json_finish();
  }
  free(of.parts);
  td_dataset_free(set);
  return TOOL_FINE;
}
