/* Writing by index, and the entries that the first write makes. */
#include "td_values.h"

/* A dictionary of the given batch whose "a" and "n", "b" hold one value. */
static td_tensordict *constant(double value, const int64_t *batch, size_t dims) {
  td_tensordict *td = td_empty(batch, dims);
  int64_t sizes[8];
  for (size_t i = 0; i < dims; i++) sizes[i] = batch[i];
  sizes[dims] = 2;
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, value, sizes, dims + 1));
  td_put(td, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, value, sizes, dims));
  return td;
}

#define CHECK_B(...) TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3), TD_VALUES(__VA_ARGS__))

TD_TEST(existing_entries_are_written_in_place) {
  td_tensordict *td = td_sample(), *row = constant(-1, TD_SIZES(3)),
                *two = constant(-2, TD_SIZES(2, 3));
  td_tensor *before = td_take(td, TD_KEY("n", "b"));
  TD_DO(td_set_at(td, TD_AT(TD_I_INT(1)), row));
  CHECK_B(0, 1, 2, -1, -1, -1, 6, 7, 8, 9, 10, 11);
  TD_DO(td_set_at(td, TD_AT(TD_I_STEP(0, 4, 2)), two));
  CHECK_B(-2, -2, -2, -1, -1, -1, -2, -2, -2, 9, 10, 11);
  TD_DO(td_set_at(td, TD_AT(TD_I_FROM(2)), row)); /* [3] expands to [2, 3] */
  CHECK_B(-2, -2, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  td_tensor *after = td_take(td, TD_KEY("n", "b"));
  TD_CHECK(td_same_memory(before, after));
}

TD_TEST(positions_and_masks_are_written) {
  td_tensordict *td = td_sample(), *two = constant(-2, TD_SIZES(2, 3)),
                *pair = constant(-3, TD_SIZES(2));
  td_tensor *rows = td_positions((const int64_t[]){3, 0}, 2);
  td_tensor *mask = td_mask((const int64_t[]){0, 1, 1, 0}, 4);
  td_tensor *columns = td_positions((const int64_t[]){2, 1}, 2);
  TD_DO(td_set_at(td, TD_AT(TD_I_TENSOR(rows)), two));
  CHECK_B(-2, -2, -2, 3, 4, 5, 6, 7, 8, -2, -2, -2);
  TD_DO(td_set_at(td, TD_AT(TD_I_TENSOR(rows), TD_I_TENSOR(columns)), pair));
  CHECK_B(-2, -3, -2, 3, 4, 5, 6, 7, 8, -2, -2, -3);
  TD_DO(td_set_at(td, TD_AT(TD_I_TENSOR(mask)), two));
  CHECK_B(-2, -3, -2, -2, -2, -2, -2, -2, -2, -2, -2, -3);
}

TD_TEST(values_are_converted_to_the_dtype_that_is_there) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *value = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_INT32, 0, TD_SIZES(2)));
  td_put(value, TD_KEY("x"), td_filled(TD_DTYPE_FLOAT64, 3.75, TD_NO_SIZES));
  TD_DO(td_set_at(td, TD_AT(TD_I_INT(1)), value));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(2), TD_VALUES(0, 3));
}

TD_TEST(a_shorter_batch_whose_leaves_fit_is_accepted) {
  td_tensordict *td = td_sample(), *value = td_empty(TD_NO_SIZES);
  td_put(value, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, 9, TD_SIZES(3)));
  TD_DO(td_set_at(td, TD_AT(TD_I_INT(0)), value));
  CHECK_B(9, 9, 9, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  TD_CHECK_NO_BATCH(value);
}

TD_TEST(batch_sizes_of_a_source) {
  td_tensordict *td = td_sample(), *value = td_empty(TD_NO_SIZES);
  /* without batch dimensions: read with the batch size of the part, not expanded */
  td_put(value, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES));
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_SLICE(0, 2)), value), TD_ERR_SHAPE);
  td_put(value, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, 9, TD_SIZES(3)));
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_SLICE(0, 2)), value), TD_ERR_SHAPE);
  td_put(value, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 50, TD_SIZES(2, 3)));
  TD_DO(td_set_at(td, TD_AT(TD_I_SLICE(0, 2)), value));
  CHECK_B(50, 51, 52, 53, 54, 55, 6, 7, 8, 9, 10, 11);
  value = td_empty(TD_SIZES(3)); /* the last sizes of the part: expanded */
  td_put(value, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 70, TD_SIZES(3)));
  TD_DO(td_set_at(td, TD_AT(TD_I_SLICE(0, 2)), value));
  CHECK_B(70, 71, 72, 70, 71, 72, 6, 7, 8, 9, 10, 11);
  value =
      td_empty(TD_SIZES(2)); /* the first sizes of the part: its entries must go on as the part */
  td_put(value, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, 1, TD_SIZES(2)));
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_SLICE(0, 2)), value), TD_ERR_SHAPE);
  td_put(value, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, 1, TD_SIZES(2, 3)));
  TD_DO(td_set_at(td, TD_AT(TD_I_SLICE(0, 2)), value));
  CHECK_B(1, 1, 1, 1, 1, 1, 6, 7, 8, 9, 10, 11);
}

TD_TEST(sizes_that_do_not_fit_write_nothing) {
  td_tensordict *td = td_sample(), *wrong = constant(-1, TD_SIZES(4)),
                *half = td_empty(TD_SIZES(3));
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_INT(0)), wrong), TD_ERR_SHAPE);
  td_put(half, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, -1, TD_SIZES(3)));
  td_put(half, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, -1, TD_SIZES(3, 5)));
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_INT(0)), half), TD_ERR_SHAPE);
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_INT(7)), half), TD_ERR_INDEX);
  CHECK_B(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
}

TD_TEST(a_dictionary_over_a_tensor_writes_nothing) {
  td_tensordict *td = td_sample(), *value = td_empty(TD_SIZES(3));
  td_put(value, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, -1, TD_SIZES(3)));
  td_put(value, TD_KEY("a", "deeper"), td_filled(TD_DTYPE_INT64, -1, TD_SIZES(3)));
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_INT(0)), value), TD_ERR_WRONG_ENTRY);
  CHECK_B(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
}

TD_TEST(the_first_write_makes_the_entries) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *n = NULL;
  td_tensor *before = NULL;
  for (int64_t i = 2; i >= 0; i--) { /* any order */
    td_tensordict *step = td_empty(TD_NO_SIZES);
    td_put(step, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, (double)i + 1, TD_SIZES(2)));
    td_put(step, TD_KEY("n", "b"), td_filled(TD_DTYPE_BOOL, 1, TD_NO_SIZES));
    TD_DO(td_set_at(td, TD_AT(TD_I_INT(i)), step));
    td_free(step);
    if (i == 2) {
      before = td_take(td, TD_KEY("a"));
      TD_CHECK_VALUES(before, 0, 0, 0, 0, 3, 3); /* not filled yet: zeros */
      n = td_take_dict(td, TD_KEY("n"));
      TD_CHECK_BATCH(n, 3);
      TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(0, 0, 1));
    }
  }
  td_tensor *after = td_take(td, TD_KEY("a"));
  TD_CHECK(td_same_memory(before, after));
  TD_CHECK_VALUES(after, 1, 1, 2, 2, 3, 3);
}

TD_TEST(nested_batches_are_carried_over) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3)), *value = td_empty(TD_SIZES(3)), *n = NULL;
  td_put_dict(value, TD_KEY("n"), td_empty(TD_SIZES(3, 4)));
  td_put(value, TD_KEY("n", "x"), td_filled(TD_DTYPE_INT64, 1, TD_SIZES(3, 4, 5)));
  TD_DO(td_set_at(td, TD_AT(TD_I_INT(1)), value));
  n = td_take_dict(td, TD_KEY("n"));
  TD_CHECK_BATCH(n, 2, 3, 4);
  td_tensor *x = td_take(n, TD_KEY("x"));
  TD_CHECK_SIZES(x, 2, 3, 4, 5);
}

TD_TEST(the_first_write_may_be_a_mask_or_positions) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *two = td_empty(TD_SIZES(2));
  td_tensor *mask = td_mask((const int64_t[]){1, 0, 0, 1}, 4);
  td_tensor *rows = td_positions((const int64_t[]){1, 0}, 2);
  td_put(two, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  TD_DO(td_set_at(td, TD_AT(TD_I_TENSOR(mask)), two));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(4), TD_VALUES(5, 0, 0, 6));
  TD_DO(td_set_at(td, TD_AT(TD_I_TENSOR(rows)), two));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(4), TD_VALUES(6, 5, 0, 6));
}

TD_TEST(a_locked_dictionary_gets_values_but_no_keys) {
  td_tensordict *td = td_sample(), *row = constant(-1, TD_SIZES(3));
  TD_DO(td_lock(td));
  TD_DO(td_set_at(td, TD_AT(TD_I_INT(0)), row));
  CHECK_B(-1, -1, -1, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  td_put(row, TD_KEY("new"), td_filled(TD_DTYPE_INT64, 1, TD_SIZES(3)));
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_INT(1)), row), TD_ERR_LOCKED);
  CHECK_B(-1, -1, -1, 3, 4, 5, 6, 7, 8, 9, 10, 11);
}

TD_TEST(a_failed_first_write_leaves_no_entry) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *value = td_empty(TD_SIZES(2));
  td_put(value, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_SLICE(0, 3)), value), TD_ERR_SHAPE);
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_INT(4)), value), TD_ERR_INDEX);
  TD_CHECK_FLAG(td_is_empty, td, 1);
  td_keys *keys = NULL;
  TD_DO(td_keys_of(td, NULL, &keys));
  TD_CHECK_INT(td_keys_len(keys), 0);
}

TD_TEST(overlapping_source_is_read_first) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *front = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  TD_DO(td_index(td, TD_AT(TD_I_UNTIL(3)), &front));
  TD_DO(td_set_at(td, TD_AT(TD_I_FROM(1)), front));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(4), TD_VALUES(0, 0, 1, 2));
}

TD_TEST(fill_at_writes_every_tensor) {
  td_tensordict *td = td_sample();
  td_tensor *seven = td_filled(TD_DTYPE_FLOAT32, 7.5, TD_NO_SIZES);
  td_tensor *column = td_arange(TD_DTYPE_INT64, 1, TD_SIZES(4));
  td_tensor *wrong = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(5));
  TD_DO(td_fill_at(td, TD_AT(TD_I_INT(0)), seven));
  CHECK_B(7, 7, 7, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  TD_EXPECT(td_fill_at(td, TD_AT(TD_I_ALL, TD_I_INT(0)), wrong), TD_ERR_SHAPE);
  TD_EXPECT(td_fill_at(td, TD_AT(TD_I_INT(9)), seven), TD_ERR_INDEX);
  CHECK_B(7, 7, 7, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  TD_DO(td_remove(td, TD_KEY("a")));
  TD_DO(td_fill_at(td, TD_AT(TD_I_ALL, TD_I_INT(1)), column));
  CHECK_B(7, 1, 7, 3, 2, 5, 6, 3, 8, 9, 4, 11);
  TD_DO(td_fill_at(td, NULL, 0, seven));
  CHECK_B(7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7);
}

/* As in libtorch, also in each element of a lazy stack. */
TD_TEST(fill_at_drops_leading_dimensions_of_one) {
  td_tensordict *one = td_empty(TD_SIZES(2)), *two = td_empty(TD_SIZES(2)), *lazy = NULL;
  td_put(one, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(two, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 2, TD_SIZES(2)));
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, 0, &lazy));
  td_tensor *row = td_filled(TD_DTYPE_INT64, 9, TD_SIZES(1, 1, 2));
  td_tensor *rows = td_filled(TD_DTYPE_INT64, 9, TD_SIZES(2, 1, 2));
  TD_EXPECT(td_fill_at(lazy, TD_AT(TD_I_INT(0)), rows), TD_ERR_SHAPE);
  TD_EXPECT(td_fill_at(one, NULL, 0, rows), TD_ERR_SHAPE);
  TD_DO(td_fill_at(lazy, TD_AT(TD_I_INT(0)), row));
  TD_CHECK_ENTRY(lazy, TD_KEY("x"), TD_SIZES(2, 2), TD_VALUES(9, 9, 2, 3));
  TD_DO(td_fill_at(two, NULL, 0, row));
  TD_CHECK_ENTRY(lazy, TD_KEY("x"), TD_SIZES(2, 2), TD_VALUES(9, 9, 9, 9));
}

TD_TEST(tensors_are_written_by_the_same_rules) {
  td_tensor *tensor = td_arange(TD_DTYPE_INT32, 0, TD_SIZES(2, 3));
  td_tensor *nine = td_filled(TD_DTYPE_FLOAT64, 9.9, TD_NO_SIZES);
  td_tensor *pair = td_arange(TD_DTYPE_INT64, 50, TD_SIZES(2));
  td_tensor *mask = td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(2, 3)); /* true at 0 and 3 */
  TD_DO(td_tensor_set_at(tensor, TD_AT(TD_I_ALL, TD_I_INT(1)), pair));
  TD_CHECK_VALUES(tensor, 0, 50, 2, 3, 51, 5);
  TD_DO(td_tensor_set_at(tensor, TD_AT(TD_I_TENSOR(mask)), nine));
  TD_CHECK_VALUES(tensor, 9, 50, 2, 9, 51, 5);
  TD_EXPECT(td_tensor_set_at(tensor, TD_AT(TD_I_INT(0)), pair), TD_ERR_SHAPE);
  TD_EXPECT(td_tensor_set_at(tensor, TD_AT(TD_I_INT(2)), nine), TD_ERR_INDEX);
}
