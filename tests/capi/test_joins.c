/* Joins into what is there, of entries, of lazy stacks and of non-tensor values. */
#include "td_values.h"

#define PAIR(first, second) ((const td_tensordict *const[]){(first), (second)}), 2
#define KEYS(...) \
  (const td_key[]){__VA_ARGS__}, sizeof((const td_key[]){__VA_ARGS__}) / sizeof(td_key)

static td_tensordict *small(int64_t first) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(2, 2)));
  return td;
}

static void check_json(const td_tensordict *td, const char *want) {
  char text[128];
  size_t length = 0;
  TD_DO(td_get_non_tensor_json(td, TD_KEY("s"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

TD_TEST(joins_write_into_what_is_there) {
  td_tensordict *one = small(0), *two = small(10), *out = NULL;
  TD_DO(td_like_sized(one, TD_LIKE_ZEROS, TD_SIZES(2, 2), NULL, &out));
  td_put(out, TD_KEY("extra"), td_filled(TD_DTYPE_INT8, 7, TD_SIZES(2, 2)));
  TD_DO(td_lock(out));
  TD_DO(td_join_into(out, TD_JOIN_STACK, PAIR(one, two), 1, 0));
  TD_CHECK_ENTRY(out, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(0, 10, 1, 11));
  TD_CHECK_ENTRY(out, TD_KEY("n", "b"), TD_SIZES(2, 2, 2), TD_VALUES(0, 1, 10, 11, 2, 3, 12, 13));
  TD_CHECK_ENTRY(out, TD_KEY("extra"), TD_SIZES(2, 2), TD_VALUES(7, 7, 7, 7));
  TD_EXPECT(td_join_into(out, TD_JOIN_STACK, PAIR(one, two), 0, TD_JOIN_INTO_STRICT),
            TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_join_into(out, TD_JOIN_CAT, PAIR(one, two), 0, 0), TD_ERR_SHAPE);
  TD_EXPECT(td_join_into(out, TD_JOIN_STACK, PAIR(one, two), 2, 0), TD_ERR_INDEX);
  TD_EXPECT(td_join_into(out, TD_JOIN_STACK, PAIR(one, two), -3, 0), TD_ERR_INDEX);
  TD_EXPECT(td_join_into(out, 2, PAIR(one, two), 0, 0), TD_ERR_INVALID_ARGUMENT);
  TD_DO(td_like_sized(one, TD_LIKE_ZEROS, TD_SIZES(4), NULL, &out));
  TD_DO(td_join_into(out, TD_JOIN_CAT, PAIR(one, two), 0, TD_JOIN_INTO_STRICT));
  TD_CHECK_ENTRY(out, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 1, 10, 11));
  td_put(two, TD_KEY("c"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(out, TD_KEY("c"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  TD_EXPECT(td_join_into(out, TD_JOIN_CAT, PAIR(one, two), 0, 0), TD_ERR_KEY_NOT_FOUND);
  TD_DO(td_remove(out, TD_KEY("c")));
  TD_DO(td_join_into(out, TD_JOIN_CAT, PAIR(two, one), 0, 0));
  TD_CHECK_ENTRY(out, TD_KEY("a"), TD_SIZES(4), TD_VALUES(10, 11, 0, 1));
}

TD_TEST(a_part_of_the_target_may_be_a_source) {
  td_tensordict *out = NULL, *part = NULL, *one = small(0);
  TD_DO(td_stack(PAIR(one, one), 0, &out));
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES);
  TD_DO(td_index(out, TD_AT(TD_I_INT(1)), &part));
  TD_DO(td_fill_at(part, TD_AT(TD_I_ALL), nine));
  TD_DO(td_join_into(out, TD_JOIN_STACK, PAIR(part, one), 0, TD_JOIN_INTO_STRICT));
  TD_CHECK_ENTRY(out, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(9, 9, 0, 1));
}

TD_TEST(joins_into_lazy_stacks_reach_their_elements) {
  td_tensordict *one = small(0), *two = small(10), *first = small(50), *second = small(60);
  td_tensordict *lazy = NULL;
  TD_DO(td_lazy_stack(PAIR(first, second), 0, &lazy));
  TD_DO(td_join_into(lazy, TD_JOIN_STACK, PAIR(one, two), 0, 0));
  TD_CHECK_ENTRY(second, TD_KEY("a"), TD_SIZES(2), TD_VALUES(10, 11));
}

TD_TEST(entries_of_one_dictionary_are_joined) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_entry_kind kind = -1;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "y"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  td_put(td, TD_KEY("wide"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 2)));
  const td_key x = {TD_KEY("x")}, y = {TD_KEY("n", "y")}, wide = {TD_KEY("wide")};
  TD_DO(td_join_entries(td, TD_JOIN_STACK, KEYS(x, y), TD_KEY("xy"), -1, TD_JOIN_ENTRIES_KEEP));
  TD_CHECK_ENTRY(td, TD_KEY("xy"), TD_SIZES(2, 2), TD_VALUES(0, 5, 1, 6));
  TD_EXPECT(
      td_join_entries(td, TD_JOIN_STACK, KEYS(x, wide), TD_KEY("bad"), 0, TD_JOIN_ENTRIES_KEEP),
      TD_ERR_SHAPE);
  TD_EXPECT(td_join_entries(td, TD_JOIN_CAT, KEYS(x, y), TD_KEY("bad"), 0, 0), TD_ERR_SHAPE);
  TD_EXPECT(td_join_entries(td, TD_JOIN_STACK, KEYS(x), TD_KEY("bad"), 2, 0), TD_ERR_INDEX);
  TD_EXPECT(td_join_entries(td, TD_JOIN_STACK, NULL, 0, TD_KEY("bad"), 0, 0),
            TD_ERR_INVALID_ARGUMENT);
  TD_DO(td_get_kind(td, TD_KEY("x"), &kind)); /* nothing has gone */
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
  TD_DO(td_join_entries(td, TD_JOIN_STACK, KEYS(x, y), TD_KEY("x"), 1, 0));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(2, 2), TD_VALUES(0, 5, 1, 6));
  TD_DO(td_get_kind(td, TD_KEY("n", "y"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  TD_DO(td_lock(td));
  TD_EXPECT(td_join_entries(td, TD_JOIN_CAT, KEYS(x), TD_KEY("c"), 0, TD_JOIN_ENTRIES_KEEP),
            TD_ERR_LOCKED);
}

/* A sub-tensordict refuses to replace an entry: then the others have not gone either. */
TD_TEST(entries_that_cannot_be_joined_stay) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *part = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("y"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  const td_key x = {TD_KEY("x")};
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_ALL), &part));
  TD_EXPECT(td_join_entries(part, TD_JOIN_CAT, KEYS(x), TD_KEY("y"), 0, 0), TD_ERR_KEY_EXISTS);
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_CHECK_ENTRY(td, TD_KEY("y"), TD_SIZES(2), TD_VALUES(5, 6));
}

/* A locked dictionary on the way to the result, or around an entry that would go. */
TD_TEST(entries_stay_where_a_nested_dictionary_is_locked) {
  for (int as_part = 0; as_part < 2; as_part++) {
    td_tensordict *td = td_empty(TD_SIZES(2)), *n = td_empty(TD_SIZES(2)), *part = NULL;
    td_put(n, TD_KEY("y"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
    td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
    TD_DO(td_set_dict(td, TD_KEY("n"), n));
    TD_DO(td_lock(n));
    if (as_part) TD_DO(td_sub_tensordict(td, TD_AT(TD_I_ALL), &part));
    td_tensordict *at = as_part ? part : td;
    const td_key x = {TD_KEY("x")}, y = {TD_KEY("n", "y")};
    TD_EXPECT(td_join_entries(at, TD_JOIN_STACK, KEYS(x, x), TD_KEY("n", "z"), 1, 0),
              TD_ERR_LOCKED);
    TD_EXPECT(td_join_entries(at, TD_JOIN_STACK, KEYS(x, y), TD_KEY("xy"), 1, 0), TD_ERR_LOCKED);
    TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(2), TD_VALUES(0, 1));
    TD_CHECK_ENTRY(td, TD_KEY("n", "y"), TD_SIZES(2), TD_VALUES(5, 6));
    td_entry_kind kind = -1;
    TD_DO(td_get_kind(td, TD_KEY("xy"), &kind));
    TD_CHECK_INT(kind, TD_ENTRY_NONE);
  }
}

/* What a sub-tensordict reads as lives only while it is joined. */
TD_TEST(nested_dictionaries_of_sub_tensordicts_are_joined) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *part = NULL, *result = NULL;
  td_put(td, TD_KEY("n", "m", "x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3)));
  td_tensor *rows = td_arange(TD_DTYPE_INT64, 1, TD_SIZES(2));
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(rows)), &part));
  const td_tensordict *both[] = {part, td}, *twice[] = {part, part};
  TD_DO(td_cat(both, 2, 0, &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "m", "x"), TD_SIZES(5), TD_VALUES(1, 2, 0, 1, 2));
  TD_DO(td_stack(twice, 2, 0, &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "m", "x"), TD_SIZES(2, 2), TD_VALUES(1, 2, 1, 2));
}

/* The result may go to a place below an entry that is removed. */
TD_TEST(a_joined_dictionary_takes_its_own_place) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("n", "x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  const td_key n = {TD_KEY("n")};
  TD_DO(td_join_entries(td, TD_JOIN_STACK, KEYS(n), TD_KEY("n", "x"), 1, 0));
  TD_CHECK_ENTRY(td, TD_KEY("n", "x", "x"), TD_SIZES(2, 1), TD_VALUES(0, 1));
}

TD_TEST(all_tensors_become_one) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *bare = td_empty(TD_SIZES(2));
  td_tensor *result = NULL;
  td_put(td, TD_KEY("z"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "y"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  TD_DO(td_join_tensors(td, TD_JOIN_CAT, 0, 0, &result));
  TD_CHECK_VALUES(result, 0, 1, 5, 6);
  TD_DO(td_join_tensors(td, TD_JOIN_STACK, 1, TD_JOIN_TENSORS_SORTED, &result));
  TD_CHECK_VALUES(result, 5, 0, 6, 1);
  TD_EXPECT_NULL(td_join_tensors(td, TD_JOIN_STACK, 2, 0, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_join_tensors(bare, TD_JOIN_CAT, 0, 0, &result), TD_ERR_INVALID_ARGUMENT,
                 result);
}

TD_TEST(values_that_are_no_tensors_are_joined) {
  td_tensordict *one = small(0), *two = small(10), *result = NULL;
  TD_DO(td_set_non_tensor_json(one, TD_KEY("s"), "\"x\""));
  TD_DO(td_set_non_tensor_json(two, TD_KEY("s"), "\"y\""));
  TD_DO(td_stack(PAIR(one, two), 0, &result));
  check_json(result, "[[\"x\", \"x\"], [\"y\", \"y\"]]");
  TD_DO(td_cat(PAIR(one, two), 0, &result));
  check_json(result, "[\"x\", \"x\", \"y\", \"y\"]");
  TD_DO(td_cat(PAIR(one, one), 0, &result));
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES);
  TD_DO(td_fill_at(result, TD_AT(TD_I_ALL), nine));
  TD_DO(td_remove(two, TD_KEY("s")));
  td_put_dict(two, TD_KEY("s"), td_empty(TD_SIZES(2)));
  TD_EXPECT_NULL(td_stack(PAIR(one, two), 0, &result), TD_ERR_WRONG_ENTRY, result);
}

TD_TEST(lazy_stacks_stay_lazy_when_joined) {
  td_tensordict *one = small(0), *two = small(10), *lazy = NULL, *result = NULL;
  td_dict_kind kind = 0;
  TD_DO(td_lazy_stack(PAIR(one, two), 0, &lazy));
  TD_DO(td_stack(PAIR(lazy, lazy), 0, &result));
  TD_DO(td_kind(result, &kind));
  TD_CHECK_INT(kind, TD_DICT_LAZY_STACK);
  TD_CHECK_BATCH(result, 2, 2, 2);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2, 2), TD_VALUES(0, 1, 10, 11, 0, 1, 10, 11));
  TD_DO(td_stack(PAIR(lazy, lazy), 2, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2, 2), TD_VALUES(0, 0, 1, 1, 10, 10, 11, 11));
  TD_DO(td_cat(PAIR(lazy, lazy), 0, &result));
  TD_DO(td_kind(result, &kind));
  TD_CHECK_INT(kind, TD_DICT_LAZY_STACK);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(4, 2), TD_VALUES(0, 1, 10, 11, 0, 1, 10, 11));
  TD_DO(td_cat(PAIR(lazy, lazy), 1, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 4), TD_VALUES(0, 1, 0, 1, 10, 11, 10, 11));
  td_tensordict *dense = NULL;
  TD_DO(td_stack(PAIR(two, one), 0, &dense));
  TD_DO(td_cat(PAIR(lazy, dense), 0, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(4, 2), TD_VALUES(0, 1, 10, 11, 10, 11, 0, 1));
  TD_DO(td_stack(PAIR(lazy, dense), 0, &result));
  TD_CHECK_BATCH(result, 2, 2, 2);
}

TD_TEST(only_what_differs_is_stacked_lazily) {
  td_tensordict *one = small(0), *two = small(10), *result = NULL, *n = NULL;
  td_dict_kind kind = 0;
  TD_DO(td_maybe_dense_stack(PAIR(one, two), 0, &result));
  TD_DO(td_kind(result, &kind));
  TD_CHECK_INT(kind, TD_DICT_DENSE);
  td_put(two, TD_KEY("n", "c"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_EXPECT_NULL(td_stack(PAIR(one, two), 0, &result), TD_ERR_KEY_NOT_FOUND, result);
  TD_DO(td_maybe_dense_stack(PAIR(one, two), 0, &result));
  TD_DO(td_kind(result, &kind));
  TD_CHECK_INT(kind, TD_DICT_DENSE);
  n = td_take_dict(result, TD_KEY("n"));
  TD_DO(td_kind(n, &kind));
  TD_CHECK_INT(kind, TD_DICT_LAZY_STACK);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(0, 1, 10, 11));
  td_put(two, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 5)));
  TD_DO(td_maybe_dense_stack(PAIR(one, two), 0, &result));
  TD_DO(td_kind(result, &kind));
  TD_CHECK_INT(kind, TD_DICT_LAZY_STACK);
  TD_DO(td_unsqueeze(two, 0, &n));
  TD_EXPECT_NULL(td_maybe_dense_stack(PAIR(one, n), 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_maybe_dense_stack(PAIR(one, two), 2, &result), TD_ERR_INDEX, result);
}

TD_TEST(a_stack_of_values_keeps_its_batch_size) {
  td_tensordict *one = td_empty(TD_SIZES(2)), *both = NULL;
  char text[64];
  size_t length = 0;
  TD_DO(td_set_non_tensor_json(one, TD_KEY("s"), "\"x\""));
  TD_DO(td_stack(PAIR(one, one), 0, &both));
  TD_DO(td_set_batch_size(one, TD_NO_SIZES));
  TD_DO(td_get_non_tensor_stack_json(both, TD_KEY("s"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "[[\"x\", \"x\"], [\"x\", \"x\"]]");
}
