/* tdtool diff: what differs between two dictionaries, whatever forms they are stored in. */
#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "runs.h"

/* What diff compares of a dictionary besides its entries. */
typedef struct facts {
  int64_t sizes[64];
  size_t dims;
  td_dict_kind kind;
  int64_t stack_dim;
  size_t elements;
  char tensorclass[200];
} facts;

static facts facts_of(const td_tensordict *td) {
  facts result = {.stack_dim = -1};
  must(td_batch_size(td, NULL, 0, &result.dims));
  if (result.dims > 64) die("a batch of %zu dimensions", result.dims);
  if (result.dims) must(td_batch_size(td, result.sizes, 64, &result.dims));
  must(td_kind(td, &result.kind));
  if (result.kind == TD_DICT_LAZY_STACK)
    must(td_lazy_info(td, &result.stack_dim, &result.elements));
  td_tensorclass *type;
  size_t length;
  must(td_tensorclass_of(td, &type));
  if (type &&
      td_tensorclass_name(type, result.tensorclass, sizeof result.tensorclass, &length) != TD_OK) {
    snprintf(result.tensorclass, sizeof result.tensorclass, "(a long name)");
  }
  td_tensorclass_free(type);
  return result;
}

static struct {
  size_t found, follow;
  facts one, other; /* of the whole */
  table *lines;
} report;

/* Whether two shapes differ as the batch sizes of the whole do, and in nothing else. */
static bool follows(const int64_t *one, size_t one_dims, const int64_t *other, size_t other_dims) {
  const size_t before = report.one.dims, after = report.other.dims;
  if (diff_asked.content || common.json || one_dims < before || other_dims < after) return false;
  if (one_dims - before != other_dims - after) return false;
  return memcmp(one, report.one.sizes, before * sizeof *one) == 0 &&
         memcmp(other, report.other.sizes, after * sizeof *other) == 0 &&
         memcmp(one + before, other + after, (one_dims - before) * sizeof *one) == 0;
}

/* One difference. */
static void differ(const key *path, const char *kind, const char *details) {
  text name = {NULL, 0, 0};
  add_key(&name, path->names, path->length);
  report.found++;
  if (diff_asked.brief) {
    /* nothing */
  } else if (common.json) {
    json_begin('{');
    json_path(path->names, path->length);
    json_member(text, "kind", kind);
    json_member(text, "text", details);
    json_end('}');
  } else {
    table_cell(report.lines, BOLD, path->length ? name.data : ".");
    table_cell(report.lines, YELLOW, kind);
    table_cell(report.lines, PLAIN, details);
  }
  text_free(&name);
}

static void differ_shape(const key *path, const char *kind, const facts *one, const facts *other) {
  text details = {NULL, 0, 0};
  add_shape(&details, one->sizes, one->dims);
  add(&details, " and ");
  add_shape(&details, other->sizes, other->dims);
  differ(path, kind, details.data);
  text_free(&details);
}

static bool shapes_follow(const td_tensor *one, const td_tensor *other) {
  int64_t sizes[2][64];
  size_t dims[2];
  return td_tensor_sizes(one, sizes[0], 64, dims) == TD_OK &&
         td_tensor_sizes(other, sizes[1], 64, dims + 1) == TD_OK &&
         follows(sizes[0], dims[0], sizes[1], dims[1]);
}

static void compare_tensors(const key *path, const td_tensor *one, const td_tensor *other) {
  text details = {NULL, 0, 0};
  const char *kind = tensors_differ(one, other, diff_asked.relative, diff_asked.absolute, &details);
  if (kind && strcmp(kind, "shape") == 0 && shapes_follow(one, other)) {
    report.found++;
    report.follow++;
  } else if (kind) {
    differ(path, kind, details.data);
  }
  text_free(&details);
}

/* A pair of dictionaries that is still to be compared. */
typedef struct pair {
  td_tensordict *one, *other;
  key path;
} pair;
static struct {
  pair *items;
  size_t length, capacity;
} todo;

static void later(td_tensordict *one, td_tensordict *other, key path) {
  if (todo.length == todo.capacity) {
    todo.capacity = todo.capacity ? 2 * todo.capacity : 16;
    todo.items = xrealloc(todo.items, todo.capacity * sizeof *todo.items);
  }
  todo.items[todo.length++] = (pair){one, other, path};
}

/* Nested tensors: the sizes of the parts, then the values of all. */
static void compare_nested_tensor(const key *path, const pair *now, const char *const *name) {
  td_tensordict *nested_tensor[2];
  td_tensor *values[2], *sizes[2];
  size_t found = report.found;
  for (int i = 0; i < 2; i++) {
    must(td_get_nested_tensor(i ? now->other : now->one, name, 1, nested_tensor + i));
    must(td_nested_tensor_values(nested_tensor[i], values + i, sizes + i));
  }
  compare_tensors(path, sizes[0], sizes[1]);
  if (report.found == found) compare_tensors(path, values[0], values[1]);
  for (int i = 0; i < 2; i++) {
    td_tensor_free(values[i]);
    td_tensor_free(sizes[i]);
    td_free(nested_tensor[i]);
  }
}

static void compare_entry(const pair *now, const char *const *name) {
  static const char *const kinds[] = {"nothing", "a tensor", "a dictionary", "a value",
                                      "a nested tensor"};
  td_entry_kind left, right;
  must(td_get_kind(now->one, name, 1, &left));
  must(td_get_kind(now->other, name, 1, &right));
  key path = key_join(now->path.names, now->path.length, *name);
  if (left != right) {
    text details = {NULL, 0, 0};
    if (right == TD_ENTRY_NONE || left == TD_ENTRY_NONE)
      addf(&details, "only in the %s", left == TD_ENTRY_NONE ? "second" : "first");
    else
      addf(&details, "%s and %s", kinds[left], kinds[right]);
    differ(&path, "entry", details.data);
    text_free(&details);
  } else if (left == TD_ENTRY_DICT) {
    td_tensordict *one, *other;
    must(td_get_dict(now->one, name, 1, &one));
    must(td_get_dict(now->other, name, 1, &other));
    later(one, other, path);
    return;
  } else if (left == TD_ENTRY_TENSOR) {
    td_tensor *one, *other = NULL;
    td_status status = td_get(now->one, name, 1, &one);
    if (status == TD_OK) status = td_get(now->other, name, 1, &other);
    if (status == TD_ERR_SHAPE) /* the elements of a lazy stack differ in shape */
      differ(&path, "shape", td_last_error_message());
    else
      must(status);
    if (one && other) compare_tensors(&path, one, other);
    td_tensor_free(one);
    td_tensor_free(other);
  } else if (left == TD_ENTRY_NESTED_TENSOR) {
    compare_nested_tensor(&path, now, name);
  } else if (left == TD_ENTRY_NON_TENSOR) {
    char *one = non_tensor_text(now->one, name, 1, false),
         *other = non_tensor_text(now->other, name, 1, false);
    if (one && other && strcmp(one, other) != 0) {
      text details = {NULL, 0, 0};
      addf(&details, "%.60s and %.60s", one, other);
      text clean = {NULL, 0, 0};
      add_escaped(&clean, details.data);
      differ(&path, "value", clean.data);
      text_free(&clean);
      text_free(&details);
    }
    free(one);
    free(other);
  }
  key_free(&path);
}

/* Compares the entries of the first in order, then lists those that only the second has. */
static void compare_entries(const pair *now) {
  td_keys *lists[2];
  must(td_keys_of(now->one, NULL, lists + 0));
  must(td_keys_of(now->other, NULL, lists + 1));
  for (int which = 0; which < 2; which++) {
    for (size_t i = 0; i < td_keys_len(lists[which]); i++) {
      const char *const *name;
      size_t length;
      td_entry_kind kind = TD_ENTRY_NONE;
      must(td_keys_at(lists[which], i, &name, &length));
      if (which == 1) must(td_get_kind(now->one, name, 1, &kind));
      if (kind == TD_ENTRY_NONE) compare_entry(now, name);
    }
    td_keys_free(lists[which]);
  }
}

/* Keys that only some elements of a lazy stack have, compared with a dictionary of another kind. */
static void partial_entries(const pair *now, const td_tensordict *lazy, bool first) {
  td_keys *list;
  must(td_lazy_exclusive_keys(lazy, &list));
  for (size_t i = 0; i < td_keys_len(list); i++) {
    const char *const *name;
    size_t length;
    must(td_keys_at(list, i, &name, &length));
    key path = key_join(now->path.names, now->path.length, *name);
    differ(&path, "entry",
           first ? "in some elements of the first" : "in some elements of the second");
    key_free(&path);
  }
  td_keys_free(list);
}

static td_tensordict *element_at(const td_tensordict *lazy, int64_t dim, size_t position) {
  td_index_item items[65];
  td_tensordict *element;
  for (int64_t i = 0; i < dim; i++) items[i] = (td_index_item)TD_I_ALL;
  items[dim] = (td_index_item)TD_I_INT((int64_t)position);
  must(td_index(lazy, items, (size_t)dim + 1, &element));
  return element;
}

static void compare_dictionaries(const pair *now) {
  facts one = facts_of(now->one), other = facts_of(now->other);
  if (!diff_asked.content) {
    if (one.dims != other.dims ||
        memcmp(one.sizes, other.sizes, one.dims * sizeof *one.sizes) != 0) {
      if (now->path.length && follows(one.sizes, one.dims, other.sizes, other.dims))
        report.follow++;
      else
        differ_shape(&now->path, "batch", &one, &other);
    }
    if (strcmp(one.tensorclass, other.tensorclass) != 0) {
      text details = {NULL, 0, 0};
      addf(&details, "%s and %s", *one.tensorclass ? one.tensorclass : "none",
           *other.tensorclass ? other.tensorclass : "none");
      differ(&now->path, "tensorclass", details.data);
      text_free(&details);
    }
    if (one.stack_dim != other.stack_dim) {
      bool both = one.stack_dim >= 0 && other.stack_dim >= 0;
      differ(&now->path, "stack",
             both                 ? "along another dimension"
             : one.stack_dim >= 0 ? "lazy in the first alone"
                                  : "lazy in the second alone");
    }
  }
  if (one.stack_dim < 0 || one.stack_dim != other.stack_dim || one.elements != other.elements) {
    compare_entries(now);
    if (one.stack_dim >= 0) partial_entries(now, now->one, true);
    if (other.stack_dim >= 0) partial_entries(now, now->other, false);
    return;
  }
  for (size_t i = one.elements; i-- > 0;) {
    char name[24];
    snprintf(name, sizeof name, "%zu", i);
    later(element_at(now->one, one.stack_dim, i), element_at(now->other, one.stack_dim, i),
          key_join(now->path.names, now->path.length, name));
  }
}

int run_diff(int count, char **arguments) {
  (void)count;
  /* Of HDF5 a file is a dictionary, too, unless it is compared with a folder. */
  const bool rows = is_set_folder(arguments[0]) || is_set_folder(arguments[1]);
  td_tensordict *one = rows ? open_rows(arguments[0]) : open_any(arguments[0], false),
                *other = rows ? open_rows(arguments[1]) : open_any(arguments[1], false);
  size_t bytes[2];
  must(td_nbytes(one, bytes));
  must(td_nbytes(other, bytes + 1));
  report.lines = table_new("Lll");
  if (common.json) {
    json_begin('{');
    json_member(begin, "differences", '[');
  }
  report.one = facts_of(one);
  report.other = facts_of(other);
  progress_begin("diff", (uint64_t)bytes[0] + bytes[1]);
  later(one, other, key_copy(NULL, 0));
  while (todo.length) {
    pair now = todo.items[--todo.length];
    compare_dictionaries(&now);
    td_free(now.one);
    td_free(now.other);
    key_free(&now.path);
  }
  free(todo.items);
  progress_end();
  if (common.json) {
    json_end(']');
    json_member(bool, "equal", report.found == 0);
    json_end('}');
    json_finish();
  } else {
    table_print(report.lines, WHOLE_LINES);
    if (report.follow && !diff_asked.brief)
      printf("%zu more %s as the batch sizes do\n", report.follow,
             report.follow == 1 ? "entry differs" : "entries differ");
  }
  table_free(report.lines);
  return report.found ? TOOL_FOUND : TOOL_FINE;
}
