/* Batch dimensions made of others, moved, cut into parts; dictionaries that take over others. */
#include "td_values.h"

static void check_b(const td_tensordict *td, const int64_t *sizes, size_t dims,
                    const double *values, size_t count) {
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), sizes, dims, values, count);
}

TD_TEST(flatten_merges_dimensions) {
  td_tensordict *td = td_sample(), *result = NULL, *turned = NULL, *none = td_empty(TD_NO_SIZES);
  TD_DO(td_flatten(td, 0, -1, &result));
  TD_CHECK_BATCH(result, 12);
  check_b(result, TD_SIZES(12), TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  TD_DO(td_transpose(td, 0, 1, &turned)); /* no view is possible: a copy */
  TD_DO(td_flatten(turned, -2, 1, &result));
  check_b(result, TD_SIZES(12), TD_VALUES(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
  TD_DO(td_flatten(td, 1, 1, &result));
  TD_CHECK_BATCH(result, 4, 3);
  TD_DO(td_flatten(none, 0, -1, &result));
  TD_CHECK_BATCH(result, 1);
  TD_EXPECT_NULL(td_flatten(td, 1, 0, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_flatten(td, 0, 2, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_flatten(td, -3, 1, &result), TD_ERR_INDEX, result);
}

TD_TEST(unflatten_splits_a_dimension) {
  td_tensordict *td = td_sample(), *result = NULL;
  TD_DO(td_unflatten(td, 0, TD_SIZES(2, -1), &result));
  TD_CHECK_BATCH(result, 2, 2, 3);
  check_b(result, TD_SIZES(2, 2, 3), TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  TD_DO(td_unflatten(td, -1, TD_SIZES(3, 1), &result));
  TD_CHECK_BATCH(result, 4, 3, 1);
  TD_EXPECT_NULL(td_unflatten(td, 0, TD_SIZES(3, -1), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_unflatten(td, 0, TD_NO_SIZES, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_unflatten(td, 2, TD_SIZES(1), &result), TD_ERR_INDEX, result);
}

TD_TEST(movedim_moves_dimensions) {
  td_tensordict *td = td_sample(), *wide = NULL, *result = NULL;
  TD_DO(td_unflatten(td, 0, TD_SIZES(2, 2), &wide)); /* [2, 2, 3] */
  TD_DO(td_movedim(wide, (const int64_t[]){2}, (const int64_t[]){0}, 1, &result));
  TD_CHECK_BATCH(result, 3, 2, 2);
  check_b(result, TD_SIZES(3, 2, 2), TD_VALUES(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
  TD_DO(td_movedim(wide, (const int64_t[]){0, 2}, (const int64_t[]){-1, 1}, 2, &result));
  TD_CHECK_BATCH(result, 2, 3, 2);
  check_b(result, TD_SIZES(2, 3, 2), TD_VALUES(0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11));
  TD_DO(td_movedim(wide, NULL, NULL, 0, &result));
  TD_CHECK_BATCH(result, 2, 2, 3);
  TD_EXPECT_NULL(td_movedim(wide, (const int64_t[]){3}, (const int64_t[]){0}, 1, &result),
                 TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_movedim(wide, (const int64_t[]){0, -3}, (const int64_t[]){0, 1}, 2, &result),
                 TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_movedim(wide, (const int64_t[]){0, 1}, (const int64_t[]){1, 1}, 2, &result),
                 TD_ERR_SHAPE, result);
}

TD_TEST(narrow_shares_memory_and_keeps_the_lock) {
  td_tensordict *td = td_sample(), *result = NULL;
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 99, TD_NO_SIZES);
  TD_DO(td_lock(td));
  TD_DO(td_narrow(td, -1, 1, 2, &result));
  TD_CHECK_BATCH(result, 4, 2);
  TD_CHECK_FLAG(td_is_locked, result, 1);
  TD_DO(td_fill_at(result, TD_AT(TD_I_INT(0)), nine));
  check_b(td, TD_SIZES(4, 3), TD_VALUES(0, 99, 99, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  td_free(result);
  TD_DO(td_narrow(td, 0, -1, 1, &result));
  check_b(result, TD_SIZES(1, 3), TD_VALUES(9, 10, 11));
  td_free(result);
  TD_DO(td_narrow(td, 0, 4, 0, &result));
  TD_CHECK_BATCH(result, 0, 3);
  TD_EXPECT_NULL(td_narrow(td, 0, 3, 2, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_narrow(td, 0, 1, INT64_MAX, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_narrow(td, 0, 0, -1, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_narrow(td, 2, 0, 1, &result), TD_ERR_INDEX, result);
}

TD_TEST(atleast_adds_dimensions_in_front) {
  td_tensordict *td = td_sample(), *result = NULL;
  TD_DO(td_atleast(td, 3, &result));
  TD_CHECK_BATCH(result, 1, 4, 3);
  TD_DO(td_atleast(td, 1, &result));
  TD_CHECK_BATCH(result, 4, 3);
  TD_EXPECT_NULL(td_atleast(td, 65, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_atleast(td, (size_t)-1, &result), TD_ERR_INVALID_ARGUMENT, result);
}

/* The lengths along the first dimension of the parts that a split gives. */
static void check_split(const td_tensordict *td, td_split_kind kind, const int64_t *numbers,
                        size_t numbers_len, const int64_t *lengths, size_t parts) {
  td_tensordict *results[8];
  size_t count = 77;
  TD_DO(td_split(td, 0, kind, numbers, numbers_len, NULL, 0, &count));
  TD_CHECK_INT(count, parts);
  TD_DO(td_split(td, 0, kind, numbers, numbers_len, results, 8, &count));
  TD_CHECK_INT(count, parts);
  for (size_t i = 0; i < parts; i++) {
    TD_CHECK_BATCH(results[i], lengths[i], 3);
    td_free(results[i]);
  }
}

TD_TEST(split_cuts_into_parts) {
  td_tensordict *td = td_sample(), *parts[2] = {NULL, NULL}, *again = NULL;
  size_t count = 0;
  check_split(td, TD_SPLIT_LENGTH, TD_SIZES(3), TD_SIZES(3, 1));
  check_split(td, TD_SPLIT_LENGTH, TD_SIZES(9), TD_SIZES(4));
  check_split(td, TD_SPLIT_LENGTHS, TD_SIZES(1, 0, 3), TD_SIZES(1, 0, 3));
  check_split(td, TD_SPLIT_CHUNKS, TD_SIZES(3), TD_SIZES(2, 2));
  check_split(td, TD_SPLIT_CHUNKS, TD_SIZES(9), TD_SIZES(1, 1, 1, 1));
  check_split(td, TD_SPLIT_PARTS, TD_SIZES(3), TD_SIZES(2, 1, 1));
  check_split(td, TD_SPLIT_PARTS, TD_SIZES(6), TD_SIZES(1, 1, 1, 1, 0, 0));
  check_split(td, TD_SPLIT_POSITIONS, TD_SIZES(1, -1), TD_SIZES(1, 2, 1));
  check_split(td, TD_SPLIT_POSITIONS, TD_SIZES(3, 1, 9), TD_SIZES(3, 0, 1, 0));
  check_split(td, TD_SPLIT_POSITIONS, TD_NO_SIZES, TD_SIZES(4));
  td_tensordict *empty = td_empty(TD_SIZES(0, 3));
  check_split(empty, TD_SPLIT_CHUNKS, TD_SIZES(3), TD_SIZES(0, 0, 0));
  check_split(empty, TD_SPLIT_LENGTH, TD_SIZES(3), TD_SIZES(0));
  check_split(empty, TD_SPLIT_LENGTHS, TD_NO_SIZES, TD_NO_SIZES);
  TD_EXPECT(td_split(empty, 0, TD_SPLIT_CHUNKS, TD_SIZES(INT64_MAX), NULL, 0, &count),
            TD_ERR_INVALID_ARGUMENT);
  TD_DO(td_split(td, -1, TD_SPLIT_LENGTH, TD_SIZES(2), parts, 2, &count));
  check_b(parts[1], TD_SIZES(4, 1), TD_VALUES(2, 5, 8, 11));
  TD_DO(td_cat((const td_tensordict *const *)parts, 2, -1, &again));
  TD_CHECK_EQUAL(td, again);
  for (int i = 0; i < 2; i++) td_free(parts[i]);

  parts[0] = TD_POISON;
  TD_EXPECT(td_split(td, 0, TD_SPLIT_LENGTH, TD_SIZES(1), parts, 1, &count),
            TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(count, 4);
  TD_CHECK(parts[0] == NULL);
  TD_EXPECT(td_split(td, 0, TD_SPLIT_LENGTH, TD_SIZES(0), parts, 2, &count),
            TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_split(td, 0, TD_SPLIT_LENGTH, TD_SIZES(1, 1), parts, 2, &count),
            TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_split(td, 0, TD_SPLIT_PARTS, TD_SIZES(INT64_MAX), parts, 2, &count),
            TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_split(td, 0, 5, TD_SIZES(1), parts, 2, &count), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_split(td, 0, TD_SPLIT_LENGTHS, TD_SIZES(1, 2), parts, 2, &count), TD_ERR_SHAPE);
  TD_EXPECT(td_split(td, 0, TD_SPLIT_LENGTHS, TD_SIZES(5, -1), parts, 2, &count), TD_ERR_SHAPE);
  TD_EXPECT(td_split(td, 0, TD_SPLIT_LENGTHS, TD_NO_SIZES, parts, 2, &count), TD_ERR_SHAPE);
  TD_EXPECT(td_split(td, 2, TD_SPLIT_LENGTH, TD_SIZES(1), parts, 2, &count), TD_ERR_INDEX);
}

TD_TEST(memory_is_read_as_another_dtype) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2, 3)));
  TD_DO(td_view_dtype(td, TD_DTYPE_INT32, 0, TD_NO_SIZES, &result));
  TD_CHECK_BATCH(result, 2);
  const double one = 0x3f800000;
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(one, one, one, one, one, one));
  TD_DO(td_view_dtype(td, TD_DTYPE_UINT8, TD_VIEW_DTYPE_HAS_SIZES, TD_SIZES(2, 12), &result));
  TD_CHECK_BATCH(result, 2, 12);
  TD_EXPECT_NULL(
      td_view_dtype(td, TD_DTYPE_UINT8, TD_VIEW_DTYPE_HAS_SIZES, TD_SIZES(2, 3), &result),
      TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_view_dtype(td, TD_DTYPE_FLOAT64, 0, TD_NO_SIZES, &result), TD_ERR_TORCH,
                 result);
  td_put(td, TD_KEY("flat"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  TD_EXPECT_NULL(td_view_dtype(td, TD_DTYPE_UINT8, 0, TD_NO_SIZES, &result), TD_ERR_SHAPE, result);
}

TD_TEST(how_tensors_lie_is_known) {
  td_tensordict *td = td_sample(), *turned = NULL, *dense = NULL;
  TD_CHECK_FLAG(td_is_contiguous, td, 1);
  TD_DO(td_transpose(td, 0, 1, &turned));
  TD_CHECK_FLAG(td_is_contiguous, turned, 0);
  TD_DO(td_contiguous_canonical(turned, &dense));
  TD_CHECK_FLAG(td_is_contiguous, dense, 1);
  check_b(dense, TD_SIZES(3, 4), TD_VALUES(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
  TD_DO(td_narrow(td, 0, 0, 1, &turned));
  TD_DO(td_transpose(turned, 0, 1, &dense)); /* [3, 1]: any stride of the last one is dense */
  TD_DO(td_contiguous_canonical(dense, &turned));
  td_tensor *b = td_take(turned, TD_KEY("n", "b"));
  int64_t strides[2] = {0, 0};
  size_t dims = 0;
  TD_DO(td_tensor_strides(b, strides, 2, &dims));
  TD_CHECK_INT(strides[0], 1);
  TD_CHECK_INT(strides[1], 1);
}

TD_TEST(a_dictionary_takes_over_another) {
  td_tensordict *td = td_sample(), *wide = NULL, *holder = td_empty(TD_NO_SIZES);
  TD_DO(td_reshape(td, TD_SIZES(12), &wide));
  TD_DO(td_become(td, wide));
  TD_CHECK_BATCH(td, 12);
  check_b(td, TD_SIZES(12), TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  TD_DO(td_become(td, td));
  td_put(td, TD_KEY("new"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(12)));
  td_entry_kind kind = -1;
  TD_DO(td_get_kind(wide, TD_KEY("new"), &kind)); /* entries of its own */
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  TD_DO(td_set_dict(holder, TD_KEY("in"), td));
  TD_EXPECT(td_become(td, holder), TD_ERR_CYCLE);
  TD_DO(td_lock(td));
  TD_EXPECT(td_become(td, wide), TD_ERR_LOCKED);
  TD_CHECK_BATCH(td, 12);
}

/* The names of the batch dimensions; "" for none. */
static void check_names(const td_tensordict *td, const char *const *want, size_t count) {
  td_keys *names = NULL;
  TD_DO(td_names(td, &names));
  TD_CHECK_INT(td_keys_len(names), count);
  for (size_t i = 0; i < count; i++) {
    const char *const *path = NULL;
    size_t path_len = 0;
    TD_DO(td_keys_at(names, i, &path, &path_len));
    TD_CHECK_SAME_TEXT(path_len == 0 ? "" : path[0], want[i]);
  }
}
#define CHECK_NAMES(td, ...)                            \
  check_names((td), (const char *const[]){__VA_ARGS__}, \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

TD_TEST(names_of_dimensions_move_with_them) {
  td_tensordict *td = td_sample(), *result = NULL, *parts[3];
  size_t count = 0;
  TD_DO(td_set_names(td, (const char *const[]){"time", "agent"}, 2));
  TD_DO(td_transpose(td, 0, 1, &result));
  CHECK_NAMES(result, "agent", "time");
  TD_DO(td_unflatten(td, 0, TD_SIZES(2, 2), &result));
  CHECK_NAMES(result, "", "", "agent");
  TD_DO(td_unsqueeze(td, 1, &result));
  CHECK_NAMES(result, "time", "", "agent");
  TD_DO(td_view(td, TD_SIZES(3, 4), &result));
  CHECK_NAMES(result, "", "");
  TD_DO(td_flip(td, TD_SIZES(0), &result));
  CHECK_NAMES(result, "time", "agent");
  TD_DO(td_rot90(td, 1, 0, 1, &result));
  CHECK_NAMES(result, "agent", "time");
  TD_DO(td_stack((const td_tensordict *const[]){td, td}, 2, 1, &result));
  CHECK_NAMES(result, "time", "", "agent");
  TD_DO(td_cat((const td_tensordict *const[]){td, td}, 2, 1, &result));
  CHECK_NAMES(result, "time", "agent");
  TD_DO(td_unbind(td, 1, parts, 3, &count));
  CHECK_NAMES(parts[2], "time");
}

TD_TEST(a_deep_tree_is_rearranged_without_recursion) {
  enum { DEPTH = 10000 };
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL, *parts[2];
  size_t count = 0, length = 0;
  int32_t close = 0;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  for (int i = 0; i < DEPTH; i++) {
    td_tensordict *outer = td_empty(TD_SIZES(2));
    td_put_dict(outer, TD_KEY("n"), td);
    td = outer;
  }
  td_tensor *mask = td_mask((const int64_t[]){1, 0}, 2);
  td_tensor *zero = td_filled(TD_DTYPE_INT64, 0, TD_NO_SIZES);
  TD_DO(td_flatten(td, 0, 0, &result));
  TD_DO(td_unflatten(td, 0, TD_SIZES(1, 2), &result));
  TD_DO(td_split(td, 0, TD_SPLIT_LENGTH, TD_SIZES(1), parts, 2, &count));
  TD_DO(td_cat((const td_tensordict *const *)parts, 2, 0, &result));
  TD_DO(td_join_into(result, TD_JOIN_CAT, (const td_tensordict *const *)parts, 2, 0,
                     TD_JOIN_INTO_STRICT));
  TD_DO(td_allclose(td, result, NULL, &close, NULL, 0, &length));
  TD_CHECK_INT(close, 1);
  for (int i = 0; i < 2; i++) td_free(parts[i]);
  TD_DO(td_become(td, result));
  TD_DO(td_flip(td, TD_SIZES(0), &result));
  TD_DO(td_allclose(td, result, NULL, &close, NULL, 0, &length));
  TD_CHECK_INT(close, 0);
  TD_DO(td_pad(td, TD_SIZES(1, 0), 0, &result));
  TD_DO(td_where(td, mask, td, NULL, &result));
  TD_DO(td_masked_fill(td, mask, zero, &result));
  TD_DO(td_like(td, TD_LIKE_ONES, NULL, &result));
  TD_DO(td_pad_sequence((const td_tensordict *const[]){td, td}, 2, NULL, &result));
  TD_DO(td_maybe_dense_stack((const td_tensordict *const[]){td, td}, 2, 0, &result));
}
