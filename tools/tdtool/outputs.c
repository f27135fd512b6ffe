/* The outputs of a module for all rows: files that are created first and filled piece by piece. */
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

static output output_of(const td_tensordict *td, const char *const *path, size_t path_len) {
  output result = {.path = key_copy(path, path_len)};
  td_tensor *tensor;
  must(td_get(td, path, path_len, &tensor));
  must(td_tensor_dtype(tensor, &result.dtype));
  must(td_tensor_sizes(tensor, NULL, 0, &result.dims));
  result.sizes = xcalloc(result.dims, sizeof *result.sizes);
  must(td_tensor_sizes(tensor, result.sizes, result.dims, &result.dims));
  td_tensor_free(tensor);
  return result;
}

static void output_free(output *of) {
  key_free(&of->path);
  free(of->sizes);
  td_tensor_free(of->file);
}

outputs outputs_of(const td_module *module, const td_tensordict *first) {
  td_keys *keys;
  must(td_module_out_keys(module, &keys));
  outputs result = {xcalloc(td_keys_len(keys), sizeof *result.items), 0};
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path;
    size_t path_len;
    must(td_keys_at(keys, i, &path, &path_len));
    if (path_len == 1 && strcmp(path[0], "_") == 0) continue; /* dropped */
    result.items[result.length++] = output_of(first, path, path_len);
  }
  td_keys_free(keys);
  return result;
}

void outputs_free(outputs *of) {
  for (size_t i = 0; i < of->length; i++) output_free(of->items + i);
  free(of->items);
  *of = (outputs){NULL, 0};
}

td_tensordict *outputs_exclude(const outputs *of, const td_tensordict *td) {
  td_tensordict *result;
  td_key *keys = xcalloc(of->length, sizeof *keys);
  for (size_t i = 0; i < of->length; i++)
    keys[i] = (td_key){of->items[i].path.names, of->items[i].path.length};
  must(td_exclude(td, keys, of->length, NULL, &result));
  free(keys);
  return result;
}

bool outputs_make(outputs *of, td_tensordict *stored, int64_t rows) {
  for (size_t i = 0; i < of->length; i++) {
    output *one = of->items + i;
    one->sizes[0] = rows;
    td_status status = td_memmap_make(stored, one->path.names, one->path.length, one->sizes,
                                      one->dims, one->dtype, NULL, &one->file);
    if (status == TD_ERR_UNSUPPORTED) return false; /* a lazy stack, or a tensorclass */
    must(status);
  }
  return true;
}

/* NULL if these rows are like the first ones. */
static char *difference(const output *now, const output *before) {
  bool same = now->dtype == before->dtype && now->dims == before->dims;
  for (size_t i = 1; same && i < now->dims; i++) same = now->sizes[i] == before->sizes[i];
  if (same) return NULL;
  text line = {NULL, 0, 0};
  add_key(&line, now->path.names, now->path.length);
  addf(&line, " is %s of ", dtype_name(now->dtype));
  add_shape(&line, now->sizes + 1, now->dims - 1);
  addf(&line, " in each row; in the first rows it was %s of ", dtype_name(before->dtype));
  add_shape(&line, before->sizes + 1, before->dims - 1);
  return line.data;
}

char *outputs_write(const outputs *of, const td_tensordict *result, int64_t first, int64_t past) {
  const td_index_item rows = TD_I_SLICE(first, past);
  for (size_t i = 0; i < of->length; i++) {
    const output *one = of->items + i;
    output now = output_of(result, one->path.names, one->path.length);
    char *words = difference(&now, one);
    output_free(&now);
    if (words) return words;
    td_tensor *tensor;
    must(td_get(result, one->path.names, one->path.length, &tensor));
    must(td_tensor_set_at(one->file, &rows, 1, tensor));
    td_tensor_free(tensor);
  }
  return NULL;
}
