/* tdtool merge: the entries of several dictionaries of equal batch sizes in one. */
#include <stdlib.h>
#include <string.h>

#include "runs.h"
#include "views.h"

static void check_batch(const td_tensordict *first, const char *first_path,
                        const td_tensordict *next, const char *path) {
  tree one = tree_of(first, false), other = tree_of(next, false);
  if (!same_sizes(one.entries, other.entries)) {
    text left = {NULL, 0, 0}, right = {NULL, 0, 0};
    add_shape(&left, one.entries->sizes, one.entries->dims);
    add_shape(&right, other.entries->sizes, other.entries->dims);
    die("%s has batch size %s, %s has %s; only equal ones merge", first_path, left.data, path,
        right.data);
  }
  tree_free(&one);
  tree_free(&other);
}

/* An entry of both is taken from the first or the last input; without --prefer it is refused. */
static void settle(td_tensordict *merged, td_tensordict *next, const char *path) {
  leaves own = leaves_of(next, true);
  for (size_t i = 0; i < own.length; i++) {
    const key *at = &own.items[i].path;
    td_entry_kind kind;
    if (td_get_kind(merged, at->names, at->length, &kind) != TD_OK || kind == TD_ENTRY_NONE)
      continue;
    if (!merge_asked.prefer) {
      text name = {NULL, 0, 0};
      add_key(&name, at->names, at->length);
      die("%s has the entry %s, which an input before it has; --prefer first or last chooses", path,
          name.data);
    }
    bool first = strcmp(merge_asked.prefer, "first") == 0;
    must(td_remove(first ? next : merged, at->names, at->length));
  }
  leaves_free(&own);
}

static bool all_are_sets(int count, char **arguments) {
  for (int i = 0; i < count; i++) {
    if (!is_set(arguments[i])) return false;
  }
  return true;
}

int run_merge(int count, char **arguments) {
  if (all_are_sets(count - 1, arguments)) return merge_sets(count, arguments);
  const char *out = arguments[--count];
  form as = form_for(out);
  refuse_existing(out);
  td_tensordict *merged = open_any(arguments[0], false);
  for (int i = 1; i < count; i++) {
    td_tensordict *next = open_any(arguments[i], false);
    check_batch(merged, arguments[0], next, arguments[i]);
    settle(merged, next, arguments[i]);
    if (td_update(merged, next, NULL) != TD_OK)
      die("%s: %s", arguments[i], td_last_error_message());
    td_free(next);
  }
  save_any(merged, out, as, "merge");
  print_saved(merged, out, as);
  td_free(merged);
  return TOOL_FINE;
}
