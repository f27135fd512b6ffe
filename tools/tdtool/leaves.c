/* The tensors of a dictionary, also those of the elements of lazy stacks. */
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

static void append(leaves *to, size_t *capacity, const key *around, const char *name,
                   td_entry_kind kind) {
  if (to->length == *capacity) {
    *capacity = *capacity ? 2 * *capacity : 64;
    to->items = xrealloc(to->items, *capacity * sizeof *to->items);
  }
  to->items[to->length++] = (leaf){key_join(around->names, around->length, name), kind};
}

leaves leaves_of(const td_tensordict *td, bool data) {
  leaves result = {NULL, 0};
  size_t capacity = 0;
  tree lines = tree_of(td, false);
  for (size_t i = 1; i < lines.length; i++) {
    const entry *line = lines.entries + i;
    if (line->kind == TD_ENTRY_DICT || (line->kind == TD_ENTRY_NON_TENSOR && !data)) continue;
    key around;
    entry_key(&lines, line->parent, &around);
    append(&result, &capacity, &around, line->name, line->kind);
    key_free(&around);
  }
  tree_free(&lines);
  return result;
}

/* Lists the keys that fit one line. */
static void refuse_key(const leaves *all, const char *typed) {
  text known = {NULL, 0, 0};
  size_t at = 0;
  for (; at < all->length && known.length < 100; at++) {
    add(&known, at ? ", " : "");
    add_key(&known, all->items[at].path.names, all->items[at].path.length);
  }
  if (at == 0) die("no entry under the key %s: there are no tensors and no values", typed);
  if (at < all->length) addf(&known, ", and %zu more", all->length - at);
  die("no entry under the key %s; the keys are %s", typed, known.data);
}

void leaves_keep(leaves *of, int count, char **typed) {
  if (count == 0) return;
  bool *kept = xcalloc(of->length, sizeof *kept);
  for (int i = 0; i < count; i++) {
    key wanted = key_parse(typed[i]);
    bool found = false;
    for (size_t at = 0; at < of->length; at++) {
      if (!key_within(of->items[at].path.names, of->items[at].path.length, wanted)) continue;
      found = kept[at] = true;
    }
    if (!found) refuse_key(of, typed[i]);
    key_free(&wanted);
  }
  size_t length = 0;
  for (size_t at = 0; at < of->length; at++) {
    if (kept[at])
      of->items[length++] = of->items[at];
    else
      key_free(&of->items[at].path);
  }
  of->length = length;
  free(kept);
}

void leaves_free(leaves *of) {
  for (size_t i = 0; i < of->length; i++) key_free(&of->items[i].path);
  free(of->items);
  *of = (leaves){NULL, 0};
}

typedef struct
    place { /* a dictionary and the length of its path; of a lazy stack the next element */
  td_tensordict *td;
  size_t names;
  size_t next, elements;
  int64_t stack_dim;
} place;

typedef struct places {
  place *items;
  size_t length, capacity;
} places;

static void enter(places *to, td_tensordict *td, size_t names) {
  if (to->length == to->capacity) {
    to->capacity = to->capacity ? 2 * to->capacity : 16;
    to->items = xrealloc(to->items, to->capacity * sizeof *to->items);
  }
  place here = {td, names, 0, 0, -1};
  td_dict_kind kind;
  must(td_kind(td, &kind));
  if (kind == TD_DICT_LAZY_STACK) must(td_lazy_info(td, &here.stack_dim, &here.elements));
  to->items[to->length++] = here;
}

void leaf_pieces(const td_tensordict *td, key path,
                 void (*each)(void *user, const td_tensor *piece), void *user) {
  places todo = {NULL, 0, 0};
  td_tensordict *first, *inner;
  must(td_dup(td, &first));
  enter(&todo, first, 0);
  while (todo.length) {
    place *here = todo.items + todo.length - 1;
    if (here->stack_dim >= 0 && here->next < here->elements) {
      td_index_item items[65];
      if (here->stack_dim > 64) die("a stack along dimension %lld", (long long)here->stack_dim);
      for (int64_t i = 0; i < here->stack_dim; i++) items[i] = (td_index_item)TD_I_ALL;
      items[here->stack_dim] = (td_index_item)TD_I_INT((int64_t)here->next++);
      must(td_index(here->td, items, (size_t)here->stack_dim + 1, &inner));
      enter(&todo, inner, here->names);
      continue;
    }
    td_tensordict *done = here->td;
    size_t names = here->names;
    bool lazy = here->stack_dim >= 0;
    todo.length--;
    td_entry_kind kind = TD_ENTRY_NONE;
    if (!lazy) must(td_get_kind(done, path.names + names, 1, &kind));
    if (kind == TD_ENTRY_DICT && names + 1 < path.length) {
      must(td_get_dict(done, path.names + names, 1, &inner));
      enter(&todo, inner, names + 1);
    } else if (kind == TD_ENTRY_TENSOR && names + 1 == path.length) {
      td_tensor *tensor;
      must(td_get(done, path.names + names, 1, &tensor));
      each(user, tensor);
      td_tensor_free(tensor);
    } else if (kind == TD_ENTRY_NESTED_TENSOR && names + 1 == path.length) {
      td_tensor *values, *sizes;
      must(td_get_nested_tensor(done, path.names + names, 1, &inner));
      must(td_nested_tensor_values(inner, &values, &sizes));
      each(user, values);
      td_tensor_free(values);
      td_tensor_free(sizes);
      td_free(inner);
    }
    td_free(done);
  }
  free(todo.items);
}
