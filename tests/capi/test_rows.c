/* Rows that are repeated, turned, picked, and added. */
#include "td_values.h"

/* {"a": int64 [2, 3] of 0…5, "n": {"f": float32 [2, 3, 2] of 0…11}}, batch [2, 3], locked. */
static td_tensordict *sample(void) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)));
  td_put(td, TD_KEY("n", "f"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3, 2)));
  TD_DO(td_lock(td));
  return td;
}

/* The values of "a" in a result, which is locked or not; the result is freed. */
static void check(td_tensordict *result, int locked, const int64_t *sizes, size_t dims,
                  const double *values, size_t count) {
  td_check_batch(__FILE__, __LINE__, result, sizes, dims);
  TD_CHECK_FLAG(td_is_locked, result, locked);
  TD_CHECK_ENTRY(result, TD_KEY("a"), sizes, dims, values, count);
  td_free(result);
}

TD_TEST(repeat_and_tile) {
  td_tensordict *td = sample(), *result = NULL;
  TD_DO(td_repeat(td, TD_SIZES(1, 2), 0, &result));
  TD_CHECK_ENTRY(
      result, TD_KEY("n", "f"), TD_SIZES(2, 6, 2),
      TD_VALUES(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 6, 7, 8, 9, 10, 11));
  check(result, 1, TD_SIZES(2, 6), TD_VALUES(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
  TD_DO(td_repeat(td, TD_SIZES(2, 1), 0, &result));
  check(result, 1, TD_SIZES(4, 3), TD_VALUES(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5));
  TD_DO(td_repeat(td, TD_SIZES(1, 1), 0, &result)); /* a copy */
  td_tensor *one = td_take(td, TD_KEY("a")), *other = td_take(result, TD_KEY("a"));
  TD_CHECK(!td_same_memory(one, other));
  TD_DO(td_repeat(td, TD_SIZES(0, 2), 0, &result));
  TD_CHECK_BATCH(result, 0, 6);
  TD_DO(td_repeat(td, TD_SIZES(2), TD_REPEAT_TILE, &result));
  check(result, 1, TD_SIZES(2, 6), TD_VALUES(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
  TD_DO(td_repeat(td, TD_SIZES(2, 1, 1), TD_REPEAT_TILE, &result));
  check(result, 1, TD_SIZES(2, 2, 3), TD_VALUES(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5));
  TD_EXPECT_NULL(td_repeat(td, TD_SIZES(2), 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_repeat(td, TD_SIZES(2, -1), 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_repeat(td, TD_SIZES(INT64_MAX, 1), 0, &result), TD_ERR_SHAPE, result);
}

TD_TEST(repeat_interleave_takes_one_number_or_many) {
  td_tensordict *td = sample(), *result = NULL, *scalar = td_empty(TD_NO_SIZES);
  td_tensor *two = td_filled(TD_DTYPE_INT32, 2, TD_NO_SIZES);
  td_tensor *each = td_positions((const int64_t[]){0, 1, 2}, 3);
  td_tensor *real = td_filled(TD_DTYPE_FLOAT32, 2, TD_NO_SIZES);
  td_tensor *minus = td_filled(TD_DTYPE_INT64, -1, TD_NO_SIZES);
  TD_DO(td_repeat_interleave(td, two, 0, &result));
  check(result, 1, TD_SIZES(4, 3), TD_VALUES(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
  TD_DO(td_repeat_interleave(td, each, -1, &result));
  check(result, 1, TD_SIZES(2, 3), TD_VALUES(1, 2, 2, 4, 5, 5));
  TD_DO(td_repeat_interleave(scalar, two, 0, &result));
  TD_CHECK_BATCH(result, 2);
  TD_EXPECT_NULL(td_repeat_interleave(td, each, 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_repeat_interleave(td, two, 2, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_repeat_interleave(td, real, 0, &result), TD_ERR_DTYPE, result);
  TD_EXPECT_NULL(td_repeat_interleave(td, minus, 0, &result), TD_ERR_INVALID_ARGUMENT, result);
}

TD_TEST(roll_goes_round) {
  td_tensordict *td = sample(), *result = NULL;
  TD_DO(td_roll(td, (const int64_t[]){1}, (const int64_t[]){1}, 1, &result));
  check(result, 1, TD_SIZES(2, 3), TD_VALUES(2, 0, 1, 5, 3, 4));
  TD_DO(td_roll(td, (const int64_t[]){-4, 1}, (const int64_t[]){-1, 0}, 2, &result));
  check(result, 1, TD_SIZES(2, 3), TD_VALUES(4, 5, 3, 1, 2, 0));
  TD_DO(td_roll(td, (const int64_t[]){2}, NULL, 1, &result)); /* as if flat */
  TD_CHECK_ENTRY(result, TD_KEY("n", "f"), TD_SIZES(2, 3, 2),
                 TD_VALUES(8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7));
  check(result, 1, TD_SIZES(2, 3), TD_VALUES(4, 5, 0, 1, 2, 3));
  TD_DO(td_roll(td, (const int64_t[]){INT64_MIN}, (const int64_t[]){0}, 1, &result));
  check(result, 1, TD_SIZES(2, 3), TD_VALUES(0, 1, 2, 3, 4, 5));
  TD_DO(td_roll(td, NULL, NULL, 0, &result));
  check(result, 1, TD_SIZES(2, 3), TD_VALUES(0, 1, 2, 3, 4, 5));
  TD_EXPECT_NULL(td_roll(td, (const int64_t[]){1, 2}, NULL, 2, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_roll(td, (const int64_t[]){1}, (const int64_t[]){2}, 1, &result), TD_ERR_INDEX,
                 result);
}

TD_TEST(flip_and_rot90_turn) {
  td_tensordict *td = sample(), *result = NULL;
  TD_DO(td_flip(td, TD_SIZES(1), &result));
  check(result, 1, TD_SIZES(2, 3), TD_VALUES(2, 1, 0, 5, 4, 3));
  TD_DO(td_flip(td, TD_SIZES(0, -1), &result));
  check(result, 1, TD_SIZES(2, 3), TD_VALUES(5, 4, 3, 2, 1, 0));
  TD_EXPECT_NULL(td_flip(td, TD_SIZES(2), &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_flip(td, TD_SIZES(0, -2), &result), TD_ERR_SHAPE, result);
  TD_DO(td_rot90(td, 1, 0, 1, &result));
  check(result, 1, TD_SIZES(3, 2), TD_VALUES(2, 5, 1, 4, 0, 3));
  TD_DO(td_rot90(td, 2, 0, 1, &result));
  check(result, 1, TD_SIZES(2, 3), TD_VALUES(5, 4, 3, 2, 1, 0));
  TD_DO(td_rot90(td, -1, 0, 1, &result));
  check(result, 1, TD_SIZES(3, 2), TD_VALUES(3, 0, 4, 1, 5, 2));
  TD_DO(td_rot90(td, -4, 0, 1, &result));
  TD_CHECK(td_is_same_dict(td, result));
  TD_EXPECT_NULL(td_rot90(td, 1, 0, 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_rot90(td, 1, 0, 2, &result), TD_ERR_INDEX, result);
}

TD_TEST(gather_picks_a_position_for_each_other) {
  td_tensordict *td = sample(), *result = NULL;
  const int64_t picks[] = {2, 0, 1, 1};
  td_tensor *index = NULL;
  TD_DO(td_tensor_from_data(picks, sizeof picks, TD_SIZES(2, 2), TD_DTYPE_INT64, &index));
  TD_DO(td_gather(td, 1, index, &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "f"), TD_SIZES(2, 2, 2), TD_VALUES(4, 5, 0, 1, 8, 9, 8, 9));
  check(result, 0, TD_SIZES(2, 2), TD_VALUES(2, 0, 4, 4));
  TD_EXPECT_NULL(td_gather(td, 0, index, &result), TD_ERR_INDEX, result); /* 2 of 2 rows */
  TD_EXPECT_NULL(td_gather(td, 2, index, &result), TD_ERR_INDEX, result);
  td_tensor *bad = td_filled(TD_DTYPE_INT64, 3, TD_SIZES(2, 1));
  td_tensor *below = td_filled(TD_DTYPE_INT64, -1, TD_SIZES(2, 1));
  td_tensor *real = td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 1));
  td_tensor *none = td_filled(TD_DTYPE_INT64, 0, TD_SIZES(2, 0));
  TD_EXPECT_NULL(td_gather(td, 1, bad, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_gather(td, 1, below, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_gather(td, 1, real, &result), TD_ERR_DTYPE, result);
  TD_EXPECT_NULL(td_gather(td, 1, none, &result), TD_ERR_SHAPE, result);
}

TD_TEST(pad_adds_positions) {
  td_tensordict *td = sample(), *result = NULL;
  TD_DO(td_pad(td, TD_SIZES(0, 1, 2, 0), 9, &result));
  check(result, 0, TD_SIZES(3, 5), TD_VALUES(9, 9, 0, 1, 2, 9, 9, 3, 4, 5, 9, 9, 9, 9, 9));
  TD_DO(td_pad(td, TD_SIZES(-1, 0), 0, &result));
  check(result, 0, TD_SIZES(1, 3), TD_VALUES(3, 4, 5));
  TD_DO(td_pad(td, TD_NO_SIZES, 0, &result));
  check(result, 0, TD_SIZES(2, 3), TD_VALUES(0, 1, 2, 3, 4, 5));
  TD_EXPECT_NULL(td_pad(td, TD_SIZES(1), 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_pad(td, TD_SIZES(1, 1, 1, 1, 1, 1), 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_pad(td, TD_SIZES(-2, -1), 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_pad(td, TD_SIZES(-3, 3), 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_pad(td, TD_SIZES(INT64_MAX, INT64_MAX), 0, &result), TD_ERR_SHAPE, result);
}

TD_TEST(padded_values_that_are_no_tensors_are_null) {
  td_tensordict *td = td_empty(TD_SIZES(1)), *result = NULL;
  char text[64];
  size_t length = 0;
  TD_DO(td_set_non_tensor_json(td, TD_KEY("s"), "\"x\""));
  TD_DO(td_pad(td, TD_SIZES(1, 1), 0, &result));
  TD_DO(td_get_non_tensor_json(result, TD_KEY("s"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "[null, \"x\", null]");
}

/* {"a": float32 [n] from `first` on, "n": {"b": [n, 2]}}, batch [n]. */
static td_tensordict *run_of(int64_t n, int64_t first) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(n)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(n, 2)));
  return td;
}

TD_TEST(pad_sequence_stacks_to_the_longest) {
  td_tensordict *one = run_of(2, 1), *two = run_of(3, 5), *result = NULL;
  const td_tensordict *const both[] = {one, two};
  td_pad_sequence_options options = TD_PAD_SEQUENCE_OPTIONS_INIT;
  const char *const masks[] = {"masks"};
  TD_DO(td_pad_sequence(both, 2, NULL, &result));
  TD_CHECK_BATCH(result, 2, 3);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(1, 2, 0, 5, 6, 7));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2, 3, 2),
                 TD_VALUES(1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 9, 10));
  options.value = -1;
  options.masks = masks;
  options.masks_len = 1;
  TD_DO(td_pad_sequence(both, 2, &options, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(1, 2, -1, 5, 6, 7));
  TD_CHECK_ENTRY(result, TD_KEY("masks", "a"), TD_SIZES(2, 3), TD_VALUES(1, 1, 0, 1, 1, 1));
  TD_CHECK_ENTRY(result, TD_KEY("masks", "n", "b"), TD_SIZES(2, 3), TD_VALUES(1, 1, 0, 1, 1, 1));
  td_put(one, TD_KEY("only"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2))); /* left out */
  TD_DO(td_pad_sequence(both, 2, NULL, &result));
  td_entry_kind kind = -1;
  TD_DO(td_get_kind(result, TD_KEY("only"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  options.dim = 1; /* "a" has one dimension only */
  TD_EXPECT_NULL(td_pad_sequence(both, 2, &options, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_pad_sequence(both, 0, NULL, &result), TD_ERR_INVALID_ARGUMENT, result);
}

TD_TEST(isin_and_remove_duplicates_look_at_one_entry) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *other = td_empty(TD_SIZES(2)), *result = NULL;
  td_tensor *mask = NULL, *positions = NULL;
  td_put(td, TD_KEY("k"), td_positions((const int64_t[]){7, 3, 7, 5}, 4));
  td_put(td, TD_KEY("v"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 2)));
  td_put(other, TD_KEY("k"), td_positions((const int64_t[]){5, 7}, 2));
  TD_DO(td_isin(td, other, TD_KEY("k"), 0, &mask));
  TD_CHECK_VALUES(mask, 1, 0, 1, 1);
  TD_DO(td_remove_duplicates(td, TD_KEY("k"), -1, &result, &positions));
  TD_CHECK_BATCH(result, 3);
  TD_CHECK_ENTRY(result, TD_KEY("k"), TD_SIZES(3), TD_VALUES(3, 5, 7));
  TD_CHECK_ENTRY(result, TD_KEY("v"), TD_SIZES(3, 2), TD_VALUES(2, 3, 6, 7, 0, 1));
  TD_CHECK_VALUES(positions, 1, 3, 0);
  TD_EXPECT_NULL(td_isin(td, other, TD_KEY("v"), 0, &mask), TD_ERR_KEY_NOT_FOUND, mask);
  TD_EXPECT_NULL(td_isin(td, other, TD_KEY("k"), 1, &mask), TD_ERR_INDEX, mask);
  td_put(other, TD_KEY("v"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  TD_EXPECT_NULL(td_isin(td, other, TD_KEY("v"), 0, &mask), TD_ERR_SHAPE, mask);
  positions = TD_POISON;
  TD_EXPECT_NULL(td_remove_duplicates(td, TD_KEY("x"), 0, &result, &positions),
                 TD_ERR_KEY_NOT_FOUND, result);
  TD_CHECK(positions == NULL);
  TD_EXPECT_NULL(td_remove_duplicates(td, TD_KEY("k"), 1, &result, &positions), TD_ERR_INDEX,
                 result);
}

static td_tensordict *rows_with(td_tensor *u) {
  td_tensordict *td = td_empty(TD_SIZES(5));
  td_put(td, TD_KEY("n", "u"), u);
  td_put(td, TD_KEY("r"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(5)));
  return td;
}

TD_TEST(group_by_values) {
  td_tensordict *td = rows_with(td_positions((const int64_t[]){2, 0, 2, 1, 0}, 5));
  td_tensordict *values = NULL, *groups[5];
  size_t count = 0;
  TD_DO(td_group_by(td, TD_KEY("n", "u"), &values, groups, 5, &count));
  TD_CHECK_INT(count, 3);
  TD_CHECK_BATCH(values, 3);
  TD_CHECK_ENTRY(values, TD_KEY("n", "u"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  TD_CHECK_ENTRY(groups[0], TD_KEY("r"), TD_SIZES(2), TD_VALUES(1, 4));
  TD_CHECK_ENTRY(groups[1], TD_KEY("r"), TD_SIZES(1), TD_VALUES(3));
  TD_CHECK_ENTRY(groups[2], TD_KEY("r"), TD_SIZES(2), TD_VALUES(0, 2));
  TD_CHECK(groups[3] == NULL && groups[4] == NULL);
  for (size_t i = 0; i < count; i++) td_free(groups[i]);
  td_free(values);
  TD_DO(td_group_by(td, TD_KEY("n", "u"), &values, NULL, 0, &count));
  TD_CHECK_INT(count, 3);
  TD_EXPECT_NULL(td_group_by(td, TD_KEY("n", "u"), &values, groups, 2, &count),
                 TD_ERR_BUFFER_TOO_SMALL, values);
  TD_CHECK_INT(count, 3);
  TD_CHECK(groups[0] == NULL && groups[1] == NULL);
}

TD_TEST(group_by_rows_and_texts) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *values = NULL, *groups[3];
  size_t count = 0;
  td_put(td, TD_KEY("w"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3, 2)));
  td_put(td, TD_KEY("r"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3)));
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("s"), "[\"b\",\"a\",\"b\"]"));
  TD_DO(td_group_by(td, TD_KEY("s"), &values, groups, 3, &count));
  TD_CHECK_INT(count, 2);
  TD_CHECK_ENTRY(groups[0], TD_KEY("r"), TD_SIZES(1), TD_VALUES(1));
  TD_CHECK_ENTRY(groups[1], TD_KEY("r"), TD_SIZES(2), TD_VALUES(0, 2));
  TD_CHECK_BATCH(values, 2);
  for (size_t i = 0; i < count; i++) td_free(groups[i]);
  td_free(values);
  TD_DO(td_group_by(td, TD_KEY("w"), &values, groups, 3, &count));
  TD_CHECK_INT(count, 3);
  TD_CHECK_ENTRY(values, TD_KEY("w"), TD_SIZES(3, 2), TD_VALUES(0, 1, 2, 3, 4, 5));
  for (size_t i = 0; i < count; i++) td_free(groups[i]);
  td_free(values);
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("m"), "[1,\"b\",2]"));
  TD_EXPECT_NULL(td_group_by(td, TD_KEY("m"), &values, groups, 3, &count), TD_ERR_WRONG_ENTRY,
                 values);
  TD_CHECK(groups[0] == NULL);
}

TD_TEST(group_by_refuses_what_has_no_groups) {
  td_tensor *numbers;
  TD_DO(td_tensor_zeros(TD_SIZES(5), TD_DTYPE_COMPLEX64, TD_DEVICE_CPU, 0, &numbers));
  td_tensordict *td = rows_with(numbers);
  td_tensordict *values = NULL, *none = td_empty(TD_SIZES(0)), *flat = td_empty(TD_NO_SIZES);
  size_t count = 7;
  TD_EXPECT_NULL(td_group_by(td, TD_KEY("n", "u"), &values, NULL, 0, &count), TD_ERR_DTYPE, values);
  TD_EXPECT_NULL(td_group_by(td, TD_KEY("n"), &values, NULL, 0, &count), TD_ERR_WRONG_ENTRY,
                 values);
  TD_EXPECT_NULL(td_group_by(td, TD_KEY("x"), &values, NULL, 0, &count), TD_ERR_KEY_NOT_FOUND,
                 values);
  td_put(flat, TD_KEY("u"), td_arange(TD_DTYPE_INT64, 0, TD_NO_SIZES));
  TD_EXPECT_NULL(td_group_by(flat, TD_KEY("u"), &values, NULL, 0, &count), TD_ERR_SHAPE, values);
  td_put(none, TD_KEY("u"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(0)));
  TD_DO(td_group_by(none, TD_KEY("u"), &values, NULL, 0, &count));
  TD_CHECK_INT(count, 0);
  TD_CHECK_BATCH(values, 0);
}
