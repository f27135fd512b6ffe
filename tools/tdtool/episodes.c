/* Episodes: the last dimension of a batch, the elements of a lazy stack, flags that end one, or a number that changes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

typedef struct found_keys {
  key flags[2]; /* either ends an episode */
  size_t flags_len;
  key number, reward;
  bool has_number, has_reward;
} found_keys;

/* A tensor with one element for each row. */
static bool find(const tree *lines, const char *typed, key *result) {
  key wanted = key_parse(typed);
  bool found = false;
  for (size_t i = 1; i < lines->length && !found; i++) {
    const entry *line = lines->entries + i;
    key path;
    if (line->kind != TD_ENTRY_TENSOR || line->depth != wanted.length) continue;
    entry_key(lines, i, &path);
    found = key_within(path.names, path.length, wanted);
    for (size_t dim = lines->entries->dims; dim < line->dims; dim++)
      found = found && line->sizes[dim] == 1;
    key_free(&path);
  }
  if (found)
    *result = wanted;
  else
    key_free(&wanted);
  return found;
}

static found_keys find_keys(const tree *lines, text *how) {
  static const char *const flags[][2] = {{"next/done", NULL},
                                         {"done", NULL},
                                         {"next/terminated", "next/truncated"},
                                         {"terminated", "truncated"}};
  static const char *const numbers[] = {"episode", "episode_id", "collector/traj_ids", "traj_ids"};
  static const char *const rewards[] = {"next/reward", "reward"};
  found_keys result = {.flags_len = 0};
  for (size_t i = 0; i < COUNT_OF(numbers) && !result.has_number; i++) {
    result.has_number = find(lines, numbers[i], &result.number);
    if (result.has_number) addf(how, "a change of %s", numbers[i]);
  }
  for (size_t i = 0; i < COUNT_OF(flags) && !result.flags_len && !result.has_number; i++) {
    for (size_t at = 0; at < 2 && flags[i][at]; at++) {
      if (!find(lines, flags[i][at], result.flags + result.flags_len)) continue;
      addf(how, "%s%s", result.flags_len ? " or " : "", flags[i][at]);
      result.flags_len++;
    }
  }
  for (size_t i = 0; i < COUNT_OF(rewards) && !result.has_reward; i++)
    result.has_reward = find(lines, rewards[i], &result.reward);
  return result;
}

typedef struct walk {
  episodes *to;
  const found_keys *keys;
  size_t capacity;
  bool by_place; /* the last dimension of the batch is time */
  int64_t before[64];
  size_t before_len;
  double number, length, sum; /* of the episode that runs */
  bool ended;                 /* by the flag of the row before */
} walk;

static void end_episode(walk *of) {
  episodes *to = of->to;
  if (of->length > 0) {
    if (to->count == of->capacity) {
      of->capacity = of->capacity ? 2 * of->capacity : 1024;
      to->lengths = xrealloc(to->lengths, of->capacity * sizeof *to->lengths);
      to->returns = xrealloc(to->returns, of->capacity * sizeof *to->returns);
    }
    to->lengths[to->count] = of->length;
    to->returns[to->count++] = of->sum;
  }
  of->length = of->sum = 0;
  of->ended = false;
}

/* One value for each row; NULL where the element of a lazy stack has no such entry. */
static double *values_of(const block *rows, const key *path) {
  elements all;
  double *result = NULL;
  if (!elements_at(rows->td, path, &all)) return NULL;
  if (all.count == (size_t)rows->rows) {
    result = xcalloc(all.count, sizeof *result);
    elements_real(all.dtype, all.data, all.count, result);
  }
  elements_free(&all);
  return result;
}

static void step(void *user, const block *rows) {
  walk *of = user;
  const found_keys *keys = of->keys;
  double *flags[2] = {NULL, NULL};
  for (size_t i = 0; i < keys->flags_len; i++) flags[i] = values_of(rows, keys->flags + i);
  double *number = keys->has_number ? values_of(rows, &keys->number) : NULL;
  double *reward = keys->has_reward ? values_of(rows, &keys->reward) : NULL;
  for (int64_t row = 0; row < rows->rows; row++) {
    int64_t place[64];
    size_t dims = block_place(rows, row, place);
    size_t around = of->by_place && dims ? dims - 1 : 0;
    bool moved = around != of->before_len || memcmp(place, of->before, around * sizeof *place) != 0;
    if (of->ended || moved || (number && of->length > 0 && number[row] != of->number))
      end_episode(of);
    memcpy(of->before, place, around * sizeof *place);
    of->before_len = around;
    of->length++;
    if (number) of->number = number[row];
    if (reward && isfinite(reward[row])) of->sum += reward[row];
    for (size_t i = 0; i < 2; i++) of->ended = of->ended || (flags[i] && flags[i][row] != 0);
  }
  free(flags[0]);
  free(flags[1]);
  free(number);
  free(reward);
}

episodes episodes_of(const td_tensordict *td, const tree *lines) {
  episodes result = {0};
  text how = {NULL, 0, 0};
  found_keys keys = find_keys(lines, &how);
  walk through = {.to = &result, .keys = &keys, .by_place = lines->entries->dims > 1};
  td_key wanted[4];
  size_t count = 0;
  for (size_t i = 0; i < keys.flags_len; i++)
    wanted[count++] = (td_key){keys.flags[i].names, keys.flags[i].length};
  if (keys.has_number) wanted[count++] = (td_key){keys.number.names, keys.number.length};
  if (keys.has_reward) wanted[count++] = (td_key){keys.reward.names, keys.reward.length};
  td_tensordict *alone = only(td, wanted, count);
  result.rows = each_block(alone, step, &through);
  end_episode(&through);
  td_free(alone);
  bool known = keys.flags_len || keys.has_number || through.by_place;
  if (!known) result.count = 0;
  if (through.by_place)
    addf(&how, "%s the end of %s", how.length ? " or" : "",
         lines->entries->dict_kind == TD_DICT_LAZY_STACK ? "an element of the stack"
                                                         : "the last batch dimension");
  result.how = how.data;
  if (!keys.has_reward || !known) {
    free(result.returns);
    result.returns = NULL;
  } else {
    text name = {NULL, 0, 0};
    add_key(&name, keys.reward.names, keys.reward.length);
    result.reward = name.data;
  }
  for (size_t i = 0; i < keys.flags_len; i++) key_free(keys.flags + i);
  key_free(&keys.number);
  key_free(&keys.reward);
  return result;
}

void episodes_free(episodes *of) {
  free(of->lengths);
  free(of->returns);
  free(of->how);
  free(of->reward);
}
