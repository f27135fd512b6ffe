/* Nested names joined into flat ones and taken apart again; several dictionaries merged. */
#include "td_keys_text.h"

static td_status count_calls(void *user, const char *const *path, size_t path_len,
                             td_entry_kind kind, int32_t *is_leaf) {
  int *calls = user;
  (void)path;
  (void)path_len;
  TD_CHECK_INT(kind, TD_ENTRY_DICT);
  ++*calls;
  *is_leaf = 1;
  return TD_OK;
}

static td_status refuse(void *user, const char *const *path, size_t path_len, td_entry_kind kind,
                        int32_t *is_leaf) {
  (void)user;
  (void)path;
  (void)path_len;
  (void)kind;
  (void)is_leaf;
  return -10007;
}

TD_TEST(flattened_and_back) {
  td_tensordict *td = td_nested(0), *flat = NULL, *back = NULL;
  td_tensor *b = td_take(td, TD_KEY("n", "b"));
  TD_DO(td_create_nested(td, TD_KEY("empty")));
  TD_DO(td_lock(td));
  TD_DO(td_flatten_keys(td, ".", NULL, &flat));
  TD_CHECK_KEYS(flat, "a n.b n.c");
  TD_CHECK_BATCH(flat, 3);
  TD_CHECK_FLAG(td_is_locked, flat, 0);
  TD_CHECK(td_holds(flat, TD_KEY("n.b"), b));
  TD_DO(td_unflatten_keys(flat, ".", &back));
  TD_CHECK_KEYS(back, "a n n/b n/c");
  TD_DO(td_unlock(td));
  TD_DO(td_remove(td, TD_KEY("empty")));
  TD_CHECK_EQUAL(td, back);
  td_free(flat);
  TD_DO(td_flatten_keys(td, " -> ", NULL, &flat));
  TD_CHECK_KEYS(flat, "a n -> b n -> c");
}

TD_TEST(flattened_in_place) {
  td_tensordict *td = td_nested(0);
  TD_DO(td_lock(td));
  TD_EXPECT(td_flatten_keys_inplace(td, ".", NULL), TD_ERR_LOCKED);
  TD_EXPECT(td_unflatten_keys_inplace(td, "."), TD_ERR_LOCKED);
  TD_DO(td_unlock(td));
  TD_DO(td_flatten_keys_inplace(td, ".", NULL));
  TD_CHECK_KEYS(td, "a n.b n.c"); /* those of the first level stay */
  TD_DO(td_create_nested(td, TD_KEY("n")));
  td_tensordict *n = td_take_dict(td, TD_KEY("n"));
  TD_DO(td_unflatten_keys_inplace(td, "."));
  TD_CHECK_KEYS(td, "a n n/b n/c");
  TD_CHECK_KEYS(n, "b c"); /* the dictionary that was there took them in */
}

TD_TEST(names_that_would_collide) {
  td_tensordict *td = td_nested(0), *result;
  td_put(td, TD_KEY("n.b"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  TD_EXPECT_NULL(td_flatten_keys(td, ".", NULL, &result), TD_ERR_KEY_EXISTS, result);
  TD_CHECK_TEXT(td_last_error_message(), "\"n.b\"");
  TD_EXPECT_NULL(td_unflatten_keys(td, ".", &result), TD_ERR_KEY_EXISTS, result);
  TD_EXPECT(td_unflatten_keys_inplace(td, "."), TD_ERR_KEY_EXISTS);
  TD_CHECK_KEYS(td, "a n n/b n/c n.b");
  td_put(td, TD_KEY("a.x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  TD_DO(td_remove(td, TD_KEY("n.b")));
  TD_EXPECT_NULL(td_unflatten_keys(td, ".", &result), TD_ERR_KEY_EXISTS,
                 result); /* a is a tensor */
  TD_EXPECT_NULL(td_flatten_keys(td, "", NULL, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_unflatten_keys(td, "\xff", &result), TD_ERR_KEY_INVALID, result);
}

TD_TEST(parts_may_be_empty) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *result = NULL;
  td_put(td, TD_KEY("c."), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  td_put(td, TD_KEY(".d"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  TD_DO(td_unflatten_keys(td, ".", &result));
  TD_CHECK_KEYS(result, "c c/  /d");
}

TD_TEST(dictionaries_may_count_as_leaves) {
  td_tensordict *td = td_nested(0), *result = NULL;
  int calls = 0;
  td_flatten_keys_options options = TD_FLATTEN_KEYS_OPTIONS_INIT;
  options.is_leaf = count_calls;
  options.user = &calls;
  TD_DO(td_flatten_keys(td, ".", &options, &result));
  TD_CHECK_KEYS(result, "a n n/b n/c");
  TD_CHECK_INT(calls, 1);
  options.is_leaf = refuse;
  TD_EXPECT_NULL(td_flatten_keys(td, ".", &options, &result), -10007, result);
}

TD_TEST(ten_thousand_levels) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *flat = NULL, *back = NULL;
  td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_INT8, 1, TD_NO_SIZES));
  for (int i = 0; i < 10000; i++) {
    td_tensordict *outer = td_empty(TD_NO_SIZES);
    td_put_dict(outer, TD_KEY("a"), td);
    td = outer;
  }
  size_t depth = 0;
  TD_DO(td_depth(td, &depth));
  TD_CHECK_INT(depth, 10000);
  TD_DO(td_flatten_keys(td, ".", NULL, &flat));
  TD_DO(td_depth(flat, &depth));
  TD_CHECK_INT(depth, 0);
  TD_DO(td_unflatten_keys(flat, ".", &back));
  TD_CHECK_EQUAL(td, back);
  td_update_options strict = TD_UPDATE_OPTIONS_INIT;
  strict.mode = TD_UPDATE_STRICT;
  TD_DO(td_update(td, back, &strict));
  TD_DO(td_auto_batch_size(td, -1, 0));
  TD_DO(td_remove_empty(td));
}

static td_status last_one(void *user, const td_apply_entry *entry, td_tensor **tensor,
                          td_tensordict **dict) {
  int *calls = user;
  (void)dict;
  ++*calls;
  return td_tensor_dup(entry->tensors[entry->sources_len - 1], tensor);
}

TD_TEST(merged_dictionaries) {
  td_tensordict *one = td_nested(0), *two = td_empty(TD_SIZES(3)), *result = NULL;
  td_put(two, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 50, TD_SIZES(3)));
  td_put(two, TD_KEY("n", "y"), td_arange(TD_DTYPE_FLOAT32, 60, TD_SIZES(3)));
  td_put(two, TD_KEY("m", "z"), td_arange(TD_DTYPE_FLOAT32, 70, TD_SIZES(3)));
  const td_tensordict *both[] = {one, two};
  int calls = 0;
  TD_DO(td_merge(both, 2, NULL, NULL, &result));
  TD_CHECK_KEYS(result, "a n n/b n/c n/y m m/z");
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 1, 2)); /* the first one stays */
  TD_DO(td_merge(both, 2, last_one, &calls, &result));
  TD_CHECK_INT(calls, 1); /* only where all have a tensor */
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(3), TD_VALUES(50, 51, 52));
  TD_CHECK_KEYS(one, "a n n/b n/c");
  TD_EXPECT_NULL(td_merge(both, 1, NULL, NULL, &result), TD_ERR_INVALID_ARGUMENT, result);
  td_put(two, TD_KEY("n"), td_arange(TD_DTYPE_FLOAT32, 60, TD_SIZES(3)));
  TD_EXPECT_NULL(td_merge(both, 2, NULL, NULL, &result), TD_ERR_WRONG_ENTRY, result);
}
