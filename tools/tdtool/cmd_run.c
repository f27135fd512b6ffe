/* tdtool run: a module over the rows of a dictionary, piece by piece. */
#include <stdlib.h>

#include "runs.h"

enum { AT_ONCE = 1024 }; /* elements of the batch */

typedef struct job {
  const char *path;
  td_tensordict *td;
  td_module *module;
  td_key *in_keys;
  size_t in_keys_len;
  int64_t sizes[64];
  size_t dims;
  int64_t rows, step; /* along the first dimension; in one call */
  uint64_t bytes;     /* of the inputs */
} job;

static void measure(job *of) {
  td_select_options some = TD_SELECT_OPTIONS_INIT;
  td_tensordict *inputs;
  size_t bytes;
  int64_t elements = 1; /* of one row */
  must(td_batch_size(of->td, of->sizes, COUNT_OF(of->sizes), &of->dims));
  if (!of->dims) {
    die("%s has no batch dimension, so it has no rows; --batch-dims gives some to a format that "
        "stores none",
        of->path);
  }
  of->rows = of->sizes[0];
  for (size_t i = 1; i < of->dims; i++) {
    if (of->sizes[i] > 1)
      elements = of->sizes[i] > AT_ONCE / elements ? AT_ONCE : elements * of->sizes[i];
  }
  of->step = run_asked.batch ? run_asked.batch : AT_ONCE / elements;
  some.ignore_missing = 1;
  if (td_select(of->td, of->in_keys, of->in_keys_len, &some, &inputs) != TD_OK) return;
  must(td_nbytes(inputs, &bytes));
  of->bytes = bytes;
  td_free(inputs);
}

/* Moves the inputs to the module's device; if one is missing, everything, so that the error lists the keys. */
static td_tensordict *moved(const job *of, td_tensordict *piece) {
  td_device_type type;
  int32_t index;
  td_tensordict *inputs, *there;
  module_device(&type, &index);
  if (type == TD_DEVICE_NONE) return piece;
  if (td_select(piece, of->in_keys, of->in_keys_len, NULL, &inputs) != TD_OK)
    must(td_dup(piece, &inputs));
  must(td_to_device(inputs, type, index, NULL, &there));
  td_free(inputs);
  td_free(piece);
  return there;
}

/* A failure in the first rows happens in all rows. */
static void fail_rows(const job *of, int64_t first, int64_t past, const char *message) {
  if (first == 0) die("%s: %s", of->path, message);
  die("%s, rows %lld to %lld: %s", of->path, (long long)first, (long long)past - 1, message);
}

/* The outputs for the rows from `first` on; `past` is the row behind the last one. */
static td_tensordict *call(const job *of, int64_t first, int64_t *past) {
  *past = of->rows - first < of->step ? of->rows : first + of->step;
  const td_index_item rows = TD_I_SLICE(first, *past);
  td_tensordict *piece, *result, *here;
  scratch_check();
  must(td_index(of->td, &rows, 1, &piece));
  piece = moved(of, piece);
  if (td_module_call(piece, of->module, NULL, &result) != TD_OK)
    fail_rows(of, first, *past, td_last_error_message());
  td_free(piece);
  if (!loading.device) return result;
  must(td_to_device(result, TD_DEVICE_CPU, -1, NULL, &here));
  td_free(result);
  return here;
}

static void show_progress(const job *of, int64_t past) {
  progress_set((uint64_t)((double)of->bytes * (double)past / (double)of->rows), of->bytes);
}

/* The entries of the result that are not outputs. */
static td_tensordict *others(const job *of, const outputs *made) {
  td_tensordict *result;
  if (!run_asked.only_outputs) return outputs_exclude(made, of->td);
  must(td_create(of->sizes, of->dims, TD_DEVICE_NONE, -1, &result));
  return result;
}

/* Writes the result to a folder beside OUT, piece by piece. False for lazy stacks, which cannot grow so. */
static bool run_in_files(const job *of, const td_tensordict *first_rows, int64_t past,
                         outputs *made, const char *out) {
  td_tensordict *beside = others(of, made);
  scratch_begin(out);
  td_tensordict *stored = save_mapped(beside, scratch_path(), FORM_FOLDER, "copy");
  scratch_check();
  bool fits = outputs_make(made, stored, of->rows);
  td_free(stored);
  td_free(beside);
  progress_begin("run", of->bytes);
  char *words = fits ? outputs_write(made, first_rows, 0, past) : NULL;
  for (int64_t first = past; fits && first < of->rows; first = past) {
    show_progress(of, first);
    td_tensordict *result = call(of, first, &past);
    words = outputs_write(made, result, first, past);
    if (words) fail_rows(of, first, past, words);
    td_free(result);
  }
  progress_end();
  if (!fits) scratch_remove();
  return fits;
}

/* The result in memory. */
static td_tensordict *run_in_memory(const job *of, const td_tensordict *first_rows, int64_t past,
                                    const outputs *made) {
  size_t count = 1;
  td_tensordict **pieces = xcalloc((size_t)(of->rows / of->step) + 2, sizeof(*pieces)), *joined,
                *all;
  must(td_dup(first_rows, pieces));
  progress_begin("run", of->bytes);
  for (int64_t first = past; first < of->rows; first = past) {
    show_progress(of, first);
    pieces[count++] = call(of, first, &past);
  }
  progress_end();
  must(td_cat((const td_tensordict *const *)pieces, count, 0, &joined));
  for (size_t i = 0; i < count; i++) td_free(pieces[i]);
  free(pieces);
  must(td_clone(of->td, TD_CLONE_SHALLOW, &all));
  for (size_t i = 0; i < made->length; i++) {
    const key *path = &made->items[i].path;
    td_tensor *tensor;
    must(td_get(joined, path->names, path->length, &tensor));
    must(td_set(all, path->names, path->length, tensor));
    td_tensor_free(tensor);
  }
  td_free(joined);
  return all;
}

static void run_job(const job *of, const char *out, form as) {
  td_dict_kind kind;
  int64_t past;
  td_tensordict *first_rows = call(of, 0, &past), *all;
  outputs made = outputs_of(of->module, first_rows);
  must(td_kind(of->td, &kind));
  bool grows = kind == TD_DICT_DENSE || run_asked.only_outputs;
  if (grows && run_in_files(of, first_rows, past, &made, out)) {
    all = scratch_keep(out, as);
  } else {
    all = run_in_memory(of, first_rows, past, &made);
    save_any(all, out, as, "save");
  }
  outputs_free(&made);
  td_free(first_rows);
  print_saved(all, out, as);
  td_free(all);
  scratch_remove();
}

int run_run(int count, char **arguments) {
  (void)count;
  job of = {.path = arguments[1]};
  td_keys *keys;
  form as = form_for(arguments[2]);
  refuse_existing(arguments[2]);
  must(load_module(arguments[0], &of.module));
  of.td = open_rows(of.path);
  must(td_module_in_keys(of.module, &keys));
  of.in_keys_len = td_keys_len(keys);
  of.in_keys = xcalloc(of.in_keys_len, sizeof *of.in_keys);
  for (size_t i = 0; i < of.in_keys_len; i++)
    must(td_keys_at(keys, i, &of.in_keys[i].path, &of.in_keys[i].path_len));
  measure(&of);
  run_job(&of, arguments[2], as);
  free(of.in_keys);
  td_keys_free(keys);
  td_free(of.td);
  td_module_free(of.module);
  return TOOL_FINE;
}
