/* Masks and conditions over the batch. */
#include "td_values.h"

/* {"a": float32 [3, 2] of 0…5, "n": {"b": int64 [3] of 0…2}}, batch [3]. */
static td_tensordict *sample(int64_t first) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(3, 2)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(3)));
  return td;
}

static td_tensor *mask_of(int64_t a, int64_t b, int64_t c) {
  return td_mask((const int64_t[]){a, b, c}, 3);
}

TD_TEST(masked_select_takes_what_is_true) {
  td_tensordict *td = sample(0), *result = NULL;
  td_tensor *mask = mask_of(1, 0, 1), *column = NULL,
            *numbers = td_positions((const int64_t[]){1}, 1);
  TD_DO(td_masked_select(td, mask, &result));
  TD_CHECK_BATCH(result, 2);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(0, 1, 4, 5));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(0, 2));
  TD_DO(td_tensor_expand_right(mask, TD_SIZES(3, 1), &column));
  TD_DO(td_masked_select(td, column, &result));
  TD_CHECK_BATCH(result, 2);
  td_tensor *longer = td_mask((const int64_t[]){1, 1, 1, 1}, 4);
  TD_EXPECT_NULL(td_masked_select(td, longer, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_masked_select(td, numbers, &result), TD_ERR_DTYPE, result);
}

TD_TEST(masked_fill_writes_where_it_is_true) {
  td_tensordict *td = sample(0), *result = NULL;
  td_tensor *mask = mask_of(1, 0, 1), *value = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES);
  td_tensor *many = td_filled(TD_DTYPE_INT64, 9, TD_SIZES(2)),
            *longer = td_mask((const int64_t[]){1}, 1);
  TD_DO(td_masked_fill(td, mask, value, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(9, 9, 2, 3, 9, 9));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(9, 1, 9));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  TD_DO(td_lock(td));
  TD_DO(td_masked_fill_inplace(td, mask, value));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(9, 1, 9));
  TD_EXPECT_NULL(td_masked_fill(td, mask, many, &result), TD_ERR_SHAPE, result);
  TD_EXPECT(td_masked_fill_inplace(td, longer, value), TD_ERR_SHAPE);
  TD_EXPECT(td_masked_fill_inplace(td, value, value), TD_ERR_DTYPE);
}

TD_TEST(a_failing_masked_fill_changes_nothing) {
  td_tensordict *td = sample(0);
  td_tensor *value = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES);
  td_tensor *wide = td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(3, 2)); /* fits "a" alone */
  TD_EXPECT(td_masked_fill_inplace(td, wide, value), TD_ERR_SHAPE);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(0, 1, 2, 3, 4, 5));
  TD_DO(td_remove(td, TD_KEY("n")));
  TD_DO(td_masked_fill_inplace(td, wide, value)); /* longer than the batch, but it fits */
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(9, 9, 9, 9, 9, 9));
}

TD_TEST(where_chooses_between_two) {
  td_tensordict *td = sample(0), *other = sample(10), *result = NULL;
  td_tensor *mask = mask_of(1, 0, 1), *zero = td_filled(TD_DTYPE_FLOAT32, 0, TD_NO_SIZES);
  TD_DO(td_where(td, mask, other, NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(0, 1, 12, 13, 4, 5));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(0, 11, 2));
  TD_DO(td_where(td, mask, NULL, zero, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(0, 1, 0, 0, 4, 5));
  TD_EXPECT_NULL(td_where(td, mask, NULL, NULL, &result), TD_ERR_NULL_ARGUMENT, result);
  TD_EXPECT_NULL(td_where(td, zero, other, NULL, &result), TD_ERR_DTYPE, result);

  td_put(other, TD_KEY("z"), td_arange(TD_DTYPE_INT64, 1, TD_SIZES(3)));
  TD_EXPECT_NULL(td_where(td, mask, other, NULL, &result), TD_ERR_KEY_NOT_FOUND, result);
  TD_EXPECT_NULL(td_where(other, mask, td, NULL, &result), TD_ERR_KEY_NOT_FOUND, result);
  TD_DO(td_where(td, mask, other, zero, &result));
  TD_CHECK_ENTRY(result, TD_KEY("z"), TD_SIZES(3), TD_VALUES(0, 2, 0));
  TD_DO(td_where(other, mask, td, zero, &result));
  TD_CHECK_ENTRY(result, TD_KEY("z"), TD_SIZES(3), TD_VALUES(1, 0, 3));
}

TD_TEST(where_chooses_between_values_that_are_no_tensors) {
  td_tensordict *td = sample(0), *other = sample(10), *result = NULL;
  td_tensor *mask = mask_of(1, 0, 1), *wide = td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(3, 2));
  td_tensor *zero = td_filled(TD_DTYPE_FLOAT32, 0, TD_NO_SIZES);
  TD_DO(td_set_non_tensor_json(td, TD_KEY("same"), "1"));
  TD_DO(td_set_non_tensor_json(other, TD_KEY("same"), "1"));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("n", "one"), "\"a\""));
  TD_DO(td_set_non_tensor_json(other, TD_KEY("n", "one"), "\"b\""));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("each"), "0"));
  TD_DO(td_set_non_tensor_stack_json(other, TD_KEY("each"), "[1,2,3]"));
  TD_DO(td_where(td, mask, other, NULL, &result));
  TD_CHECK_JSON(result, TD_KEY("same"), "1"); /* one value still */
  TD_CHECK_JSON(result, TD_KEY("n", "one"), "[\"a\", \"b\", \"a\"]");
  TD_CHECK_JSON(result, TD_KEY("each"), "[0, 2, 0]");
  TD_DO(td_where(td, mask, NULL, zero, &result));
  TD_CHECK_JSON(result, TD_KEY("n", "one"), "\"a\"");
  TD_DO(td_remove(td, TD_KEY("a")));
  TD_DO(td_remove(td, TD_KEY("n", "b")));
  TD_DO(td_remove(other, TD_KEY("a")));
  TD_DO(td_remove(other, TD_KEY("n", "b")));
  TD_EXPECT_NULL(td_where(td, wide, other, NULL, &result), TD_ERR_SHAPE, result);
}

TD_TEST(lazy_stacks_are_masked_as_a_whole) {
  td_tensordict *one = sample(0), *two = sample(10), *lazy = NULL, *result = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, 0, &lazy));
  td_tensor *mask = td_mask((const int64_t[]){0, 1}, 2),
            *value = td_filled(TD_DTYPE_INT64, -1, TD_NO_SIZES);
  TD_DO(td_where(lazy, mask, NULL, value, &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2, 3), TD_VALUES(-1, -1, -1, 10, 11, 12));
  TD_DO(td_masked_fill_inplace(lazy, mask, value));
  TD_CHECK_ENTRY(two, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(-1, -1, -1));
  TD_CHECK_ENTRY(one, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(0, 1, 2));
}

TD_TEST(a_tensor_is_expanded_on_the_right) {
  td_tensor *tensor = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 1)), *result = NULL;
  TD_DO(td_tensor_expand_right(tensor, TD_SIZES(2, 2, 2), &result));
  TD_CHECK_VALUES(result, 0, 0, 0, 0, 1, 1, 1, 1);
  TD_CHECK(td_same_memory(tensor, result));
  TD_EXPECT_NULL(td_tensor_expand_right(tensor, TD_SIZES(2), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_tensor_expand_right(tensor, TD_SIZES(3, 1), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_tensor_expand_right(tensor, TD_SIZES(2, 1, -1), &result), TD_ERR_SHAPE, result);
}
