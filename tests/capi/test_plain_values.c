/* Entries as plain memory and as numbers, in one call. */
#include "td_values.h"

static td_tensordict *three(void) { return td_empty(TD_SIZES(3)); }

TD_TEST(memory_goes_in_and_comes_out) {
  td_tensordict *td = three();
  const float written[] = {1, 2, 3, 4, 5, 6};
  float read[6] = {0};
  int64_t wrong[6];
  TD_DO(
      td_set_data(td, TD_KEY("n", "x"), written, sizeof written, TD_SIZES(3, 2), TD_DTYPE_FLOAT32));
  TD_CHECK_ENTRY(td, TD_KEY("n", "x"), TD_SIZES(3, 2), TD_VALUES(1, 2, 3, 4, 5, 6));
  TD_DO(td_get_data(td, TD_KEY("n", "x"), TD_DTYPE_FLOAT32, read, sizeof read));
  TD_CHECK(read[0] == 1 && read[5] == 6);
  TD_EXPECT(td_get_data(td, TD_KEY("n", "x"), TD_DTYPE_FLOAT32, read, sizeof read - 4),
            TD_ERR_SHAPE);
  TD_EXPECT(td_get_data(td, TD_KEY("n", "x"), TD_DTYPE_INT64, wrong, sizeof wrong), TD_ERR_DTYPE);
  TD_CHECK_TEXT(td_last_error_message(), "\"x\"");
  TD_EXPECT(td_get_data(td, TD_KEY("n"), TD_DTYPE_FLOAT32, read, sizeof read), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_get_data(td, TD_KEY("no"), TD_DTYPE_FLOAT32, read, sizeof read),
            TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_set_data(td, TD_KEY("y"), written, sizeof written, TD_SIZES(2, 3), TD_DTYPE_FLOAT32),
            TD_ERR_SHAPE); /* does not begin with the batch size */
  TD_EXPECT(td_set_data(td, TD_KEY("y"), written, 4, TD_SIZES(3), TD_DTYPE_FLOAT32), TD_ERR_SHAPE);
  TD_DO(td_lock(td));
  TD_EXPECT(td_set_data(td, TD_KEY("y"), written, 12, TD_SIZES(3), TD_DTYPE_FLOAT32),
            TD_ERR_LOCKED);
  TD_DO(td_unlock(td));
  td_tensor *turned = NULL, *x = td_take(td, TD_KEY("n", "x"));
  TD_DO(td_tensor_index(x, TD_AT(TD_I_ALL, TD_I_INT(1)), &turned)); /* not dense */
  TD_DO(td_set(td, TD_KEY("column"), turned));
  TD_DO(td_get_data(td, TD_KEY("column"), TD_DTYPE_FLOAT32, read, 3 * sizeof *read));
  TD_CHECK(read[0] == 2 && read[1] == 4 && read[2] == 6);
}

TD_TEST(numbers_go_in_and_come_out) {
  td_tensordict *td = three(), *row = NULL;
  int64_t whole = 0;
  double real = 0;
  TD_DO(td_set_int(td, TD_KEY("step"), 7, TD_DTYPE_INT16));
  TD_DO(td_set_double(td, TD_KEY("n", "rate"), 0.5, TD_DTYPE_FLOAT64));
  TD_DO(td_set_int(td, TD_KEY("done"), 1, TD_DTYPE_BOOL));
  TD_CHECK_ENTRY(td, TD_KEY("step"), TD_SIZES(3), TD_VALUES(7, 7, 7));
  TD_EXPECT(td_get_int(td, TD_KEY("step"), &whole), TD_ERR_SHAPE); /* three of them */
  TD_CHECK_TEXT(td_last_error_message(), "3 elements");
  TD_DO(td_index(td, TD_AT(TD_I_INT(2)), &row));
  TD_DO(td_get_int(row, TD_KEY("step"), &whole));
  TD_CHECK_INT(whole, 7);
  TD_DO(td_get_int(row, TD_KEY("done"), &whole));
  TD_CHECK_INT(whole, 1);
  TD_DO(td_get_double(row, TD_KEY("step"), &real));
  TD_CHECK(real == 7);
  TD_DO(td_get_double(row, TD_KEY("n", "rate"), &real));
  TD_CHECK(real == 0.5);
  TD_EXPECT(td_get_int(row, TD_KEY("n", "rate"), &whole), TD_ERR_DTYPE);
  TD_EXPECT(td_get_double(row, TD_KEY("n"), &real), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_get_int(row, TD_KEY("no"), &whole), TD_ERR_KEY_NOT_FOUND);
  TD_DO(td_set_double(row, TD_KEY("z"), 2, TD_DTYPE_COMPLEX64));
  TD_EXPECT(td_get_double(row, TD_KEY("z"), &real), TD_ERR_DTYPE);
  TD_EXPECT(td_set_int(row, TD_KEY("y"), 1, TD_DTYPE_OTHER), TD_ERR_DTYPE);
}

TD_TEST(the_dtype_of_an_entry) {
  td_tensordict *td = three();
  td_dtype dtype = TD_DTYPE_OTHER;
  TD_DO(td_set_int(td, TD_KEY("n", "x"), 1, TD_DTYPE_BFLOAT16));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("s"), "\"text\""));
  TD_DO(td_get_dtype(td, TD_KEY("n", "x"), &dtype));
  TD_CHECK_INT(dtype, TD_DTYPE_BFLOAT16);
  TD_EXPECT(td_get_dtype(td, TD_KEY("n"), &dtype), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_get_dtype(td, TD_KEY("s"), &dtype), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_get_dtype(td, TD_KEY("no"), &dtype), TD_ERR_KEY_NOT_FOUND);
}
