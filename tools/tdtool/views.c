#include "views.h"

#include <stdlib.h>
#include <string.h>

#include "runs.h"

static void add_number(numbers *to, int64_t number) {
  to->items = xrealloc(to->items, (to->length + 1) * sizeof *to->items);
  to->items[to->length++] = number;
}

static int64_t place_of(int64_t typed, int64_t all) { return typed < 0 ? typed + all : typed; }
static int64_t limited(int64_t place, int64_t all) {
  return place < 0 ? 0 : place > all ? all : place;
}

numbers numbers_typed(const char *command, const char *typed, int64_t all) {
  td_index_item items[64];
  size_t count;
  numbers result = {NULL, 0};
  if (td_index_parse(typed, items, COUNT_OF(items), &count) != TD_OK)
    die_usage("%s", td_last_error_message());
  for (size_t i = 0; i < count; i++) {
    const td_index_item *item = items + i;
    if (item->kind == TD_INDEX_INT) {
      const int64_t place = place_of(item->start, all);
      if (place < 0 || place >= all)
        die("no episode %lld: there are %lld episodes", (long long)item->start, (long long)all);
      add_number(&result, place);
    } else if (item->kind == TD_INDEX_SLICE) {
      const bool from = item->flags & TD_INDEX_HAS_START, to = item->flags & TD_INDEX_HAS_STOP;
      const int64_t step = item->flags & TD_INDEX_HAS_STEP ? item->step : 1;
      const int64_t begin = from ? limited(place_of(item->start, all), all) : 0;
      const int64_t end = to ? limited(place_of(item->stop, all), all) : all;
      for (int64_t at = begin; at < end; at += step) {
        add_number(&result, at);
        if (step > all - at) break;
      }
    } else {
      die_usage("%s: --episodes takes numbers and slices, such as 0:10,15; not '%s'", command,
                typed);
    }
  }
  return result;
}

numbers numbers_all(int64_t all) {
  numbers result = {xcalloc((size_t)all, sizeof(int64_t)), (size_t)all};
  for (int64_t i = 0; i < all; i++) result.items[i] = i;
  return result;
}

numbers numbers_others(const numbers *of, int64_t all) {
  bool *taken = xcalloc((size_t)all, sizeof *taken);
  numbers result = {NULL, 0};
  for (size_t i = 0; i < of->length; i++) taken[of->items[i]] = true;
  for (int64_t i = 0; i < all; i++) {
    if (!taken[i]) add_number(&result, i);
  }
  free(taken);
  return result;
}

td_dataset *opened_set(const char *command, const char *path) {
  td_dataset *set;
  must(open_set_as(
      path, view_asked.as ? dataset_kind_named(command, view_asked.as) : TD_DATASET_KIND_DETECT,
      &set));
  return set;
}

static int64_t episodes_of_set(const td_dataset *set) {
  int64_t episodes;
  must(td_dataset_about(set, NULL, &episodes, NULL));
  return episodes;
}

void save_view(const char *command, const td_dataset *const *sets, size_t sets_len,
               const td_tool_view *view, const char *out) {
  td_dataset_save_options options = set_saving(view_asked.as, view_asked.lossy);
  td_dataset *part;
  td_dataset_kind kind;
  must(td_tool_view_of(sets, sets_len, view, &part));
  must(td_dataset_about(part, &kind, NULL, NULL));
  if (view_asked.as) kind = dataset_kind_named(command, view_asked.as);
  must(td_dataset_convert(part, kind, out, &options));
  td_dataset_free(part);
  must(td_dataset_open(out, NULL, &part));
  print_dataset(part, out);
  td_dataset_free(part);
}

int slice_set(int count, char **arguments) {
  if (count != 2) die_usage("usage: tdtool slice SET OUT --episodes EPISODES");
  refuse_existing(arguments[1]);
  td_dataset *set = opened_set("slice", arguments[0]);
  numbers chosen = numbers_typed("slice", view_asked.episodes, episodes_of_set(set));
  const td_tool_view view = {.episodes = chosen.items, .episodes_len = chosen.length};
  save_view("slice", (const td_dataset *const[]){set}, 1, &view, arguments[1]);
  free(chosen.items);
  td_dataset_free(set);
  return TOOL_FINE;
}

int drop_set(int count, char **arguments) {
  if (count != 2) die_usage("usage: tdtool drop SET OUT [--episodes EPISODES] [--keys KEY]...");
  refuse_existing(arguments[1]);
  td_dataset *set = opened_set("drop", arguments[0]);
  const int64_t all = episodes_of_set(set);
  numbers gone = {NULL, 0};
  if (view_asked.episodes) gone = numbers_typed("drop", view_asked.episodes, all);
  numbers kept = numbers_others(&gone, all);
  key *keys = xcalloc(view_asked.keys.length, sizeof *keys);
  td_key *without = xcalloc(view_asked.keys.length, sizeof *without);
  for (size_t i = 0; i < view_asked.keys.length; i++) {
    keys[i] = key_parse(view_asked.keys.items[i]);
    without[i] = (td_key){keys[i].names, keys[i].length};
  }
  const td_tool_view view = {.episodes = kept.items,
                             .episodes_len = kept.length,
                             .without = without,
                             .without_len = view_asked.keys.length,
                             .same_name = strcmp(arguments[0], arguments[1]) == 0};
  save_view("drop", (const td_dataset *const[]){set}, 1, &view, arguments[1]);
  for (size_t i = 0; i < view_asked.keys.length; i++) key_free(keys + i);
  free(keys);
  free(without);
  free(gone.items);
  free(kept.items);
  td_dataset_free(set);
  return TOOL_FINE;
}

int merge_sets(int count, char **arguments) {
  const size_t sets_len = (size_t)count - 1;
  const char *out = arguments[sets_len];
  refuse_existing(out);
  td_dataset **sets = xcalloc(sets_len, sizeof *sets);
  int64_t all = 0;
  for (size_t i = 0; i < sets_len; i++) {
    sets[i] = opened_set("merge", arguments[i]);
    all += episodes_of_set(sets[i]);
  }
  numbers chosen = numbers_all(all);
  const td_tool_view view = {.episodes = chosen.items, .episodes_len = chosen.length};
  save_view("merge", (const td_dataset *const *)sets, sets_len, &view, out);
  for (size_t i = 0; i < sets_len; i++) td_dataset_free(sets[i]);
  free(sets);
  free(chosen.items);
  return TOOL_FINE;
}
