/* Opens and saves files and folders: detects the format of an input, and writes the format asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dataset.h"
#include "tdtool.h"

form form_for(const char *path) {
  form found = form_of_name(path);
  if (found != FORM_STORE && saving.to) found = saving.to;
  if (found == FORM_UNKNOWN) die_usage("the name '%s' does not tell the format; use --to", path);
  return found;
}

typedef struct open_job {
  const char *path;
  const key *part; /* of a folder or an archive; NULL: all */
  form which;
  bool shapes_only;
} open_job;

typedef struct save_job {
  const td_tensordict *td;
  const char *path;
  form as;
  td_tensordict *saved;
} save_job;

static td_status open_memmap(const open_job *job, td_tensordict **td) {
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1; /* nothing here writes to what it reads */
  if (job->shapes_only) options.device_type = TD_DEVICE_META;
  if (job->part) options.subpath = job->part->names;
  if (job->part) options.subpath_len = job->part->length;
  return td_memmap_load(job->path, &options, td);
}
static td_status save_memmap(save_job *job) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  const bool folder = job->as == FORM_FOLDER;
  options.copy_existing = 1;
  options.num_threads = 2;
  options.archive = folder ? TD_ARCHIVE_NO : TD_ARCHIVE_YES;
  options.checksums = saving.checksums && folder;
  options.durable = saving.durable;
  options.compression = saving.compress ? TD_COMPRESSION_DEFLATE : TD_COMPRESSION_STORED;
  return td_memmap(job->td, job->path, &options, &job->saved);
}

static td_status open_consolidated(const open_job *job, td_tensordict **td) {
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1;
  if (job->shapes_only) options.device_type = TD_DEVICE_META;
  return td_consolidated_load(job->path, &options, td);
}
static td_status save_consolidated(save_job *job) {
  return td_consolidate(job->td, job->path, NULL, &job->saved);
}

static td_status open_server(const open_job *job, td_tensordict **td) {
  return open_store(job->path, td);
}
static td_status save_server(save_job *job) { return save_store(job->td, job->path, saving.force); }

static td_table_options table_options(form which) {
  td_table_options options = TD_TABLE_OPTIONS_INIT;
  options.format = which == FORM_JSON ? TD_TABLE_JSON : TD_TABLE_CSV;
  options.separator = ".";
  options.flags = TD_TABLE_FLATTEN;
  return options;
}
static td_status open_table(const open_job *job, td_tensordict **td) {
  const td_table_options options = table_options(job->which);
  return td_table_load(job->path, &options, td);
}
static td_status save_table(save_job *job) {
  const td_table_options options = table_options(job->as);
  return td_table_save(job->td, job->path, &options);
}

bool keeps_metadata(form which) {
  return which == (form)TD_FILE_SAFETENSORS || which == (form)TD_FILE_HDF5;
}

static td_status open_file(const open_job *job, td_tensordict **td) {
  td_file_options options = TD_FILE_OPTIONS_INIT;
  if (job->which < FORM_FOLDER) options.format = job->which;
  if (common.batch_dims > 0) options.batch_dims = (int32_t)common.batch_dims;
  return td_file_load(job->path, &options, td);
}
static td_status save_file(save_job *job) {
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.format = job->as;
  options.deflate = saving.compress;
  options.durable = saving.durable;
  if (keeps_metadata(job->as)) options.metadata = saving.metadata;
  return td_file_save(job->td, job->path, &options);
}

/* The functions of the library for a format; those of the last row are for all others. */
typedef struct way {
  form which;
  td_status (*open)(const open_job *job, td_tensordict **td);
  td_status (*save)(save_job *job);
} way;
static const way ways[] = {
    {FORM_FOLDER, open_memmap, save_memmap},
    {FORM_ARCHIVE, open_memmap, save_memmap},
    {FORM_CONSOLIDATED, open_consolidated, save_consolidated},
    {FORM_STORE, open_server, save_server},
    {FORM_CSV, open_table, save_table},
    {FORM_JSON, open_table, save_table},
    {FORM_UNKNOWN, open_file, save_file},
};
static const way *way_of(form which) {
  const way *at = ways;
  while (at->which != which && at->which != FORM_UNKNOWN) at++;
  return at;
}

static td_status open_as(form which, const char *path, const key *part, bool shapes_only,
                         td_tensordict **td) {
  const open_job job = {path, part, which, shapes_only};
  *td = NULL;
  return way_of(which)->open(&job, td);
}

/* A data set is no dictionary, and can become one. */
static void must_open(td_status status, const char *path) {
  if (status != TD_OK && is_set_folder(path))
    die("%s is a data set, no dictionary: tdtool convert %s OUT --as tensordict gives its rows",
        path, path);
  must(status);
}

td_tensordict *open_any(const char *path, bool shapes_only) {
  td_tensordict *td;
  form which = form_of_file(path);
  if (which == FORM_UNKNOWN) die("%s: unknown format", path);
  must_open(open_as(which, path, NULL, shapes_only, &td), path);
  return td;
}

char *metadata_of(const char *path, form which) {
  if (which == (form)TD_FILE_SAFETENSORS) return metadata_in_safetensors(path);
  if (which != (form)TD_FILE_HDF5) return NULL;
  size_t length;
  must(td_file_metadata(path, NULL, NULL, 0, &length));
  if (length <= 2) return NULL; /* {} */
  char *json = xcalloc(length + 1, 1);
  must(td_file_metadata(path, NULL, json, length + 1, &length));
  return json;
}

td_tensordict *open_folder_shared(const char *path) {
  td_tensordict *td;
  must_open(td_memmap_load(path, NULL, &td), path);
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

static td_status save(void *user) {
  save_job *job = user;
  return way_of(job->as)->save(job);
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
    json_member(text, "path", path);
    json_member(text, "form", form_name(as));
    json_member(sizes, "batch_size", sizes, dims);
    json_member(size, "bytes", bytes);
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
