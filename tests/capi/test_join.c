/* Several dictionaries at once: stack and cat; and equality. */
#include "td_values.h"

#define PAIR(first, second) ((const td_tensordict *const[]){(first), (second)}), 2

static td_tensordict *small(int64_t first) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(2, 2)));
  return td;
}

TD_TEST(stack_makes_a_dimension) {
  td_tensordict *one = small(0), *two = small(10), *result = NULL;
  TD_DO(td_stack(PAIR(one, two), 0, &result));
  TD_CHECK_BATCH(result, 2, 2);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(0, 1, 10, 11));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2, 2, 2),
                 TD_VALUES(0, 1, 2, 3, 10, 11, 12, 13));
  TD_DO(td_stack(PAIR(one, two), -1, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(0, 10, 1, 11));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2, 2, 2),
                 TD_VALUES(0, 1, 10, 11, 2, 3, 12, 13));
  TD_DO(td_stack(PAIR(one, one), 1, &result)); /* the same one twice: two copies */
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES);
  TD_DO(td_fill_at(result, TD_AT(TD_I_ALL, TD_I_INT(0)), nine));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(9, 0, 9, 1));
  TD_CHECK_ENTRY(one, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
}

TD_TEST(cat_lengthens_a_dimension) {
  td_tensordict *one = small(0), *two = small(10), *none = NULL, *result = NULL;
  TD_DO(td_cat(PAIR(one, two), 0, &result));
  TD_CHECK_BATCH(result, 4);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 1, 10, 11));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(4, 2), TD_VALUES(0, 1, 2, 3, 10, 11, 12, 13));
  TD_DO(td_index(one, TD_AT(TD_I_UNTIL(0)), &none));
  TD_DO(td_cat(PAIR(none, two), -1, &result));
  TD_CHECK_BATCH(result, 2);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(10, 11));
  TD_DO(td_cat((const td_tensordict *const[]){one}, 1, 0, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
}

TD_TEST(cat_along_the_second_dimension) {
  td_tensordict *td = td_sample(), *column = NULL, *result = NULL;
  TD_DO(td_index(td, TD_AT(TD_I_ALL, TD_I_UNTIL(1)), &column));
  TD_DO(td_cat(PAIR(column, td), 1, &result));
  TD_CHECK_BATCH(result, 4, 4);
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(4, 4),
                 TD_VALUES(0, 0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11));
  TD_EXPECT_NULL(td_cat(PAIR(column, td), 0, &result), TD_ERR_SHAPE, result);
}

TD_TEST(dtypes_are_promoted) {
  td_tensordict *one = td_empty(TD_SIZES(1)), *two = td_empty(TD_SIZES(1)), *result = NULL;
  td_put(one, TD_KEY("a"), td_filled(TD_DTYPE_INT32, 3, TD_SIZES(1)));
  td_put(two, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT64, 0.5, TD_SIZES(1)));
  TD_DO(td_stack(PAIR(one, two), 0, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 1), TD_VALUES(3, 0.5));
  TD_DO(td_cat(PAIR(one, two), 0, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(3, 0.5));
}

TD_TEST(what_does_not_fit_together) {
  td_tensordict *one = small(0), *two = small(1), *longer = NULL, *result;
  TD_DO(td_cat(PAIR(one, two), 0, &longer));
  TD_EXPECT_NULL(td_stack((const td_tensordict *const[]){one}, 0, 0, &result),
                 TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_cat((const td_tensordict *const[]){one}, 0, 0, &result),
                 TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_stack(PAIR(one, two), 2, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_stack(PAIR(one, two), -3, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_cat(PAIR(one, two), 1, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_cat(PAIR(one, two), -2, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_stack(PAIR(one, longer), 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_stack(PAIR(one, NULL), 0, &result), TD_ERR_NULL_ARGUMENT, result);

  td_put(two, TD_KEY("n", "more"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  TD_EXPECT_NULL(td_stack(PAIR(one, two), 0, &result), TD_ERR_KEY_NOT_FOUND, result);
  TD_CHECK_TEXT(td_last_error_message(), "more");
  TD_EXPECT_NULL(td_stack(PAIR(two, one), 0, &result), TD_ERR_KEY_NOT_FOUND, result);
  TD_EXPECT_NULL(td_cat(PAIR(one, two), 0, &result), TD_ERR_KEY_NOT_FOUND, result);
  TD_DO(td_remove(two, TD_KEY("n", "more")));
  td_put(two, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  TD_EXPECT_NULL(td_stack(PAIR(one, two), 0, &result), TD_ERR_SHAPE, result);
  TD_CHECK_TEXT(td_last_error_message(), "b");
  TD_EXPECT_NULL(td_cat(PAIR(one, two), 0, &result), TD_ERR_SHAPE, result);
  td_put(two, TD_KEY("n"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_CHECK(td_stack(PAIR(one, two), 0, &result) != TD_OK);
  TD_CHECK(result == NULL);
}

TD_TEST(keys_may_stand_in_another_order) {
  td_tensordict *one = small(0), *two = td_empty(TD_SIZES(2)), *result = NULL;
  td_put(two, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 20, TD_SIZES(2, 2)));
  td_put(two, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 30, TD_SIZES(2)));
  TD_DO(td_stack(PAIR(one, two), 0, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(0, 1, 30, 31));
}

TD_TEST(equality) {
  td_tensordict *td = td_sample(), *other = NULL, *swapped = td_empty(TD_SIZES(4, 3));
  int32_t equal = -1;
#define EQUAL(want)                   \
  TD_DO(td_equal(td, other, &equal)); \
  TD_CHECK_INT(equal, (want))
  TD_DO(td_clone(td, 0, &other));
  EQUAL(1);
  TD_DO(td_lock(other));
  EQUAL(1); /* the lock does not count */
  TD_DO(td_unlock(other));
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES);
  TD_DO(td_fill_at(other, TD_AT(TD_I_INT(0), TD_I_INT(0)), nine));
  EQUAL(0);
  td_free(other);
  TD_DO(td_to_dtype(td, TD_DTYPE_FLOAT64, &other));
  EQUAL(0);
  TD_DO(td_to_device(td, TD_DEVICE_CPU, -1, NULL, &other));
  EQUAL(1); /* nor does the device of the dictionary */
  TD_DO(td_set_batch_size(other, TD_SIZES(4)));
  EQUAL(0);
  td_free(other);
  TD_DO(td_clone(td, TD_CLONE_SHALLOW, &other));
  td_put_dict(other, TD_KEY("empty"), td_empty(TD_SIZES(4, 3)));
  EQUAL(0);
  td_free(other);
  td_put(swapped, TD_KEY("n", "b"), td_take(td, TD_KEY("n", "b")));
  td_put(swapped, TD_KEY("a"), td_take(td, TD_KEY("a")));
  other = swapped;
  EQUAL(1); /* the order of the keys does not count */
  td_put(other, TD_KEY("n"), td_take(td, TD_KEY("a")));
  EQUAL(0);
#undef EQUAL
}
