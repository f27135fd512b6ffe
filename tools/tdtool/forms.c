/* The formats: their names and suffixes. */
#include <string.h>

#include "plain.h"

typedef struct form_row {
  form which;
  const char *name, *title, *suffixes; /* suffixes between blanks */
  const char *about;
} form_row;
static const form_row rows[] = {
    {FORM_FOLDER, "folder", "folder", "",
     "a folder with a meta.json; each nested folder works on its own"},
    {FORM_ARCHIVE, "tdz", "archive", " .tdz ", "such a folder in a zip archive"},
    {FORM_CONSOLIDATED, "consolidated", "consolidated file", " .td ",
     "one buffer and its description"},
    {FORM_SAFETENSORS, "safetensors", "safetensors file", " .safetensors ",
     "tensors with a JSON header"},
    {FORM_NPZ, "npz", "NumPy archive", " .npz ", "arrays of NumPy in a zip archive"},
    {FORM_NPY, "npy", "NumPy array", " .npy ", "one array"},
    {FORM_HDF5, "h5", "HDF5 file", " .h5 .hdf5 ",
     "groups of datasets; each group with the batch size that its tensors share"},
    {FORM_PARQUET, "parquet", "Parquet file", " .parquet ",
     "a table of columns; nested dictionaries are structs, the rows are the batch"},
    {FORM_ARROW, "arrow", "Arrow file", " .arrow .feather ", "the same as record batches of Arrow"},
    {FORM_TORCH, "pt", "pickled tensors", " .pt .pth ", "a pickle of plain tensors; read only"},
    {FORM_MODULE, "torchscript", "TorchScript archive", "",
     "a module, for show and run; all others take its tensors as data"},
    {FORM_STORE, "redis", "store", "",
     "a dictionary in a Redis server: redis://HOST:PORT/PREFIX/ID, rediss:// over TLS, or "
     "redis+unix://SOCKET/PREFIX/ID; the "
     "password is that of REDISCLI_AUTH"},
    {FORM_CSV, "csv", "CSV table", " .csv ", "a table with names in the first line"},
    {FORM_JSON, "json", "JSON table", " .json ", "a list of objects, one for each row"},
};

void print_forms(void) {
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    printf(".TP\n\\fB%s\\fR%s%s\n%s.\n", rows[i].name, *rows[i].suffixes ? "," : "",
           rows[i].suffixes, rows[i].about);
  }
}

static const form_row *row_of(form which) {
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    if (rows[i].which == which) return rows + i;
  }
  return NULL;
}

const char *form_name(form which) {
  return which == FORM_UNKNOWN ? "unknown" : row_of(which)->name;
}
const char *form_title(form which) { return which == FORM_UNKNOWN ? "file" : row_of(which)->title; }

/* The form of a path by its name: a folder if it has no suffix and is not an address. */
form form_of_name(const char *path) {
  size_t length = strlen(path);
  if (strncmp(path, "redis://", 8) == 0 || strncmp(path, "rediss://", 9) == 0 ||
      strncmp(path, "redis+unix://", 13) == 0)
    return FORM_STORE;
  while (length > 1 && path[length - 1] == '/') return FORM_FOLDER;
  const char *base = strrchr(path, '/'), *dot = strrchr(base ? base : path, '.');
  if (!dot || dot == (base ? base + 1 : path)) return FORM_FOLDER;
  text suffix = {NULL, 0, 0};
  addf(&suffix, " %s ", dot);
  form found = FORM_UNKNOWN;
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    if (strstr(rows[i].suffixes, suffix.data)) found = rows[i].which;
  }
  text_free(&suffix);
  return found;
}

form form_called(const char *name) {
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    if (strcmp(name, rows[i].name) == 0) return rows[i].which;
  }
  return FORM_UNKNOWN;
}
