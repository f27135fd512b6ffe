/* Opens and saves files and folders: detects the format of an input, and writes the format asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tdtool.h"

#define TABLE(format)                                                                 \
  (&(const td_table_options){(uint32_t)sizeof(td_table_options), (format), ".", 0, 0, \
                             TD_TABLE_FLATTEN})

form form_for(const char *path) {
  form found = form_of_name(path);
  if (found != FORM_STORE && saving.to) found = form_called(saving.to);
  if (found == FORM_UNKNOWN) die_usage("the name '%s' does not tell the format; use --to", path);
  return found;
}

/* Zip archives: a dictionary has a meta.json at the top, a module has constants; others are of NumPy or torch.save. */
static form form_of_zip(const char *path, form named) {
  int32_t archive;
  must(td_memmap_is_archive(path, &archive));
  if (archive) return FORM_ARCHIVE;
  if (zip_holds(path, "constants.pkl")) return FORM_MODULE;
  return named == FORM_TORCH ? named : FORM_NPZ;
}

/* A consolidated file ends with a JSON object and the number of its bytes. */
static bool ends_consolidated(const char *path, int64_t size) {
  unsigned char tail[8] = {0};
  uint64_t length = 0;
  int first = 0;
  FILE *file = size > 9 ? fopen(path, "rb") : NULL;
  if (!file) return false;
  if (fseek(file, -8, SEEK_END) == 0 && fread(tail, 1, 8, file) == 8) {
    for (int i = 7; i >= 0; i--) length = length << 8 | tail[i];
    if (length <= (uint64_t)size - 8 && fseek(file, -8 - (long)length, SEEK_END) == 0) {
      first = getc(file);
    }
  }
  fclose(file);
  return first == '{';
}

form form_of_file(const char *path) {
  struct stat about;
  unsigned char head[16] = {0};
  if (form_of_name(path) == FORM_STORE) return FORM_STORE;
  if (stat(path, &about) != 0) die("%s: %s", path, strerror(errno));
  if (S_ISDIR(about.st_mode)) return FORM_FOLDER;
  FILE *file = fopen(path, "rb");
  if (!file) die("%s: %s", path, strerror(errno));
  size_t count = fread(head, 1, sizeof head, file);
  fclose(file);
  form named = form_of_name(path);
  if (count >= 6 && memcmp(head, "\x93NUMPY", 6) == 0) return FORM_NPY;
  if (count >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0)) {
    return form_of_zip(path, named);
  }
  if (count >= 4 && memcmp(head, "PAR1", 4) == 0) return FORM_PARQUET;
  if (count >= 6 && memcmp(head, "ARROW1", 6) == 0) return FORM_ARROW;
  if (count >= 8 && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0) return FORM_HDF5;
  if (named == FORM_CSV || named == FORM_JSON || named == FORM_TORCH) return named;
  uint64_t length = 0;
  for (int i = 7; i >= 0; i--) length = length << 8 | head[i];
  if (count >= 9 && head[8] == '{' && length + 8 <= (uint64_t)about.st_size) {
    return FORM_SAFETENSORS;
  }
  return named == FORM_CONSOLIDATED || ends_consolidated(path, about.st_size) ? FORM_CONSOLIDATED
                                                                              : FORM_UNKNOWN;
}

bool stores_no_batch(form which) {
  return which == FORM_SAFETENSORS || which == FORM_NPZ || which == FORM_NPY ||
         which == FORM_TORCH || which == FORM_HDF5;
}

static td_status open_as(form which, const char *path, const key *part, bool shapes_only,
                         td_tensordict **td) {
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  td_file_options file = TD_FILE_OPTIONS_INIT;
  *td = NULL;
  options.private_mapping = 1; /* nothing here writes to what it reads */
  if (shapes_only) options.device_type = TD_DEVICE_META;
  if (part) options.subpath = part->names;
  if (part) options.subpath_len = part->length;
  if (common.batch_dims > 0) file.batch_dims = (int32_t)common.batch_dims;
  switch (which) {
    case FORM_FOLDER:
    case FORM_ARCHIVE: return td_memmap_load(path, &options, td);
    case FORM_CONSOLIDATED: return td_consolidated_load(path, &options, td);
    case FORM_STORE: return open_store(path, td);
    case FORM_CSV: return td_table_load(path, TABLE(TD_TABLE_CSV), td);
    case FORM_JSON: return td_table_load(path, TABLE(TD_TABLE_JSON), td);
    case FORM_HDF5: file.format = TD_FILE_HDF5; return td_file_load(path, &file, td);
    case FORM_PARQUET: file.format = TD_FILE_PARQUET; return td_file_load(path, &file, td);
    case FORM_ARROW: file.format = TD_FILE_ARROW; return td_file_load(path, &file, td);
    default: return td_file_load(path, &file, td);
  }
}

td_tensordict *open_any(const char *path, bool shapes_only) {
  td_tensordict *td;
  form which = form_of_file(path);
  if (which == FORM_UNKNOWN) die("%s: unknown format", path);
  must(open_as(which, path, NULL, shapes_only, &td));
  return td;
}

td_tensordict *open_folder_shared(const char *path) {
  td_tensordict *td;
  must(td_memmap_load(path, NULL, &td));
  return td;
}

td_status try_open(const char *path, form which, td_tensordict **td) {
  return open_as(which, path, NULL, false, td);
}

/* A nested dictionary of a folder or an archive is read alone. */
static td_tensordict *open_part(const char *path, const key *wanted, bool shapes_only) {
  td_tensordict *td;
  form which = form_of_file(path);
  if (which != FORM_FOLDER && which != FORM_ARCHIVE) return NULL;
  if (open_as(which, path, wanted, shapes_only, &td) != TD_OK) return NULL; /* a tensor, perhaps */
  return td;
}

td_tensordict *open_key(const char *path, const char *typed, bool shapes_only) {
  if (!typed || !*typed) return open_any(path, shapes_only);
  key wanted = key_parse(typed);
  td_tensordict *part = open_part(path, &wanted, shapes_only);
  if (!part) {
    td_tensordict *td = open_any(path, shapes_only);
    td_entry_kind kind;
    must(td_get_kind(td, wanted.names, wanted.length, &kind));
    if (kind == TD_ENTRY_DICT) {
      must(td_get_dict(td, wanted.names, wanted.length, &part));
    } else { /* a dictionary that holds this one entry */
      td_key one = {wanted.names, wanted.length};
      must(td_select(td, &one, 1, NULL, &part));
    }
    td_free(td);
  }
  key_free(&wanted);
  return part;
}

void refuse_existing(const char *path) {
  struct stat about;
  if (!saving.force && stat(path, &about) == 0) die("%s already exists; --force replaces it", path);
}

typedef struct save_job {
  const td_tensordict *td;
  const char *path;
  form as;
  td_tensordict *saved;
} save_job;

static td_status save_file(const save_job *job, td_file_format format) {
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.format = format;
  options.deflate = saving.compress;
  options.durable = saving.durable;
  return td_file_save(job->td, job->path, &options);
}

static td_status save_folder(const save_job *job, td_archive archive, td_tensordict **saved) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.copy_existing = 1;
  options.num_threads = 2;
  options.archive = archive;
  options.checksums = saving.checksums && archive == TD_ARCHIVE_NO;
  options.durable = saving.durable;
  options.compression = saving.compress ? TD_COMPRESSION_DEFLATE : TD_COMPRESSION_STORED;
  return td_memmap(job->td, job->path, &options, saved);
}

static td_status save(void *user) {
  save_job *job = user;
  td_status status = TD_ERR_UNSUPPORTED;
  switch (job->as) {
    case FORM_FOLDER: status = save_folder(job, TD_ARCHIVE_NO, &job->saved); break;
    case FORM_ARCHIVE: status = save_folder(job, TD_ARCHIVE_YES, &job->saved); break;
    case FORM_CONSOLIDATED: status = td_consolidate(job->td, job->path, NULL, &job->saved); break;
    case FORM_SAFETENSORS: status = save_file(job, TD_FILE_SAFETENSORS); break;
    case FORM_NPZ: status = save_file(job, TD_FILE_NPZ); break;
    case FORM_NPY: status = save_file(job, TD_FILE_NPY); break;
    case FORM_HDF5: status = save_file(job, TD_FILE_HDF5); break;
    case FORM_PARQUET: status = save_file(job, TD_FILE_PARQUET); break;
    case FORM_ARROW: status = save_file(job, TD_FILE_ARROW); break;
    case FORM_STORE: status = save_store(job->td, job->path, saving.force); break;
    case FORM_CSV: status = td_table_save(job->td, job->path, TABLE(TD_TABLE_CSV)); break;
    case FORM_JSON: status = td_table_save(job->td, job->path, TABLE(TD_TABLE_JSON)); break;
    default: td_set_error(status, "pickled tensors are only read");
  }
  return status;
}

/* The part of a dictionary that the options select. */
static td_tensordict *prepared(const td_tensordict *td) {
  td_padding_options padding = TD_PADDING_OPTIONS_INIT;
  td_tensordict *result, *before;
  padding.pad = 1;
  must(td_dup(td, &result));
  if (saving.tensors) {
    before = result;
    must(td_filter_non_tensor(before, &result));
    td_free(before);
  }
  if (saving.pad) {
    before = result;
    must(td_densify(before, &padding, &result));
    td_free(before);
  }
  return result;
}

td_tensordict *save_mapped(const td_tensordict *td, const char *path, form as, const char *label) {
  td_tensordict *what = prepared(td);
  save_job job = {what, path, as, NULL};
  size_t bytes = 0;
  must(td_nbytes(what, &bytes));
  must(progress_call(label, bytes, save, &job));
  td_free(what);
  return job.saved;
}

void save_any(const td_tensordict *td, const char *path, form as, const char *label) {
  td_free(save_mapped(td, path, as, label));
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
