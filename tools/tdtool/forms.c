/* What lies on the disk: its form is found by looking, and asked for by name or suffix. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tdtool.h"

typedef struct form_row {
  form which;
  const char *name, *title, *suffixes; /* suffixes between blanks */
  const char *about;
} form_row;
static const form_row rows[] = {
    {FORM_FOLDER, "folder", "folder", "",
     "a folder with a meta.json, of which each nested one may be given by itself"},
    {FORM_ARCHIVE, "tdz", "archive", " .tdz ", "such a folder in a zip archive"},
    {FORM_CONSOLIDATED, "consolidated", "consolidated file", " .td ",
     "one buffer and its description"},
    {FORM_SAFETENSORS, "safetensors", "safetensors file", " .safetensors ",
     "tensors with a JSON header"},
    {FORM_NPZ, "npz", "NumPy archive", " .npz ", "arrays of NumPy in a zip archive"},
    {FORM_NPY, "npy", "NumPy array", " .npy ", "one array"},
    {FORM_TORCH, "pt", "pickled tensors", " .pt .pth ",
     "a pickle of plain tensors; it is only read"},
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

/* The form that a name says: a folder when it has no suffix. */
static form form_of_name(const char *path) {
  size_t length = strlen(path);
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

form form_for(const char *path, const char *to) {
  for (size_t i = 0; to && i < COUNT_OF(rows); i++) {
    if (strcmp(to, rows[i].name) == 0) return rows[i].which;
  }
  form found = form_of_name(path);
  if (found == FORM_UNKNOWN)
    die_usage("the form of '%s' cannot be told by its name; say --to", path);
  return found;
}

form form_of_file(const char *path) {
  struct stat about;
  unsigned char head[16] = {0};
  if (stat(path, &about) != 0) die("%s: %s", path, strerror(errno));
  if (S_ISDIR(about.st_mode)) return FORM_FOLDER;
  FILE *file = fopen(path, "rb");
  if (!file) die("%s: %s", path, strerror(errno));
  size_t count = fread(head, 1, sizeof head, file);
  fclose(file);
  form named = form_of_name(path);
  if (count >= 6 && memcmp(head, "\x93NUMPY", 6) == 0) return FORM_NPY;
  if (count >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0)) {
    return named == FORM_NPZ || named == FORM_TORCH ? named : FORM_ARCHIVE;
  }
  if (named == FORM_CSV || named == FORM_JSON) return named;
  uint64_t length = 0;
  for (int i = 7; i >= 0; i--) length = length << 8 | head[i];
  if (count >= 9 && head[8] == '{' && length + 8 <= (uint64_t)about.st_size)
    return FORM_SAFETENSORS;
  return FORM_CONSOLIDATED;
}

static td_tensordict *open_table(const char *path, td_table_format format) {
  td_tensordict *td;
  must(td_load_table(path, format, ".", &td));
  return td;
}

td_tensordict *open_any(const char *path, bool shapes_only) {
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1; /* nothing here writes to what it reads */
  if (shapes_only) options.device_type = TD_DEVICE_META;
  td_tensordict *td = NULL;
  form which = form_of_file(path);
  switch (which) {
    case FORM_FOLDER: must(td_load_memmap(path, &options, &td)); return td;
    case FORM_CONSOLIDATED: must(td_load_consolidated(path, &options, &td)); return td;
    case FORM_CSV: return open_table(path, TD_TABLE_CSV);
    case FORM_JSON: return open_table(path, TD_TABLE_JSON);
    default: die("%s: a %s cannot be read yet", path, form_title(which));
  }
  return td;
}

td_tensordict *open_key(const char *path, const char *typed, bool shapes_only) {
  td_tensordict *td = open_any(path, shapes_only), *part;
  if (!typed || !*typed) return td;
  key wanted = key_parse(typed);
  td_entry_kind kind;
  must(td_kind_of(td, wanted.names, wanted.length, &kind));
  if (kind == TD_ENTRY_DICT) {
    must(td_get_dict(td, wanted.names, wanted.length, &part));
  } else { /* a dictionary that holds this one entry */
    td_key one = {wanted.names, wanted.length};
    must(td_select(td, &one, 1, NULL, &part));
  }
  key_free(&wanted);
  td_free(td);
  return part;
}

void refuse_existing(const char *path) {
  struct stat about;
  if (stat(path, &about) == 0) die("%s is there already; --force replaces it", path);
}

typedef struct save_job {
  const td_tensordict *td;
  const char *path;
  form as;
} save_job;

static td_status save(void *user) {
  const save_job *job = user;
  td_tensordict *saved = NULL;
  td_status status = TD_ERR_UNSUPPORTED;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.copy_existing = 1;
  switch (job->as) {
    case FORM_FOLDER:
      options.num_threads = 2;
      status = td_memmap(job->td, job->path, &options, &saved);
      break;
    case FORM_CONSOLIDATED: status = td_consolidate(job->td, job->path, NULL, &saved); break;
    case FORM_CSV: status = td_save_table(job->td, job->path, TD_TABLE_CSV, "."); break;
    case FORM_JSON: status = td_save_table(job->td, job->path, TD_TABLE_JSON, "."); break;
    default: td_set_error(status, "this form cannot be written");
  }
  td_free(saved);
  return status;
}

void save_any(const td_tensordict *td, const char *path, form as, const char *label) {
  save_job job = {td, path, as};
  size_t bytes = 0;
  must(td_nbytes(td, &bytes));
  must(progress_call(label, bytes, save, &job));
}

void print_saved(const td_tensordict *td, const char *path, form as) {
  int64_t sizes[64];
  size_t dims, bytes;
  must(td_batch_size(td, sizes, COUNT_OF(sizes), &dims));
  must(td_nbytes(td, &bytes));
  if (common.json) {
    json_begin('{');
    json_name("path");
    json_text(path);
    json_name("form");
    json_text(form_name(as));
    json_name("batch_size");
    json_sizes(sizes, dims);
    json_name("bytes");
    json_size(bytes);
    json_end('}');
    json_finish();
    return;
  }
  text line = {NULL, 0, 0};
  add_escaped(&line, path);
  addf(&line, ": %s, batch ", form_title(as));
  add_shape(&line, sizes, dims);
  add(&line, ", ");
  add_size(&line, bytes);
  puts(line.data);
  text_free(&line);
}
