#include "scenarios.h"

#include <stdio.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

enum { ROWS = 3 }; /* that come with each state of what grows */

static int64_t ballast = 64;

void kill_ballast(int64_t bytes) { ballast = bytes; }

/* Rows `first` and on: each of its values follows from its number. */
td_tensordict *kill_rows(int64_t first, int64_t count) {
  td_tensordict *td = td_empty(TD_SIZES(count));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(count)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT64, 2 * first, TD_SIZES(count, 2)));
  td_put(td, TD_KEY("n", "d", "c"), td_arange(TD_DTYPE_INT32, first, TD_SIZES(count)));
  td_tensor *large = td_filled(TD_DTYPE_UINT8, 7, TD_SIZES(count, ballast));
  td_put(td, TD_KEY("large"), large);
  return td;
}

/* Other values, sizes and keys in each state. */
td_tensordict *kill_state(int64_t state) {
  char name[16];
  td_tensordict *td = td_empty(TD_SIZES(4));
  const int64_t odd = state % 2;
  td_put(td, TD_KEY("state"), td_filled(TD_DTYPE_INT64, (double)state, TD_SIZES(4)));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 100 * state, TD_SIZES(4, 2 + odd)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT64, 10 * state, TD_SIZES(4)));
  td_put(td, TD_KEY("n", "d", "c"), td_arange(TD_DTYPE_INT16, state % 1000, TD_SIZES(4, 2)));
  td_put(td, TD_KEY("large"),
         td_filled(TD_DTYPE_UINT8, (double)(state % 200), TD_SIZES(4, ballast)));
  snprintf(name, sizeof name, "only%d", (int)(state % 3));
  td_put(td, TD_KEY(name), td_filled(TD_DTYPE_INT8, 1, TD_SIZES(4)));
  return td;
}

/* The same with a non-tensor value. */
static td_tensordict *state_with_text(int64_t state) {
  char text[32];
  td_tensordict *td = kill_state(state);
  snprintf(text, sizeof text, "\"state %d\"", (int)state);
  TD_DO(td_set_non_tensor_json(td, TD_KEY("text"), text));
  return td;
}

static td_tensordict *rows_of_step(int64_t state) { return kill_rows(state * ROWS, ROWS); }

/* The number in the first value of a tensor of integers. */
static int64_t first_of(const td_tensordict *td, const char *name) {
  td_tensor *tensor = td_take(td, TD_KEY(name));
  const void *data = NULL;
  int64_t number = 0;
  TD_DO(td_tensor_data(tensor, (void **)&data));
  memcpy(&number, data, sizeof number);
  td_tensor_free(tensor);
  return number;
}

static void must_equal(td_tensordict *found, td_tensordict *want, int64_t state) {
  int32_t equal = 0;
  if (td_equal(found, want, &equal) != TD_OK || !equal) {
    char *text = td_printed(found);
    td_test_fail(__FILE__, __LINE__, "this is not state %lld:\n%s", (long long)state, text);
  }
  td_free(want);
  td_free(found);
}

static int64_t whole(td_tensordict *found, td_tensordict *(*source)(int64_t)) {
  const int64_t state = first_of(found, "state");
  must_equal(found, source(state), state);
  return state;
}

static void must_be_sound(const char *place) {
  size_t damaged = 0;
  TD_DO(td_memmap_verify(place, NULL, &damaged));
  TD_CHECK_INT(damaged, 0);
}

static int64_t look_folder(const char *place) {
  td_tensordict *found = NULL;
  must_be_sound(place);
  TD_DO(td_memmap_load(place, NULL, &found));
  return whole(found, state_with_text);
}

static int64_t look_rows(const char *place) {
  td_tensordict *found = NULL;
  int64_t sizes[8], rows = 0, stored = 0;
  size_t dims = 0;
  must_be_sound(place);
  TD_DO(td_memmap_length(place, &rows, &stored, NULL));
  TD_CHECK(stored >= rows);
  TD_DO(td_memmap_load(place, NULL, &found));
  TD_DO(td_batch_size(found, sizes, 8, &dims));
  TD_CHECK_INT(sizes[0], rows);
  TD_CHECK_INT(rows % ROWS, 0);
  const int64_t state = rows / ROWS - 1;
  must_equal(found, kill_rows(0, rows), state);
  return state;
}

static td_status dropped(td_status status, td_tensordict **result) {
  td_free(*result);
  return status;
}

static td_status save(const char *place, td_tensordict *source, int64_t state) {
  td_tensordict *result = NULL;
  (void)state;
  return dropped(td_memmap(source, place, NULL, &result), &result);
}

/* On the disk, and with checksums. */
static td_status save_durably(const char *place, td_tensordict *source, int64_t state) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *result = NULL;
  (void)state;
  options.durable = options.checksums = 1;
  return dropped(td_memmap(source, place, &options, &result), &result);
}

static td_status save_by_threads(const char *place, td_tensordict *source, int64_t state) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *result = NULL;
  (void)state;
  options.num_threads = 3;
  return dropped(td_memmap(source, place, &options, &result), &result);
}

static td_status save_inplace(const char *place, td_tensordict *source, int64_t state) {
  (void)state;
  return td_memmap_inplace(source, place, NULL);
}

static td_status append(const char *place, td_tensordict *source, int64_t state) {
  td_tensordict *result = NULL;
  if (state == 0) return dropped(td_memmap(source, place, NULL, &result), &result);
  return td_memmap_append(place, source, NULL);
}

static td_status append_durably(const char *place, td_tensordict *source, int64_t state) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  if (state == 0) return save_durably(place, source, state);
  options.durable = options.checksums = 1;
  return td_memmap_append(place, source, &options);
}

static td_status append_by_writer(const char *place, td_tensordict *source, int64_t state) {
  td_writer *writer = NULL;
  int32_t fields[4] = {-1, -1, -1, -1};
  const struct {
    const char *path[3];
    size_t length;
  } keys[] = {{{"a", NULL, NULL}, 1},
              {{"n", "b", NULL}, 2},
              {{"n", "d", "c"}, 3},
              {{"large", NULL, NULL}, 1}};
  td_status status = td_writer_open_append(place, source, NULL, &writer);
  for (int i = 0; i < 4 && status == TD_OK; i++)
    status = td_writer_bind(writer, keys[i].path, keys[i].length, &fields[i]);
  for (int64_t row = state * ROWS; row < (state + 1) * ROWS && status == TD_OK; row++) {
    td_tensordict *values = kill_rows(row, 1);
    for (int i = 0; i < 4 && status == TD_OK; i++) {
      td_tensor *tensor = td_take(values, keys[i].path, keys[i].length);
      void *data = NULL;
      size_t bytes = 0;
      TD_DO(td_tensor_data(tensor, &data));
      TD_DO(td_tensor_nbytes(tensor, &bytes));
      status = td_writer_put(writer, fields[i], data, bytes);
      td_tensor_free(tensor);
    }
    td_free(values);
    if (status == TD_OK) status = td_writer_next(writer);
  }
  if (status == TD_OK) status = td_writer_close(writer);
  td_writer_free(writer);
  return status;
}

/* Three rows more, or the first four alone. */
static td_status append_and_truncate(const char *place, td_tensordict *source, int64_t state) {
  td_tensordict *result = NULL;
  if (state == 0) return dropped(td_memmap(source, place, NULL, &result), &result);
  return state % 2 == 1 ? td_memmap_append(place, source, NULL)
                        : td_memmap_truncate(place, 4, NULL);
}

static td_tensordict *rows_or_none(int64_t state) {
  return state % 2 == 1 ? kill_rows(4, ROWS) : kill_rows(0, 4);
}

static int64_t look_truncated(const char *place) {
  td_tensordict *found = NULL;
  int64_t rows = 0;
  TD_DO(td_memmap_length(place, &rows, NULL, NULL));
  TD_CHECK(rows == 4 || rows == 4 + ROWS);
  TD_DO(td_memmap_load(place, NULL, &found));
  must_equal(found, kill_rows(0, rows), rows);
  return rows == 4 ? 0 : 1;
}

static td_status save_archive(const char *place, td_tensordict *source, int64_t state) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *result = NULL;
  options.archive = TD_ARCHIVE_YES;
  options.compression = state % 2 == 1 ? TD_COMPRESSION_DEFLATE : TD_COMPRESSION_STORED;
  return dropped(td_memmap(source, place, &options, &result), &result);
}

static int64_t look_archive(const char *place) {
  td_tensordict *found = NULL;
  TD_DO(td_memmap_load(place, NULL, &found));
  return whole(found, state_with_text);
}

static td_status save_consolidated(const char *place, td_tensordict *source, int64_t state) {
  td_tensordict *result = NULL;
  (void)state;
  return dropped(td_consolidate(source, place, NULL, &result), &result);
}

static int64_t look_consolidated(const char *place) {
  td_tensordict *found = NULL;
  TD_DO(td_consolidated_load(place, NULL, &found));
  return whole(found, state_with_text);
}

static td_status save_file(const char *place, td_tensordict *source, td_file_format format) {
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.format = format;
  return td_file_save(source, place, &options);
}

static td_status save_safetensors(const char *place, td_tensordict *source, int64_t state) {
  (void)state;
  return save_file(place, source, TD_FILE_SAFETENSORS);
}

static td_status save_npz(const char *place, td_tensordict *source, int64_t state) {
  (void)state;
  return save_file(place, source, TD_FILE_NPZ);
}

static int64_t look_file(const char *place) {
  td_file_options options = TD_FILE_OPTIONS_INIT;
  td_tensordict *found = NULL;
  options.batch_dims = 1;
  TD_DO(td_file_load(place, &options, &found));
  return whole(found, kill_state);
}

const scenario scenarios[] = {
    {"save", save, state_with_text, look_folder, 0, 0},
    {"save_durably", save_durably, state_with_text, look_folder, 0, 0},
    {"save_by_threads", save_by_threads, state_with_text, look_folder, 0, 0},
    {"save_inplace", save_inplace, state_with_text, look_folder, 0, 1},
    {"append", append, rows_of_step, look_rows, 0, 0},
    {"append_durably", append_durably, rows_of_step, look_rows, 0, 0},
    {"append_by_writer", append_by_writer, rows_of_step, look_rows, 1, 0},
    {"append_and_truncate", append_and_truncate, rows_or_none, look_truncated, 0, 0},
    {"archive", save_archive, state_with_text, look_archive, 0, 0},
    {"consolidated", save_consolidated, state_with_text, look_consolidated, 0, 0},
    {"safetensors", save_safetensors, kill_state, look_file, 0, 0},
    {"npz", save_npz, kill_state, look_file, 0, 0},
};
const int scenario_count = sizeof scenarios / sizeof *scenarios;
