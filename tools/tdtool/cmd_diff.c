/* tdtool diff: what differs between two dictionaries, whatever forms they are stored in. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

enum { CHUNK = 8192 };

static struct {
  double relative, absolute;
  bool content, brief;
} given;

static const tool_option options[] = {
    {"rtol", 'r', "X", NULL, "numbers may differ by X times the second one", TAKES_REAL,
     &given.relative},
    {"atol", 'a', "X", NULL, "numbers may differ by X", TAKES_REAL, &given.absolute},
    {"content", 'c', NULL, NULL, "batch sizes, record types and lazy stacks do not count",
     TAKES_NOTHING, &given.content},
    {"brief", 'q', NULL, NULL, "print nothing; the exit status says it", TAKES_NOTHING,
     &given.brief},
};

static struct {
  size_t found;
  table *lines;
} report;

/* One difference. */
static void differ(const key *path, const char *kind, const char *details) {
  text name = {NULL, 0, 0};
  add_key(&name, path->names, path->length);
  report.found++;
  if (given.brief) {
    /* nothing */
  } else if (common.json) {
    json_begin('{');
    json_path(path->names, path->length);
    json_name("kind");
    json_text(kind);
    json_name("text");
    json_text(details);
    json_end('}');
  } else {
    table_cell(report.lines, BOLD, path->length ? name.data : ".");
    table_cell(report.lines, YELLOW, kind);
    table_cell(report.lines, PLAIN, details);
  }
  text_free(&name);
}

static void differ_shape(const key *path, const char *kind, const int64_t *one, size_t one_dims,
                         const int64_t *other, size_t other_dims) {
  text details = {NULL, 0, 0};
  add_shape(&details, one, one_dims);
  add(&details, " and ");
  add_shape(&details, other, other_dims);
  differ(path, kind, details.data);
  text_free(&details);
}

typedef struct comparison {
  uint64_t different, first;
  double largest;
} comparison;

static bool close_enough(double one, double other) {
  if (isnan(one) || isnan(other)) return isnan(one) && isnan(other);
  if (one == other) return true;
  return fabs(one - other) <= given.absolute + given.relative * fabs(other);
}

/* Whether two elements are as good as equal; their distance. */
static bool same_element(const elements *one, const elements *other, size_t at, double *distance) {
  const unsigned char *left = one->data + at * one->item, *right = other->data + at * one->item;
  bool exact = given.relative <= 0 && given.absolute <= 0;
  double first = element_real(one->dtype, left), second = element_real(one->dtype, right);
  *distance = fabs(first - second);
  if (is_integer(one->dtype)) {
    bool equal = memcmp(left, right, one->item) == 0;
    return equal || (!exact && close_enough(first, second));
  }
  if (is_real(one->dtype)) return close_enough(first, second);
  td_dtype half = one->dtype == TD_DTYPE_COMPLEX32   ? TD_DTYPE_FLOAT16
                  : one->dtype == TD_DTYPE_COMPLEX64 ? TD_DTYPE_FLOAT32
                                                     : TD_DTYPE_FLOAT64;
  double real = element_real(half, left) - element_real(half, right);
  double imaginary =
      element_real(half, left + one->item / 2) - element_real(half, right + one->item / 2);
  *distance = hypot(real, imaginary);
  if (isnan(*distance)) return isnan(first) && isnan(second);
  return *distance <= given.absolute + given.relative * second;
}

static comparison compare(const elements *one, const elements *other) {
  comparison result = {0, 0, 0};
  for (size_t at = 0; at < one->count; at += CHUNK) {
    size_t count = one->count - at < CHUNK ? one->count - at : CHUNK;
    progress_add(2 * count * one->item);
    if (memcmp(one->data + at * one->item, other->data + at * one->item, count * one->item) == 0)
      continue;
    for (size_t i = at; i < at + count; i++) {
      double distance;
      if (same_element(one, other, i, &distance)) continue;
      if (result.different++ == 0) result.first = i;
      if (distance > result.largest || isnan(distance)) result.largest = distance;
    }
  }
  return result;
}

static void compare_tensors(const key *path, const td_tensor *left, const td_tensor *right) {
  elements one = elements_of(left), other = elements_of(right);
  if (one.dtype != other.dtype) {
    text details = {NULL, 0, 0};
    addf(&details, "%s and %s", dtype_name(one.dtype), dtype_name(other.dtype));
    differ(path, "dtype", details.data);
    text_free(&details);
  } else if (one.dims != other.dims ||
             (one.dims && memcmp(one.sizes, other.sizes, one.dims * sizeof *one.sizes) != 0)) {
    differ_shape(path, "shape", one.sizes, one.dims, other.sizes, other.dims);
  } else {
    comparison found = compare(&one, &other);
    if (found.different) {
      text details = {NULL, 0, 0};
      int64_t place[64];
      uint64_t rest = found.first;
      for (size_t dim = one.dims; dim-- > 0; rest /= (uint64_t)one.sizes[dim]) {
        if (dim < 64) place[dim] = (int64_t)(rest % (uint64_t)one.sizes[dim]);
      }
      addf(&details, "%llu of %llu differ, first at ", (unsigned long long)found.different,
           (unsigned long long)one.count);
      add_shape(&details, place, one.dims < 64 ? one.dims : 64);
      add(&details, ": ");
      add_element(&details, one.dtype, one.data + found.first * one.item, false);
      add(&details, " and ");
      add_element(&details, one.dtype, other.data + found.first * one.item, false);
      addf(&details, ", at most by %.5g", found.largest);
      differ(path, "values", details.data);
      text_free(&details);
    }
  }
  elements_free(&one);
  elements_free(&other);
}

/* What is still to be compared. */
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

/* The sizes of the parts, then the values of all. */
static void compare_ragged(const key *path, const pair *now, const char *const *name) {
  td_tensordict *ragged[2];
  td_tensor *values[2], *sizes[2];
  size_t found = report.found;
  for (int i = 0; i < 2; i++) {
    must(td_get_ragged(i ? now->other : now->one, name, 1, ragged + i));
    must(td_ragged_tensors(ragged[i], values + i, sizes + i));
  }
  compare_tensors(path, sizes[0], sizes[1]);
  if (report.found == found) compare_tensors(path, values[0], values[1]);
  for (int i = 0; i < 2; i++) {
    td_tensor_free(values[i]);
    td_tensor_free(sizes[i]);
    td_free(ragged[i]);
  }
}

static void compare_entry(const pair *now, const char *const *name) {
  static const char *const kinds[] = {"nothing", "a tensor", "a dictionary", "a value",
                                      "a ragged tensor"};
  td_entry_kind left, right;
  must(td_kind_of(now->one, name, 1, &left));
  must(td_kind_of(now->other, name, 1, &right));
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
    if (status == TD_ERR_SHAPE) /* of a lazy stack, beside something that is none */
      differ(&path, "shape", td_last_error_message());
    else
      must(status);
    if (one && other) compare_tensors(&path, one, other);
    td_tensor_free(one);
    td_tensor_free(other);
  } else if (left == TD_ENTRY_RAGGED) {
    compare_ragged(&path, now, name);
  } else if (left == TD_ENTRY_DATA) {
    char *one = data_text(now->one, name, 1, false), *other = data_text(now->other, name, 1, false);
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

/* Entries of the first in its order, then those that only the second has. */
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
      if (which == 1) must(td_kind_of(now->one, name, 1, &kind));
      if (kind == TD_ENTRY_NONE) compare_entry(now, name);
    }
    td_keys_free(lists[which]);
  }
}

/* What is said of a dictionary besides its entries. */
typedef struct facts {
  int64_t sizes[64];
  size_t dims;
  td_dict_kind kind;
  int64_t stack_dim;
  size_t elements;
  char record[200];
} facts;

static facts facts_of(const td_tensordict *td) {
  facts result = {.stack_dim = -1};
  must(td_batch_size(td, NULL, 0, &result.dims));
  if (result.dims > 64) die("a batch of %zu dimensions", result.dims);
  if (result.dims) must(td_batch_size(td, result.sizes, 64, &result.dims));
  must(td_kind_of_dict(td, &result.kind));
  if (result.kind == TD_DICT_LAZY) must(td_lazy_info(td, &result.stack_dim, &result.elements));
  td_record_type *type;
  size_t length;
  must(td_record_type_of(td, &type));
  if (type && td_record_type_name(type, result.record, sizeof result.record, &length) != TD_OK) {
    snprintf(result.record, sizeof result.record, "(a long name)");
  }
  td_record_type_free(type);
  return result;
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
  if (!given.content) {
    if (one.dims != other.dims ||
        memcmp(one.sizes, other.sizes, one.dims * sizeof *one.sizes) != 0) {
      differ_shape(&now->path, "batch", one.sizes, one.dims, other.sizes, other.dims);
    }
    if (strcmp(one.record, other.record) != 0) {
      text details = {NULL, 0, 0};
      addf(&details, "%s and %s", *one.record ? one.record : "none",
           *other.record ? other.record : "none");
      differ(&now->path, "record", details.data);
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
    return;
  }
  for (size_t i = one.elements; i-- > 0;) {
    char name[24];
    snprintf(name, sizeof name, "%zu", i);
    later(element_at(now->one, one.stack_dim, i), element_at(now->other, one.stack_dim, i),
          key_join(now->path.names, now->path.length, name));
  }
}

static int run(int count, char **arguments) {
  (void)count;
  td_tensordict *one = open_any(arguments[0], false), *other = open_any(arguments[1], false);
  size_t bytes[2];
  must(td_nbytes(one, bytes));
  must(td_nbytes(other, bytes + 1));
  report.lines = table_new("Lll");
  if (common.json) {
    json_begin('{');
    json_name("differences");
    json_begin('[');
  }
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
    json_name("equal");
    json_bool(report.found == 0);
    json_end('}');
    json_finish();
  } else {
    table_print(report.lines, WHOLE_LINES);
  }
  table_free(report.lines);
  return report.found ? TOOL_FOUND : TOOL_FINE;
}

const tool_command command_diff = {
    .name = "diff",
    .arguments = "PATH PATH [OPTION...]",
    .summary = "Says where two dictionaries differ",
    .text =
        "They may be stored in different forms. Structure, dtypes and shapes are compared, then "
        "values: "
        "the first position at which they differ, and the largest difference. NaN is equal to NaN. "
        "Prints "
        "nothing when there is no difference; the exit status is 1 when there is one.",
    .example = "tdtool diff rollout rollout.tdz\ntdtool diff before after --rtol 1e-5 --atol 1e-8",
    .options = options,
    .options_len = COUNT_OF(options),
    .least = 2,
    .most = 2,
    .run = run,
};
