/* A dictionary as a list of lines, each dictionary before its content. No recursion: folders may be deep. */
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

typedef struct work { /* an entry that becomes a line, or a dictionary whose content comes next */
  td_tensordict *around; /* its dictionary, shared with its siblings */
  char *name;
  size_t parent;
  bool last, element;
  int64_t index;
} work;

typedef struct stack {
  work *items;
  size_t length, capacity;
} stack;

static void push(stack *to, work item) {
  if (to->length == to->capacity) {
    to->capacity = to->capacity ? 2 * to->capacity : 64;
    to->items = xrealloc(to->items, to->capacity * sizeof *to->items);
  }
  to->items[to->length++] = item;
}

static td_tensordict *share(const td_tensordict *td) {
  td_tensordict *again;
  must(td_dup(td, &again));
  return again;
}

/* An element of a lazy stack. */
static td_tensordict *element_of(const td_tensordict *lazy, int64_t stack_dim, int64_t position) {
  td_index_item items[65];
  if (stack_dim > 64) die("a stack along dimension %lld", (long long)stack_dim);
  for (int64_t i = 0; i < stack_dim; i++) items[i] = (td_index_item)TD_I_ALL;
  items[stack_dim] = (td_index_item)TD_I_INT(position);
  td_tensordict *element;
  must(td_index(lazy, items, (size_t)stack_dim + 1, &element));
  return element;
}

static uint64_t bytes_of(const entry *of) {
  uint64_t bytes = td_dtype_size(of->dtype);
  for (size_t i = 0; i < of->dims; i++) {
    if (of->sizes[i] < 0) return UINT64_MAX;
    bytes *= (uint64_t)of->sizes[i];
  }
  return bytes;
}

static void tensor_line(entry *to, const td_tensor *tensor) {
  must(td_tensor_dtype(tensor, &to->dtype));
  must(td_tensor_sizes(tensor, NULL, 0, &to->dims));
  to->sizes = xcalloc(to->dims, sizeof *to->sizes);
  if (to->dims) must(td_tensor_sizes(tensor, to->sizes, to->dims, &to->dims));
  to->bytes = bytes_of(to);
}

/* A nested tensor: -1 for each dimension in which its parts differ. */
static void nested_tensor_line(entry *to, const td_tensordict *around, const char *const *name) {
  td_tensordict *nested_tensor;
  td_tensor *values, *sizes;
  if (td_get_nested_tensor(around, name, 1, &nested_tensor) != TD_OK) return; /* in a lazy stack */
  must(td_nested_tensor_values(nested_tensor, &values, &sizes));
  elements table = elements_of(sizes);
  tensor_line(to, values);
  free(to->sizes);
  to->dims = 1 + (size_t)table.sizes[1];
  to->sizes = xcalloc(to->dims, sizeof *to->sizes);
  to->sizes[0] = table.sizes[0];
  for (size_t i = 0; i < table.count; i++) {
    int64_t size, *all = to->sizes + 1 + i % (to->dims - 1);
    memcpy(&size, table.data + i * table.item, sizeof size);
    *all = i < to->dims - 1 || *all == size ? size : -1;
  }
  elements_free(&table);
  td_tensor_free(values);
  td_tensor_free(sizes);
  td_free(nested_tensor);
}

/* A tensor of a lazy stack, from its elements, which may differ in shape or lack it. */
static void stacked_line(entry *to, const td_tensordict *lazy, const char *const *name) {
  size_t elements;
  int64_t stack_dim;
  must(td_lazy_info(lazy, &stack_dim, &elements));
  for (size_t i = 0; i < elements; i++) {
    td_tensordict *element = element_of(lazy, stack_dim, (int64_t)i);
    td_entry_kind kind;
    must(td_get_kind(element, name, 1, &kind));
    if (kind == TD_ENTRY_TENSOR) {
      entry one = {0};
      td_dict_kind dict_kind;
      td_tensor *tensor = NULL;
      must(td_kind(element, &dict_kind));
      if (dict_kind == TD_DICT_LAZY_STACK)
        stacked_line(&one, element, name); /* as deep as the batch has dimensions */
      else {
        must(td_get(element, name, 1, &tensor));
        tensor_line(&one, tensor);
      }
      td_tensor_free(tensor);
      to->dtype = one.dtype;
      to->bytes += one.bytes;
      if (to->having++ == 0) {
        to->dims = one.dims;
        to->sizes = one.sizes;
        one.sizes = NULL;
      }
      for (size_t dim = 0; one.sizes && one.dims == to->dims && dim < one.dims; dim++) {
        if (one.sizes[dim] != to->sizes[dim]) to->sizes[dim] = -1;
      }
      free(one.sizes);
    }
    td_free(element);
  }
  to->sizes = xrealloc(to->sizes, (to->dims + 1) * sizeof *to->sizes);
  if ((size_t)stack_dim > to->dims) stack_dim = (int64_t)to->dims;
  memmove(to->sizes + stack_dim + 1, to->sizes + stack_dim,
          (to->dims - (size_t)stack_dim) * sizeof *to->sizes);
  to->sizes[stack_dim] = (int64_t)to->having;
  to->dims++;
  to->of = elements;
  if (to->having == elements) to->having = 0; /* all of them */
}

/* An entry that only some elements of a lazy stack have; a dictionary is the stack of theirs. */
static td_tensordict *partial_line(entry *to, const td_tensordict *lazy, const char *const *name) {
  size_t elements, count = 0;
  int64_t stack_dim;
  must(td_lazy_info(lazy, &stack_dim, &elements));
  td_tensordict **parts = xcalloc(elements, sizeof(*parts)), *result = NULL;
  to->kind = TD_ENTRY_NONE;
  for (size_t i = 0; i < elements; i++) {
    td_tensordict *element = element_of(lazy, stack_dim, (int64_t)i);
    td_entry_kind kind;
    must(td_get_kind(element, name, 1, &kind));
    if (kind != TD_ENTRY_NONE && to->kind == TD_ENTRY_NONE) to->kind = kind;
    if (kind == TD_ENTRY_DICT && kind == to->kind)
      must(td_get_dict(element, name, 1, parts + count++));
    if (kind == TD_ENTRY_NON_TENSOR && kind == to->kind) to->having++;
    if (kind == TD_ENTRY_NON_TENSOR && !to->value)
      to->value = non_tensor_text(element, name, 1, false);
    td_free(element);
  }
  if (count) {
    must(td_lazy_stack((const td_tensordict *const *)parts, count, stack_dim, &result));
    to->having = count;
  }
  for (size_t i = 0; i < count; i++) td_free(parts[i]);
  free(parts);
  if (to->kind == TD_ENTRY_TENSOR) stacked_line(to, lazy, name);
  to->of = elements;
  return result;
}

static void dict_line(entry *to, const td_tensordict *td) {
  must(td_batch_size(td, NULL, 0, &to->dims));
  to->sizes = xcalloc(to->dims, sizeof *to->sizes);
  if (to->dims) must(td_batch_size(td, to->sizes, to->dims, &to->dims));
  must(td_kind(td, &to->dict_kind));
  if (to->dict_kind == TD_DICT_LAZY_STACK) must(td_lazy_info(td, &to->stack_dim, &to->elements));
  td_tensorclass *type;
  must(td_tensorclass_of(td, &type));
  if (!type) return;
  size_t length = 0;
  td_status status = td_tensorclass_name(type, NULL, 0, &length);
  if (status != TD_OK && status != TD_ERR_BUFFER_TOO_SMALL) must(status);
  to->tensorclass = xcalloc(length + 1, 1);
  must(td_tensorclass_name(type, to->tensorclass, length + 1, &length));
  td_tensorclass_free(type);
}

/* Puts the content of a dictionary on the stack, the first entry on top. */
static void push_content(stack *to, const td_tensordict *td, size_t parent, const entry *line,
                         bool elements) {
  if (elements && line->dict_kind == TD_DICT_LAZY_STACK) {
    for (size_t i = line->elements; i-- > 0;) {
      text name = {NULL, 0, 0};
      addf(&name, "%zu", i);
      push(to, (work){share(td), name.data, parent, i + 1 == line->elements, true, (int64_t)i});
    }
    return;
  }
  td_keys *lists[2] = {NULL, NULL};
  must(td_keys_of(td, NULL, lists + 0));
  if (line->dict_kind == TD_DICT_LAZY_STACK) must(td_lazy_exclusive_keys(td, lists + 1));
  bool last = true;
  for (int which = 1; which >= 0; which--) {
    for (size_t i = lists[which] ? td_keys_len(lists[which]) : 0; i-- > 0;) {
      const char *const *path;
      size_t path_len;
      must(td_keys_at(lists[which], i, &path, &path_len));
      if (path_len != 1) continue;
      push(to, (work){share(td), xstrdup(path[0]), parent, last, false, 0});
      last = false;
    }
    td_keys_free(lists[which]);
  }
}

tree tree_of(const td_tensordict *td, bool elements) {
  tree result = {0};
  size_t capacity = 0;
  stack todo = {NULL, 0, 0};
  push(&todo, (work){share(td), NULL, 0, true, false, 0});
  while (todo.length) {
    work now = todo.items[--todo.length];
    if (result.length == capacity) {
      capacity = capacity ? 2 * capacity : 64;
      result.entries = xrealloc(result.entries, capacity * sizeof *result.entries);
    }
    size_t position = result.length++;
    entry *line = result.entries + position;
    *line =
        (entry){.name = now.name, .parent = now.parent, .last = now.last, .kind = TD_ENTRY_DICT};
    td_tensordict *dict = NULL;
    if (!now.name) {
      dict = share(now.around);
    } else if (now.element) {
      dict = element_of(now.around, result.entries[now.parent].stack_dim, now.index);
    } else {
      const char *name[] = {now.name};
      td_dict_kind around = result.entries[now.parent].dict_kind;
      must(td_get_kind(now.around, name, 1, &line->kind));
      if (line->kind == TD_ENTRY_DICT) {
        must(td_get_dict(now.around, name, 1, &dict));
      } else if (line->kind == TD_ENTRY_NON_TENSOR) {
        line->value = non_tensor_text(now.around, name, 1, false);
      } else if (line->kind == TD_ENTRY_NESTED_TENSOR) {
        nested_tensor_line(line, now.around, name);
      } else if (line->kind == TD_ENTRY_NONE) {
        dict = partial_line(line, now.around, name);
      } else if (around == TD_DICT_LAZY_STACK) {
        stacked_line(line, now.around, name);
      } else {
        td_tensor *tensor;
        must(td_get(now.around, name, 1, &tensor));
        tensor_line(line, tensor);
        td_tensor_free(tensor);
      }
    }
    line->depth = now.name ? result.entries[now.parent].depth + 1 : 0;
    line->dims_before = result.entries[now.parent].dims;
    if (dict) {
      dict_line(line, dict);
      line->same_batch = position > 0 && same_sizes(line, result.entries + now.parent);
      push_content(&todo, dict, position, line, elements);
      td_free(dict);
    }
    td_free(now.around);
  }
  free(todo.items);
  tree_sum(&result);
  return result;
}
