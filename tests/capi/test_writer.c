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
  td_free(td);
}

TD_TEST(rows_follow_in_row_major_order) {
  td_tensordict *td = target(TD_SIZES(2, 2));
  td_writer *writer = NULL;
  TD_DO(td_writer_open(td, NULL, &writer));
  fill(writer, 4);
  td_writer_free(writer);
  TD_CHECK_ENTRY(td, TD_KEY("pos"), TD_SIZES(2, 2, 2), TD_VALUES(1, 2, 3, 4, 5, 6, 7, 8));
  TD_CHECK_ENTRY(td, TD_KEY("n", "done"), TD_SIZES(2, 2), TD_VALUES(0, 0, 0, 1));
  td_free(td);
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
  td_free(loaded);
  td_free(td);
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
  td_free(td);
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
  td_free(scalar);
  td_free(td);
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
  td_writer_free(writer);
  td_free(td);
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
  td_writer_free(writer);
  td_free(td);
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
  td_writer_free(writer);
  td_free(td);
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
  td_writer_free(writer);
  td_tensor_free(old);
  td_free(td);
}
