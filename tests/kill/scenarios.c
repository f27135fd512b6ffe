#define _GNU_SOURCE
#include "scenarios.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sets.h"
#include "td_files.h"
#include "td_values.h"

enum { ROWS = 3 }; /* that come with each state of what grows */

int64_t kill_ballast = 64;

/* Rows `first` and on: each of its values follows from its number. */
td_tensordict *kill_rows(int64_t first, int64_t count) {
  td_tensordict *td = td_empty(TD_SIZES(count));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(count)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT64, 2 * first, TD_SIZES(count, 2)));
  td_put(td, TD_KEY("n", "d", "c"), td_arange(TD_DTYPE_INT32, first, TD_SIZES(count)));
  td_tensor *large = td_filled(TD_DTYPE_UINT8, 7, TD_SIZES(count, kill_ballast));
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
         td_filled(TD_DTYPE_UINT8, (double)(state % 200), TD_SIZES(4, kill_ballast)));
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

void kill_must_equal(td_tensordict *found, td_tensordict *want, int64_t state) {
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
  kill_must_equal(found, source(state), state);
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

/* The rows of whole states, and perhaps some of the next one: a writer resumes after all that it finds. */
static int64_t look_resumed(const char *place) {
  td_tensordict *found = NULL;
  int64_t sizes[8], rows = 0, stored = 0;
  size_t dims = 0;
  must_be_sound(place);
  TD_DO(td_memmap_length(place, &rows, &stored, NULL));
  TD_CHECK(stored >= rows);
  TD_DO(td_memmap_load(place, NULL, &found));
  TD_DO(td_batch_size(found, sizes, 8, &dims));
  TD_CHECK_INT(sizes[0], rows);
  const int64_t state = rows / ROWS - 1;
  kill_must_equal(found, kill_rows(0, rows), state);
  return state;
}

static int64_t look_rows(const char *place) {
  int64_t rows = 0;
  const int64_t state = look_resumed(place);
  TD_DO(td_memmap_length(place, &rows, NULL, NULL));
  TD_CHECK_INT(rows % ROWS, 0);
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

static const struct {
  const char *path[3];
  size_t length;
} keys[] = {{{"a", NULL, NULL}, 1},
            {{"n", "b", NULL}, 2},
            {{"n", "d", "c"}, 3},
            {{"large", NULL, NULL}, 1}};

static td_status open_writer(const char *place, const td_tensordict *like,
                             const td_append_options *options, td_writer **writer) {
  int32_t field = -1;
  td_status status = td_writer_open_append(place, like, options, writer);
  for (int i = 0; i < 4 && status == TD_OK; i++)
    status = td_writer_bind(*writer, keys[i].path, keys[i].length, &field);
  return status;
}

/* Rows up to the end of a state, from `row` on. */
static td_status write_state(td_writer *writer, int64_t row, int64_t state) {
  td_status status = TD_OK;
  for (; row < (state + 1) * ROWS && status == TD_OK; row++) {
    td_tensordict *values = kill_rows(row, 1);
    for (int i = 0; i < 4 && status == TD_OK; i++) {
      td_tensor *tensor = td_take(values, keys[i].path, keys[i].length);
      void *data = NULL;
      size_t bytes = 0;
      TD_DO(td_tensor_data(tensor, &data));
      TD_DO(td_tensor_nbytes(tensor, &bytes));
      status = td_writer_put(writer, i, data, bytes);
      td_tensor_free(tensor);
    }
    td_free(values);
    if (status == TD_OK) status = td_writer_next(writer);
  }
  return status;
}

static td_status append_with(const char *place, const td_tensordict *source, int64_t state,
                             const td_append_options *options) {
  td_writer *writer = NULL;
  int64_t rows = 0;
  td_status status = open_writer(place, source, options, &writer);
  if (status == TD_OK) status = td_memmap_length(place, &rows, NULL, NULL);
  if (status == TD_OK) status = write_state(writer, rows, state);
  if (status == TD_OK) status = td_writer_close(writer);
  td_writer_free(writer);
  return status;
}

static td_status append_by_default(const char *place, td_tensordict *source, int64_t state) {
  return append_with(place, source, state, NULL);
}

/* Nothing is published before the end, and no thread writes. */
static td_status append_by_writer(const char *place, td_tensordict *source, int64_t state) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.publish_rows = options.background = -1;
  options.buffer_bytes = 1; /* a row */
  return append_with(place, source, state, &options);
}

/* What a killed writer has left is kept up to the end of a state. */
static td_status keep_whole_states(const char *place, int64_t *rows) {
  int64_t stored = 0;
  td_status status = td_memmap_length(place, rows, &stored, NULL);
  *rows = stored / ROWS * ROWS;
  return status == TD_OK ? td_memmap_truncate(place, *rows, NULL) : status;
}

/* A writer that publishes each state by itself, so that it is counted. A process that will be killed goes on
 * with the same one. */
static td_status append_by_open_writer(const char *place, td_tensordict *source, int64_t state,
                                       int32_t background) {
  static pid_t home = 0;
  static td_writer *kept = NULL;
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  int64_t rows = 0;
  options.publish_rows = ROWS;
  options.background = background ? 1 : -1;
  options.meta_ms = background ? 3 : -1;
  if (state == 0) home = getpid();
  if (getpid() == home) return append_with(place, source, state, &options);
  rows = state * ROWS;
  td_status status = TD_OK;
  if (kept == NULL) {
    status = keep_whole_states(place, &rows);
    if (status == TD_OK) status = open_writer(place, source, &options, &kept);
  }
  if (status == TD_OK) status = write_state(kept, rows, state);
  while (background && status == TD_OK) {
    status = td_memmap_length(place, &rows, NULL, NULL);
    if (rows == (state + 1) * ROWS) break;
    nanosleep(&(struct timespec){0, 300000}, NULL);
  }
  return status;
}

static td_status append_counted(const char *place, td_tensordict *source, int64_t state) {
  return append_by_open_writer(place, source, state, 0);
}

static td_status append_in_background(const char *place, td_tensordict *source, int64_t state) {
  return append_by_open_writer(place, source, state, 1);
}

/* What is counted, and what a program sees that knows of meta.json files only. */
static int64_t look_counted(const char *place) {
  char copy[1000], command[1100];
  td_tensordict *found = NULL;
  int64_t sizes[8];
  size_t dims = 0;
  const int64_t state = look_rows(place);
  snprintf(copy, sizeof copy, "%s/elsewhere", td_test_folder());
  snprintf(command, sizeof command, "rm -rf '%s'", copy);
  td_copy_tree(place, copy);
  if (td_exists(td_path(copy, ".%rows"))) TD_CHECK(remove(td_path(copy, ".%rows")) == 0);
  must_be_sound(copy);
  TD_DO(td_memmap_load(copy, NULL, &found));
  TD_DO(td_batch_size(found, sizes, 8, &dims));
  TD_CHECK(sizes[0] % ROWS == 0 && sizes[0] >= ROWS && sizes[0] <= (state + 1) * ROWS);
  kill_must_equal(found, kill_rows(0, sizes[0]), state);
  TD_CHECK(system(command) == 0);
  return state;
}

/* The first four rows alone, or three more again. */
static td_status append_and_truncate(const char *place, td_tensordict *source, int64_t state) {
  td_tensordict *result = NULL;
  if (state == 0) return dropped(td_memmap(source, place, NULL, &result), &result);
  return state % 2 == 0 ? td_memmap_append(place, source, NULL)
                        : td_memmap_truncate(place, 4, NULL);
}

static td_tensordict *rows_or_none(int64_t state) {
  return state == 0 ? kill_rows(0, 4 + ROWS) : kill_rows(4, ROWS);
}

static int64_t look_truncated(const char *place) {
  td_tensordict *found = NULL;
  int64_t rows = 0;
  TD_DO(td_memmap_length(place, &rows, NULL, NULL));
  TD_CHECK(rows == 4 || rows == 4 + ROWS);
  TD_DO(td_memmap_load(place, NULL, &found));
  kill_must_equal(found, kill_rows(0, rows), rows);
  return rows == 4 ? 1 : 0;
}

/* The same with checksums, and on the disk. */
static td_status append_and_truncate_durably(const char *place, td_tensordict *source,
                                             int64_t state) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  if (state == 0) return save_durably(place, source, state);
  options.durable = options.checksums = 1;
  return state % 2 == 0 ? td_memmap_append(place, source, &options)
                        : td_memmap_truncate(place, 4, &options);
}

static int64_t look_truncated_durably(const char *place) {
  must_be_sound(place);
  return look_truncated(place);
}

/* One dictionary without nested ones: its meta.json is renamed, and nothing else. */
static td_tensordict *flat_rows(int64_t first, int64_t count) {
  td_tensordict *td = td_empty(TD_SIZES(count));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(count)));
  td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_FLOAT32, 2 * first, TD_SIZES(count, 2)));
  td_put(td, TD_KEY("large"), td_filled(TD_DTYPE_UINT8, 7, TD_SIZES(count, kill_ballast)));
  return td;
}

static td_tensordict *flat_rows_of_step(int64_t state) { return flat_rows(state * ROWS, ROWS); }

static td_status append_flat_durably(const char *place, td_tensordict *source, int64_t state) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  td_tensordict *result = NULL;
  if (state == 0) return dropped(td_memmap(source, place, NULL, &result), &result);
  options.durable = 1;
  return td_memmap_append(place, source, &options);
}

static int64_t look_flat(const char *place) {
  td_tensordict *found = NULL;
  int64_t rows = 0, stored = 0;
  must_be_sound(place);
  TD_DO(td_memmap_length(place, &rows, &stored, NULL));
  TD_CHECK(stored >= rows);
  TD_DO(td_memmap_load(place, NULL, &found));
  kill_must_equal(found, flat_rows(0, rows), rows / ROWS - 1);
  return rows / ROWS - 1;
}

/* A text for each row, which is stored when its row is published. */
static td_tensordict *told_rows(int64_t first, int64_t count) {
  td_tensordict *td = td_empty(TD_SIZES(count));
  const size_t room = (size_t)count * 16 + 16;
  char *json = calloc(room, 1), *end = json;
  for (int64_t i = 0; i < count; i++)
    end += snprintf(end, room, "%c\"row %d\"", i == 0 ? '[' : ',', (int)(first + i));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(count)));
  TD_DO(
      td_set_non_tensor_stack_json(td, TD_KEY("n", "text"), count == 0 ? "[]" : strcat(json, "]")));
  free(json);
  return td;
}

static td_tensordict *told_rows_of_step(int64_t state) { return told_rows(state * ROWS, ROWS); }

static td_status append_told(const char *place, td_tensordict *source, int64_t state) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  td_writer *writer = NULL;
  int32_t a = -1, text = -1;
  char name[16];
  int64_t row = 0;
  options.publish_rows = ROWS;
  td_status status = td_writer_open_append(place, source, &options, &writer);
  if (status == TD_OK) status = td_writer_bind(writer, TD_KEY("a"), &a);
  if (status == TD_OK) status = td_writer_bind(writer, TD_KEY("n", "text"), &text);
  if (status == TD_OK) status = td_memmap_length(place, &row, NULL, NULL);
  for (; row < (state + 1) * ROWS && status == TD_OK; row++) {
    snprintf(name, sizeof name, "row %d", (int)row);
    status = td_writer_put(writer, a, &row, sizeof row);
    if (status == TD_OK) status = td_writer_put_text(writer, text, name);
    if (status == TD_OK) status = td_writer_next(writer);
  }
  if (status == TD_OK) status = td_writer_close(writer);
  td_writer_free(writer);
  return status;
}

static int64_t look_told(const char *place) {
  td_tensordict *found = NULL;
  int64_t rows = 0;
  must_be_sound(place);
  TD_DO(td_memmap_length(place, &rows, NULL, NULL));
  TD_CHECK_INT(rows % ROWS, 0);
  TD_DO(td_memmap_load(place, NULL, &found));
  kill_must_equal(found, told_rows(0, rows), rows / ROWS - 1);
  return rows / ROWS - 1;
}

/* A lazy stack of `count` elements, the last of which is that of the last state. */
static td_tensordict *stack_of(int64_t count) {
  td_tensordict *elements[64] = {NULL}, *stack = NULL;
  for (int64_t k = 0; k < count; k++) elements[k] = kill_rows(k * ROWS, ROWS);
  TD_DO(td_lazy_stack((const td_tensordict *const *)elements, (size_t)count, 0, &stack));
  for (int64_t k = 0; k < count; k++) td_free(elements[k]);
  return stack;
}

/* One element more with each state, and again from the first when there are many. */
enum { ELEMENTS = 12 };

static td_tensordict *element_of_step(int64_t state) {
  return state % ELEMENTS == 0 ? stack_of(1) : kill_rows(state % ELEMENTS * ROWS, ROWS);
}

static td_status append_element(const char *place, td_tensordict *source, int64_t state,
                                int32_t checksums) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  td_memmap_options first = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *result = NULL;
  first.checksums = options.checksums = checksums;
  first.durable = options.durable = checksums;
  if (state == 0) return dropped(td_memmap(source, place, &first, &result), &result);
  return state % ELEMENTS == 0 ? td_memmap_truncate(place, 1, &options)
                               : td_memmap_append(place, source, &options);
}

static td_status append_to_stack(const char *place, td_tensordict *source, int64_t state) {
  return append_element(place, source, state, 0);
}

static td_status append_to_stack_durably(const char *place, td_tensordict *source, int64_t state) {
  return append_element(place, source, state, 1);
}

static int64_t look_stack(const char *place) {
  td_tensordict *found = NULL;
  int64_t sizes[8];
  size_t dims = 0;
  must_be_sound(place);
  TD_DO(td_memmap_load(place, NULL, &found));
  TD_DO(td_batch_size(found, sizes, 8, &dims));
  kill_must_equal(found, stack_of(sizes[0]), sizes[0] - 1);
  return sizes[0] - 1;
}

static int64_t look_stack_with_checksums(const char *place) {
  TD_CHECK(td_exists(td_path(place, "checksums")));
  return look_stack(place);
}

/* A stack of four elements, or of one. */
static td_tensordict *four_or_one(int64_t state) { return stack_of(state % 2 == 0 ? 4 : 1); }

static td_status truncate_stack(const char *place, td_tensordict *source, int64_t state) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.durable = options.checksums = 1;
  return state % 2 == 0 ? save_durably(place, source, state)
                        : td_memmap_truncate(place, 1, &options);
}

static int64_t look_four_or_one(const char *place) {
  const int64_t state = look_stack_with_checksums(place);
  TD_CHECK(state == 0 || state == 3);
  return state == 0 ? 1 : 0;
}

/* Keys that are named as unfinished work is, or was. */
static td_tensordict *state_with_names(int64_t state) {
  static const char *const names[] = {".tmp-save-x", ".tmp-1-2",  ".tmp-save", ".%tmp",
                                      "%tmp",        ".%tmp-1-2", ".m.%tmp",   "meta.json"};
  td_tensordict *td = kill_state(state);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    td_put(td, (const char *[]){names[i]}, 1, td_filled(TD_DTYPE_INT8, 2, TD_SIZES(4)));
  td_put(td, TD_KEY(".b.tmp-save", "a"), td_filled(TD_DTYPE_INT8, 3, TD_SIZES(4)));
  td_put(td, TD_KEY("..%tmp", "%tmp"), td_filled(TD_DTYPE_INT8, 4, TD_SIZES(4)));
  td_put(td, TD_KEY("checksums", "a"), td_filled(TD_DTYPE_INT8, 5, TD_SIZES(4)));
  return td;
}

static int64_t look_names(const char *place) {
  td_tensordict *found = NULL;
  must_be_sound(place);
  TD_DO(td_memmap_load(place, NULL, &found));
  return whole(found, state_with_names);
}

static td_status save_archive(const char *place, td_tensordict *source, int64_t state) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *result = NULL;
  options.archive = TD_ARCHIVE_YES;
  options.compression = state % 2 == 1 ? TD_COMPRESSION_DEFLATE : TD_COMPRESSION_STORED;
  return dropped(td_memmap(source, place, &options, &result), &result);
}

static td_status save_archive_durably(const char *place, td_tensordict *source, int64_t state) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *result = NULL;
  (void)state;
  options.archive = TD_ARCHIVE_YES;
  options.durable = 1;
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

static td_status save_consolidated_durably(const char *place, td_tensordict *source,
                                           int64_t state) {
  td_consolidate_options options = TD_CONSOLIDATE_OPTIONS_INIT;
  td_tensordict *result = NULL;
  (void)state;
  options.durable = 1;
  return dropped(td_consolidate(source, place, &options, &result), &result);
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

static td_status save_safetensors_durably(const char *place, td_tensordict *source, int64_t state) {
  td_file_options options = TD_FILE_OPTIONS_INIT;
  (void)state;
  options.format = TD_FILE_SAFETENSORS;
  options.durable = 1;
  return td_file_save(source, place, &options);
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

/* A replay buffer that takes the place of another one. */
static td_status save_replay(const char *place, td_tensordict *source, int64_t state) {
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  td_replay *replay = NULL;
  options.capacity = 2 * ROWS;
  options.sampler =
      state % 2 ? TD_REPLAY_SAMPLER_PRIORITIZED : TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT;
  td_status status = td_replay_create(&options, &replay);
  if (status == TD_OK) status = td_replay_extend(replay, source);
  if (status == TD_OK) status = td_replay_save(replay, place, 0);
  td_replay_free(replay);
  return status;
}

static int64_t look_replay(const char *place) {
  td_replay *replay = NULL;
  td_tensordict *found = NULL;
  int64_t len = 0, written = 0;
  TD_DO(td_replay_load(place, NULL, &replay));
  TD_DO(td_replay_where(replay, &len, NULL, NULL, &written));
  TD_CHECK(len == ROWS && written == ROWS);
  TD_DO(td_replay_sample(replay, ROWS, &found)); /* its sampler is whole, too */
  td_free(found);
  TD_DO(td_replay_dict(replay, &found));
  td_replay_free(replay);
  const int64_t state = first_of(found, "a") / ROWS;
  kill_must_equal(found, rows_of_step(state), state);
  return state;
}

/* Rows into a folder in which others may work: each call writes all of its rows or none. */
static td_status write_replay(const char *place, td_tensordict *source, int64_t state) {
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  td_replay *replay = NULL;
  options.capacity = 4 * ROWS;
  options.folder = place;
  td_status status =
      state == 0 ? td_replay_create(&options, &replay) : td_replay_open(place, NULL, &replay);
  if (status == TD_OK) status = td_replay_extend(replay, source);
  td_replay_free(replay);
  return status;
}

static int64_t look_written_replay(const char *place) {
  td_replay *replay = NULL;
  td_tensordict *found = NULL;
  int64_t len = 0, written = 0;
  TD_DO(td_replay_open(place, NULL, &replay));
  TD_DO(td_replay_where(replay, &len, NULL, NULL, &written));
  TD_CHECK_INT(written % ROWS, 0);
  for (int i = 0; i < 40; i++) { /* no half of a row is drawn */
    TD_DO(td_replay_sample(replay, 1, &found));
    const int64_t row = first_of(found, "a");
    TD_CHECK(row >= written - len && row < written);
    TD_DO(td_remove(found, TD_KEY("index")));
    kill_must_equal(found, kill_rows(row, 1), row);
  }
  td_replay_free(replay);
  return written / ROWS - 1;
}

#ifdef TD_TEST_HDF5
/* HDF5 keeps no batch size: all tensors here begin with the rows. */
static td_status save_hdf5(const char *place, td_tensordict *source, int64_t state) {
  (void)state;
  return td_hdf5_save(source, place, NULL);
}

static int64_t look_hdf5(const char *place) {
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  td_tensordict *found = NULL;
  options.batch_dims = 1;
  TD_DO(td_hdf5_load(place, &options, &found));
  return whole(found, kill_state);
}

#endif

#ifdef TD_TEST_ARROW
/* The rows are the batch, in nested dictionaries too. */
static td_status save_parquet(const char *place, td_tensordict *source, int64_t state) {
  (void)state;
  return save_file(place, source, TD_FILE_PARQUET);
}

static td_status save_arrow(const char *place, td_tensordict *source, int64_t state) {
  (void)state;
  return save_file(place, source, TD_FILE_ARROW);
}
#endif

const scenario scenarios[] = {
    {"save", save, state_with_text, look_folder, 0, 0, 0},
    {"save_durably", save_durably, state_with_text, look_folder, 0, 0, 0},
    {"save_by_threads", save_by_threads, state_with_text, look_folder, 0, 0, 0},
    {"save_inplace", save_inplace, state_with_text, look_folder, 0, 1, 0},
    {"append", append, rows_of_step, look_rows, 0, 0, 0},
    {"append_durably", append_durably, rows_of_step, look_rows, 0, 0, 0},
    {"append_by_default", append_by_default, rows_of_step, look_resumed, 1, 0, 0},
    {"append_by_writer", append_by_writer, rows_of_step, look_resumed, 1, 0, 0},
    {"append_counted", append_counted, rows_of_step, look_counted, 1, 0, 0},
    {"append_in_background", append_in_background, rows_of_step, look_counted, 1, 0, 0},
    {"append_and_truncate", append_and_truncate, rows_or_none, look_truncated, 0, 0, 2},
    {"append_and_truncate_durably", append_and_truncate_durably, rows_or_none,
     look_truncated_durably, 0, 0, 2},
    {"append_flat_durably", append_flat_durably, flat_rows_of_step, look_flat, 0, 0, 0},
    {"append_to_stack", append_to_stack, element_of_step, look_stack, 0, 0, ELEMENTS},
    {"append_to_stack_durably", append_to_stack_durably, element_of_step, look_stack_with_checksums,
     0, 0, ELEMENTS},
    {"truncate_stack", truncate_stack, four_or_one, look_four_or_one, 0, 0, 2},
    {"names_of_ours", save_durably, state_with_names, look_names, 0, 0, 0},
    {"archive_durably", save_archive_durably, state_with_text, look_archive, 0, 0, 0},
    {"consolidated_durably", save_consolidated_durably, state_with_text, look_consolidated, 0, 0,
     0},
    {"safetensors_durably", save_safetensors_durably, kill_state, look_file, 0, 0, 0},
    {"archive", save_archive, state_with_text, look_archive, 0, 0, 0},
    {"consolidated", save_consolidated, state_with_text, look_consolidated, 0, 0, 0},
    {"safetensors", save_safetensors, kill_state, look_file, 0, 0, 0},
    {"npz", save_npz, kill_state, look_file, 0, 0, 0},
#ifdef TD_TEST_HDF5
    {"hdf5", save_hdf5, kill_state, look_hdf5, 0, 0, 0},
    {"minari", add_minari, episode_of_state, look_episodes, 0, 0, 0},
    {"minari_anew", begin_minari, episode_of_state, look_begun, 0, 0, 0},
    {"robomimic_durably", add_robomimic_durably, episode_of_state, look_episodes, 0, 0, 0},
    {"d4rl", add_d4rl, episode_of_state, look_episodes, 0, 0, 0},
#endif
#ifdef TD_TEST_ARROW
    {"lerobot", add_lerobot, episode_of_state, look_episodes, 0, 0, 0},
#ifdef TD_TEST_VIDEO
    {"lerobot_video", add_film, film_of_state, look_films, 0, 0, 0},
#endif
    {"parquet", save_parquet, kill_state, look_file, 0, 0, 0},
    {"arrow", save_arrow, kill_state, look_file, 0, 0, 0},
#endif
    {"torchrl", add_torchrl, episode_of_state, look_episodes, 0, 0, 0},
    {"replay_save", save_replay, rows_of_step, look_replay, 0, 0, 0},
    {"replay_write", write_replay, rows_of_step, look_written_replay, 0, 0, 0},
    {"append_told", append_told, told_rows_of_step, look_told, 1, 0, 0},
};
const int scenario_count = sizeof scenarios / sizeof *scenarios;

int scenario_is_asked(const scenario *it) {
  const char *only = getenv("TD_KILL_ONLY");
  return only == NULL || strcmp(only, it->name) == 0;
}
