/* The writer: rows of plain memory into tensors that are there. */
#include <string.h>

#include "td_files.h"
#include "td_values.h"

static td_tensordict *target(const int64_t *batch, size_t dims) {
  td_tensordict *td = td_empty(batch, dims);
  int64_t sizes[4];
  for (size_t i = 0; i < dims; i++) sizes[i] = batch[i];
  sizes[dims] = 2;
  td_put(td, TD_KEY("pos"), td_filled(TD_DTYPE_FLOAT32, 0, sizes, dims + 1));
  td_put(td, TD_KEY("n", "done"), td_filled(TD_DTYPE_BOOL, 0, sizes, dims));
  return td;
}

/* A dictionary of batch size [rows] with zeros of int64 under one name. */
static td_tensordict *zeros_dict(const char *name, int64_t rows) {
  td_tensordict *td = NULL;
  td_tensor *zeros = NULL;
  TD_DO(td_create(&rows, 1, TD_DEVICE_NONE, -1, &td));
  TD_DO(td_tensor_zeros(&rows, 1, TD_DTYPE_INT64, TD_DEVICE_CPU, -1, &zeros));
  TD_DO(td_set(td, TD_KEY(name), zeros));
  return td;
}

static int64_t int64_at(const td_tensordict *td, const char *name, size_t i) {
  td_tensor *tensor = NULL;
  void *data = NULL;
  TD_DO(td_get(td, TD_KEY(name), &tensor));
  TD_DO(td_tensor_data(tensor, &data));
  const int64_t value = ((const int64_t *)data)[i];
  return value;
}

static void fill(td_writer *writer, int rows) {
  int32_t pos = -1, done = -1;
  TD_DO(td_writer_bind(writer, TD_KEY("pos"), &pos));
  TD_DO(td_writer_bind(writer, TD_KEY("n", "done"), &done));
  TD_CHECK_INT(pos, 0);
  TD_CHECK_INT(done, 1);
  for (int row = 0; row < rows; row++) {
    const float position[2] = {(float)(2 * row + 1), (float)(2 * row + 2)};
    const unsigned char end = row == rows - 1;
    TD_DO(td_writer_put(writer, pos, position, sizeof position));
    TD_DO(td_writer_put(writer, done, &end, 1));
    TD_DO(td_writer_next(writer));
  }
}

TD_TEST(rows_arrive) {
  td_tensordict *td = target(TD_SIZES(3));
  td_writer *writer = NULL;
  int64_t rows = -1;
  TD_DO(td_writer_open(td, NULL, &writer));
  fill(writer, 3);
  TD_DO(td_writer_rows(writer, &rows));
  TD_CHECK_INT(rows, 3);
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  TD_CHECK_ENTRY(td, TD_KEY("pos"), TD_SIZES(3, 2), TD_VALUES(1, 2, 3, 4, 5, 6));
  TD_CHECK_ENTRY(td, TD_KEY("n", "done"), TD_SIZES(3), TD_VALUES(0, 0, 1));
}

TD_TEST(rows_follow_in_row_major_order) {
  td_tensordict *td = target(TD_SIZES(2, 2));
  td_writer *writer = NULL;
  TD_DO(td_writer_open(td, NULL, &writer));
  fill(writer, 4);
  td_writer_free(writer);
  TD_CHECK_ENTRY(td, TD_KEY("pos"), TD_SIZES(2, 2, 2), TD_VALUES(1, 2, 3, 4, 5, 6, 7, 8));
  TD_CHECK_ENTRY(td, TD_KEY("n", "done"), TD_SIZES(2, 2), TD_VALUES(0, 0, 0, 1));
}

TD_TEST(rows_reach_the_files) {
  td_tensordict *td = target(TD_SIZES(3)), *mapped = NULL, *loaded = NULL;
  td_writer *writer = NULL;
  const char *folder = td_path(td_test_folder(), "m");
  TD_DO(td_memmap_like(td, folder, NULL, &mapped));
  TD_DO(td_writer_open(mapped, NULL, &writer));
  td_free(mapped); /* the writer keeps what it needs */
  fill(writer, 3);
  TD_DO(td_writer_flush(writer));
  TD_DO(td_writer_close(writer));
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("pos"), TD_SIZES(3, 2), TD_VALUES(1, 2, 3, 4, 5, 6));
}

TD_TEST(the_end_of_capacity) {
  td_tensordict *td = target(TD_SIZES(5));
  td_writer_options options = TD_WRITER_OPTIONS_INIT;
  td_writer *writer = NULL;
  const float position[2] = {9, 9};
  int64_t rows = -1;
  options.first_row = 1;
  options.capacity = 2;
  TD_DO(td_writer_open(td, &options, &writer));
  fill(writer, 2);
  TD_EXPECT(td_writer_put(writer, 0, position, sizeof position), TD_ERR_CAPACITY);
  TD_EXPECT(td_writer_next(writer), TD_ERR_CAPACITY);
  TD_EXPECT(td_writer_next(writer), TD_ERR_CAPACITY);
  TD_DO(td_writer_rows(writer, &rows));
  TD_CHECK_INT(rows, 2);
  td_writer_free(writer);
  TD_CHECK_ENTRY(td, TD_KEY("pos"), TD_SIZES(5, 2), TD_VALUES(0, 0, 1, 2, 3, 4, 0, 0, 0, 0));
}

TD_TEST(rows_outside_the_batch) {
  td_tensordict *td = target(TD_SIZES(5)), *scalar = target(NULL, 0);
  td_writer_options options = TD_WRITER_OPTIONS_INIT;
  td_writer *writer;
  TD_EXPECT_NULL(td_writer_open(scalar, NULL, &writer), TD_ERR_SHAPE, writer);
  static const int64_t bad[][2] = {{-1, 0}, {6, 0},  {0, 6},
                                   {4, 2},  {0, -1}, {INT64_MAX, INT64_MAX}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    options.first_row = bad[i][0];
    options.capacity = bad[i][1];
    TD_EXPECT_NULL(td_writer_open(td, &options, &writer), TD_ERR_INDEX, writer);
  }
  options.first_row = 5; /* no row left from the beginning */
  options.capacity = 0;
  TD_DO(td_writer_open(td, &options, &writer));
  TD_EXPECT(td_writer_next(writer), TD_ERR_CAPACITY);
  td_writer_free(writer);
  options.first_row = 0;
  options.reserved = 1;
  TD_EXPECT_NULL(td_writer_open(td, &options, &writer), TD_ERR_INVALID_ARGUMENT, writer);
}

TD_TEST(binding_what_cannot_be_written) {
  td_tensordict *td = target(TD_SIZES(3));
  td_writer *writer = NULL;
  td_tensor *meta = NULL, *wide = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3, 4)), *sparse = NULL;
  int32_t field = 5;
  TD_DO(td_tensor_zeros(TD_SIZES(3), TD_DTYPE_INT8, TD_DEVICE_META, -1, &meta));
  td_put(td, TD_KEY("meta"), meta);
  TD_DO(td_tensor_index(wide, TD_AT(TD_I_ALL, TD_I_STEP(0, 4, 2)), &sparse));
  td_put(td, TD_KEY("sparse"), sparse);
  td_tensor_free(wide);
  TD_DO(td_writer_open(td, NULL, &writer));
  TD_EXPECT(td_writer_bind(writer, TD_KEY("nope"), &field), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_INT(field, -1);
  TD_EXPECT(td_writer_bind(writer, TD_KEY("n"), &field), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_writer_bind(writer, TD_KEY("meta"), &field), TD_ERR_DEVICE);
  TD_EXPECT(td_writer_bind(writer, TD_KEY("sparse"), &field), TD_ERR_SHAPE);
  TD_DO(td_writer_bind(writer, TD_KEY("pos"), &field));
  TD_CHECK_INT(field, 0); /* a failed bind takes no number */
}

TD_TEST(sizes_and_fields_are_checked) {
  td_tensordict *td = target(TD_SIZES(3));
  td_writer *writer = NULL;
  const float position[3] = {1, 2, 3};
  int32_t field = -1;
  size_t bytes = 0;
  TD_DO(td_writer_open(td, NULL, &writer));
  TD_DO(td_writer_bind(writer, TD_KEY("pos"), &field));
  TD_DO(td_writer_row_bytes(writer, field, &bytes));
  TD_CHECK_INT(bytes, 8);
  TD_EXPECT(td_writer_row_bytes(writer, 1, &bytes), TD_ERR_INDEX);
  TD_EXPECT(td_writer_row_bytes(writer, -1, &bytes), TD_ERR_INDEX);
  TD_EXPECT(td_writer_put(writer, field, position, 12), TD_ERR_SHAPE);
  TD_EXPECT(td_writer_put(writer, field, position, 4), TD_ERR_SHAPE);
  TD_EXPECT(td_writer_put(writer, 1, position, 8), TD_ERR_INDEX);
  TD_EXPECT(td_writer_put(writer, -1, position, 8), TD_ERR_INDEX);
  TD_CHECK_ENTRY(td, TD_KEY("pos"), TD_SIZES(3, 2), TD_VALUES(0, 0, 0, 0, 0, 0));
  TD_DO(td_writer_put(writer, field, position, 8)); /* twice in one row: the last one stays */
  TD_DO(td_writer_put(writer, field, position + 1, 8));
  TD_CHECK_ENTRY(td, TD_KEY("pos"), TD_SIZES(3, 2), TD_VALUES(2, 3, 0, 0, 0, 0));
}

TD_TEST(a_closed_writer_takes_nothing) {
  td_tensordict *td = target(TD_SIZES(3));
  td_writer *writer = NULL;
  const float position[2] = {1, 2};
  int32_t field = -1;
  int64_t rows = -1;
  TD_DO(td_writer_open(td, NULL, &writer));
  TD_DO(td_writer_bind(writer, TD_KEY("pos"), &field));
  TD_DO(td_writer_put(writer, field, position, 8));
  TD_DO(td_writer_next(writer));
  TD_DO(td_writer_close(writer));
  TD_EXPECT(td_writer_put(writer, field, position, 8), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_writer_next(writer), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_writer_bind(writer, TD_KEY("pos"), &field), TD_ERR_INVALID_ARGUMENT);
  TD_DO(td_writer_rows(writer, &rows));
  TD_CHECK_INT(rows, 1);
}

TD_TEST(a_bound_tensor_stays_when_its_entry_is_replaced) {
  td_tensordict *td = target(TD_SIZES(2));
  td_writer *writer = NULL;
  td_tensor *old = td_take(td, TD_KEY("pos"));
  const float position[2] = {1, 2};
  int32_t field = -1;
  TD_DO(td_writer_open(td, NULL, &writer));
  TD_DO(td_writer_bind(writer, TD_KEY("pos"), &field));
  td_put(td, TD_KEY("pos"), td_filled(TD_DTYPE_FLOAT32, 7, TD_SIZES(2, 2)));
  TD_DO(td_writer_put(writer, field, position, 8));
  TD_CHECK_VALUES(old, 1, 2, 0, 0);
  TD_CHECK_ENTRY(td, TD_KEY("pos"), TD_SIZES(2, 2), TD_VALUES(7, 7, 7, 7));
}

/* Rows that would go to memory which nobody reads are told, at the latest when the writer is closed. */
TD_TEST(entries_that_are_not_stored_cannot_be_bound) {
  td_tensordict *halves[2] = {zeros_dict("x", 2), zeros_dict("x", 2)};
  td_tensordict *lazy = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const *)halves, 2, 0, &lazy));
  td_writer *writer = NULL;
  int32_t field = 7;
  TD_DO(td_writer_open(lazy, NULL, &writer));
  TD_EXPECT(td_writer_bind(writer, TD_KEY("x"), &field), TD_ERR_UNSUPPORTED);
  TD_CHECK(field == -1);
  TD_CHECK_TEXT(td_last_error_message(), "lazy stack");
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);

  const uint8_t chosen[2] = {1, 0};
  td_tensor *mask = NULL;
  td_tensordict *part = NULL;
  TD_DO(td_tensor_from_data(chosen, 2, TD_SIZES(2), TD_DTYPE_BOOL, &mask));
  TD_DO(td_sub_tensordict(halves[0], (const td_index_item[]){TD_I_TENSOR(mask)}, 1, &part));
  TD_DO(td_writer_open(part, NULL, &writer));
  TD_EXPECT(td_writer_bind(writer, TD_KEY("x"), &field), TD_ERR_UNSUPPORTED);
  td_writer_free(writer);
  td_free(part);

  /* Through a slice the memory is that of the dictionary. */
  const int64_t value = 9;
  TD_DO(td_sub_tensordict(halves[0], (const td_index_item[]){TD_I_FROM(1)}, 1, &part));
  TD_DO(td_writer_open(part, NULL, &writer));
  TD_DO(td_writer_bind(writer, TD_KEY("x"), &field));
  TD_DO(td_writer_put(writer, field, &value, sizeof value));
  TD_DO(td_writer_next(writer));
  TD_DO(td_writer_close(writer));
  TD_CHECK(int64_at(halves[0], "x", 1) == 9);
}

/* Opens a writer on "x" and completes one row. */
static td_writer *one_row(td_tensordict *td) {
  td_writer *writer = NULL;
  int32_t field;
  const int64_t value = 5;
  TD_DO(td_writer_open(td, NULL, &writer));
  TD_DO(td_writer_bind(writer, TD_KEY("x"), &field));
  TD_DO(td_writer_put(writer, field, &value, sizeof value));
  TD_DO(td_writer_next(writer));
  return writer;
}

static void expect_lost(td_writer *writer, const char *why) {
  TD_EXPECT(td_writer_flush(writer), TD_ERR_WRONG_ENTRY);
  TD_CHECK_TEXT(td_last_error_message(), why);
  TD_EXPECT(td_writer_close(writer), TD_ERR_WRONG_ENTRY);
  TD_DO(td_writer_close(writer)); /* closed in any case */
  td_writer_free(writer);
}

TD_TEST(entries_that_went_elsewhere_are_told) {
  td_tensordict *td = zeros_dict("x", 2);
  td_writer *writer = one_row(td);
  TD_DO(td_share_memory(td));
  expect_lost(writer, "shared memory");
  td_free(td);

  td = zeros_dict("x", 2);
  writer = one_row(td);
  TD_DO(td_memmap_inplace(td, td_test_folder(), NULL));
  expect_lost(writer, "mapped");
  td_free(td);

  td = zeros_dict("x", 2);
  writer = one_row(td);
  td_tensor *other = NULL;
  TD_DO(td_tensor_zeros((const int64_t[]){2}, 1, TD_DTYPE_INT64, TD_DEVICE_CPU, -1, &other));
  TD_DO(td_set(td, TD_KEY("x"), other));
  expect_lost(writer, "replaced");
  td_tensor_free(other);

  writer = one_row(td);
  TD_DO(td_remove(td, TD_KEY("x")));
  expect_lost(writer, "removed");
}

TD_TEST(a_field_is_declared_and_bound_at_once) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_writer *writer = NULL;
  int32_t step = -1, pose = -1, wrong = 7;
  const int64_t number = 5;
  const float position[] = {1, 2};
  TD_DO(td_writer_open(td, NULL, &writer));
  TD_DO(td_writer_field(writer, TD_KEY("step"), NULL, 0, TD_DTYPE_INT64, &step));
  TD_DO(td_writer_field(writer, TD_KEY("n", "pose"), TD_SIZES(2), TD_DTYPE_FLOAT32, &pose));
  TD_DO(td_writer_put(writer, step, &number, sizeof number));
  TD_DO(td_writer_put(writer, pose, position, sizeof position));
  TD_EXPECT(td_writer_put(writer, pose, position, sizeof *position), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "\"pose\"");
  TD_DO(td_writer_next(writer));
  TD_EXPECT(td_writer_field(writer, TD_KEY("step"), NULL, 0, TD_DTYPE_INT32, &wrong), TD_ERR_DTYPE);
  TD_CHECK_INT(wrong, -1);
  TD_EXPECT(td_writer_field(writer, TD_KEY("n", "pose"), TD_SIZES(3), TD_DTYPE_FLOAT32, &wrong),
            TD_ERR_SHAPE);
  TD_DO(td_lock(td));
  TD_EXPECT(td_writer_field(writer, TD_KEY("new"), NULL, 0, TD_DTYPE_INT32, &wrong), TD_ERR_LOCKED);
  TD_DO(td_writer_field(writer, TD_KEY("step"), NULL, 0, TD_DTYPE_INT64, &wrong)); /* is there */
  TD_DO(td_writer_close(writer));
  td_writer_free(writer);
  TD_CHECK_ENTRY(td, TD_KEY("step"), TD_SIZES(3), TD_VALUES(5, 0, 0));
  TD_CHECK_ENTRY(td, TD_KEY("n", "pose"), TD_SIZES(3, 2), TD_VALUES(1, 2, 0, 0, 0, 0));
}
