/* tdtool set: a number for all elements of a tensor, or a non-tensor value. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "edit.h"
#include "runs.h"

/* The least and the greatest integer of a dtype. */
static void range_of(td_dtype dtype, int64_t *least, int64_t *most) {
  size_t bits = 8 * td_dtype_size(dtype);
  bool is_signed = dtype_kind(dtype) == KIND_WHOLE;
  *least = is_signed ? -(INT64_C(1) << (bits - 2)) * 2 : 0;
  *most = is_signed ? -(*least + 1) : bits == 64 ? INT64_MAX : (int64_t)((UINT64_C(1) << bits) - 1);
  if (dtype_kind(dtype) == KIND_TRUTH) *most = 1;
}

static td_operand number_of(const char *typed, const char *value, td_dtype dtype) {
  char *end = NULL;
  bool truth = strcmp(value, "true") == 0;
  if (truth || strcmp(value, "false") == 0) return (td_operand)TD_O_INT(truth);
  if (is_integer(dtype)) {
    int64_t least, most;
    range_of(dtype, &least, &most);
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (!*value || *end || errno || number < least || number > most) {
      die_usage("set: %s is %s, which has the values %lld to %lld, not '%s'", typed,
                dtype_name(dtype), (long long)least, (long long)most, value);
    }
    return (td_operand)TD_O_INT(number);
  }
  double real = strtod(value, &end);
  if (!*value || *end) {
    die_usage("set: %s is a tensor of %s, so it takes a number, not '%s'", typed, dtype_name(dtype),
              value);
  }
  return (td_operand)TD_O_DOUBLE(real);
}

/* Replaces the tensor: the old one may be mapped from the file. */
static void fill(td_tensordict *td, const key *path, const char *typed, const char *value) {
  td_tensor *old, *new;
  td_dtype dtype;
  size_t dims;
  must(td_get(td, path->names, path->length, &old));
  must(td_tensor_dtype(old, &dtype));
  td_operand number = number_of(typed, value, dtype);
  must(td_tensor_sizes(old, NULL, 0, &dims));
  int64_t *sizes = xcalloc(dims, sizeof *sizes);
  if (dims) must(td_tensor_sizes(old, sizes, dims, &dims));
  must(td_tensor_zeros(sizes, dims, dtype, TD_DEVICE_CPU, -1, &new));
  must(td_set(td, path->names, path->length, new));
  must(td_fill(td, path->names, path->length, &number));
  td_tensor_free(old);
  td_tensor_free(new);
  free(sizes);
}

/* JSON, or text as it is. */
static void set_value(td_tensordict *td, const key *path, const char *value) {
  td_status status = td_set_non_tensor_json(td, path->names, path->length, value);
  if (status != TD_ERR_FORMAT) {
    must(status);
    return;
  }
  text quoted = {NULL, 0, 0};
  add_quoted(&quoted, value);
  must(td_set_non_tensor_json(td, path->names, path->length, quoted.data));
  text_free(&quoted);
}

static void assign(td_tensordict *td, const char *typed) {
  const char *equal = strchr(typed, '=');
  if (!equal || equal == typed) die_usage("set: '%s' is no KEY=VALUE", typed);
  text name = {NULL, 0, 0};
  add_bytes(&name, typed, (size_t)(equal - typed));
  key path = key_parse(name.data);
  td_entry_kind kind;
  must(td_get_kind(td, path.names, path.length, &kind));
  if (kind == TD_ENTRY_DICT) die_usage("set: %s is a dictionary, which has no value", name.data);
  if (kind == TD_ENTRY_TENSOR)
    fill(td, &path, name.data, equal + 1);
  else if (kind == TD_ENTRY_NESTED_TENSOR)
    die_usage("set: %s is a nested tensor, which set does not change", name.data);
  else
    set_value(td, &path, equal + 1);
  key_free(&path);
  text_free(&name);
}

int run_set(int count, char **arguments) {
  edit of = edit_begin(arguments[0]);
  for (int i = 1; i < count; i++) assign(of.td, arguments[i]);
  return edit_finish(&of, "set");
}
