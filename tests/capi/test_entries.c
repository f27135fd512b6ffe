/* One entry of a dictionary: written, taken out, renamed, asked about; the orders of the keys. */
#include "td_keys_text.h"

TD_TEST(write_stores_or_writes) {
  td_tensordict *td = td_nested(0);
  td_tensor *a = td_take(td, TD_KEY("a")), *values = td_arange(TD_DTYPE_INT64, 7, TD_SIZES(3));
  TD_DO(td_write_or_set(td, TD_KEY("a"), values));
  TD_CHECK(td_holds(td, TD_KEY("a"), a)); /* the stored tensor keeps its memory and its dtype */
  TD_CHECK_VALUES(a, 7, 8, 9);
  TD_DO(td_write_or_set(td, TD_KEY("m", "new"), values));
  TD_CHECK(td_holds(td, TD_KEY("m", "new"), values));
  TD_DO(td_lock(td));
  TD_DO(td_write_or_set(td, TD_KEY("a"), values));
  TD_EXPECT(td_write_or_set(td, TD_KEY("other"), values), TD_ERR_LOCKED);
  TD_EXPECT(td_write_or_set(td, TD_KEY("n"), values), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_write_or_set(td, TD_KEY("a", "x"), values), TD_ERR_KEY_EXISTS);
}

TD_TEST(an_entry_is_filled) {
  td_tensordict *td = td_nested(0);
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES);
  TD_DO(td_lock(td));
  TD_DO(td_fill_entry(td, TD_KEY("a"), nine));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(9, 9, 9));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(10, 11, 12));
  TD_DO(td_fill_entry(td, TD_KEY("n"), nine)); /* all tensors in it */
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(9, 9, 9));
  TD_CHECK_ENTRY(td, TD_KEY("n", "c"), TD_SIZES(3, 2), TD_VALUES(9, 9, 9, 9, 9, 9));
  TD_EXPECT(td_fill_entry(td, TD_KEY("zz"), nine), TD_ERR_KEY_NOT_FOUND);
}

TD_TEST(a_part_of_one_entry) {
  td_tensordict *td = td_nested(0);
  td_tensor *part = NULL, *value = td_filled(TD_DTYPE_FLOAT32, 5, TD_NO_SIZES);
  TD_DO(td_get_entry_at(td, TD_KEY("n", "c"), TD_AT(TD_I_ALL, TD_I_INT(1)),
                        &part)); /* beyond the batch */
  TD_CHECK_VALUES(part, 21, 23, 25);
  TD_DO(td_lock(td));
  TD_DO(td_set_entry_at(td, TD_KEY("n", "c"), TD_AT(TD_I_ALL, TD_I_INT(1)), value));
  TD_CHECK_ENTRY(td, TD_KEY("n", "c"), TD_SIZES(3, 2), TD_VALUES(20, 5, 22, 5, 24, 5));
  TD_EXPECT_NULL(td_get_entry_at(td, TD_KEY("zz"), TD_AT(TD_I_INT(0)), &part), TD_ERR_KEY_NOT_FOUND,
                 part);
  TD_EXPECT_NULL(td_get_entry_at(td, TD_KEY("n"), TD_AT(TD_I_INT(0)), &part), TD_ERR_WRONG_ENTRY,
                 part);
  TD_EXPECT_NULL(td_get_entry_at(td, TD_KEY("a"), TD_AT(TD_I_INT(3)), &part), TD_ERR_INDEX, part);
  TD_EXPECT(td_set_entry_at(td, TD_KEY("zz"), TD_AT(TD_I_INT(0)), value), TD_ERR_KEY_NOT_FOUND);
  td_tensor *three = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3));
  TD_EXPECT(td_set_entry_at(td, TD_KEY("a"), TD_AT(TD_I_INT(0)), three), TD_ERR_SHAPE);
}

TD_TEST(get_or_set_looks_first) {
  td_tensordict *td = td_nested(0);
  td_tensor *value = td_arange(TD_DTYPE_FLOAT32, 70, TD_SIZES(3)), *got = NULL;
  td_tensor *unfit = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4));
  TD_DO(td_get_or_set(td, TD_KEY("a"), unfit, &got)); /* not looked at: something is there */
  TD_CHECK_VALUES(got, 0, 1, 2);
  TD_DO(td_get_or_set(td, TD_KEY("m", "x"), value, &got));
  TD_CHECK(td_same_memory(got, value));
  TD_CHECK(td_holds(td, TD_KEY("m", "x"), value));
  TD_EXPECT_NULL(td_get_or_set(td, TD_KEY("zz"), unfit, &got), TD_ERR_SHAPE, got);
  TD_EXPECT_NULL(td_get_or_set(td, TD_KEY("n"), value, &got), TD_ERR_WRONG_ENTRY, got);
  TD_DO(td_lock(td));
  TD_EXPECT_NULL(td_get_or_set(td, TD_KEY("zz"), value, &got), TD_ERR_LOCKED, got);
}

TD_TEST(get_or_set_where_entries_are_read) {
  td_tensordict *stack = NULL, *part = NULL;
  td_tensor *got = NULL, *value = td_arange(TD_DTYPE_FLOAT32, 70, TD_SIZES(2, 3));
  const td_tensordict *const both[] = {td_nested(0), td_nested(0)};
  TD_DO(td_lazy_stack(both, 2, 0, &stack));
  TD_DO(td_get_or_set(stack, TD_KEY("n", "x", "y"), value, &got));
  TD_CHECK_VALUES(got, 70, 71, 72, 73, 74, 75);
  TD_CHECK_ENTRY(both[1], TD_KEY("n", "x", "y"), TD_SIZES(3), TD_VALUES(73, 74, 75));
  TD_DO(td_lock(stack));
  TD_EXPECT_NULL(td_get_or_set(stack, TD_KEY("zz"), value, &got), TD_ERR_LOCKED, got);

  td_tensordict *td = td_nested(0);
  td_tensor *two = td_arange(TD_DTYPE_FLOAT32, 8, TD_SIZES(2));
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_SLICE(1, 3)), &part));
  TD_DO(td_get_or_set(part, TD_KEY("n", "x"), two, &got));
  TD_CHECK_VALUES(got, 8, 9);
  TD_CHECK_ENTRY(td, TD_KEY("n", "x"), TD_SIZES(3), TD_VALUES(0, 8, 9));
  td_tensor *one = td_filled(TD_DTYPE_FLOAT32, 1, TD_NO_SIZES);
  TD_DO(td_tensor_set_at(got, TD_AT(TD_I_ALL), one)); /* a view of what the parent holds */
  TD_CHECK_ENTRY(td, TD_KEY("n", "x"), TD_SIZES(3), TD_VALUES(0, 1, 1));
  TD_DO(td_lock(td));
  TD_EXPECT_NULL(td_get_or_set(part, TD_KEY("zz"), two, &got), TD_ERR_LOCKED, got);
}

TD_TEST(popped_entries) {
  td_tensordict *td = td_nested(0), *dict = NULL;
  td_tensor *tensor = NULL, *b = td_take(td, TD_KEY("n", "b"));
  td_entry_kind kind = 99;
  TD_DO(td_pop(td, TD_KEY("n", "b"), &kind, &tensor, &dict));
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
  TD_CHECK(dict == NULL && td_same_memory(tensor, b));
  TD_CHECK_KEYS(td, "a n n/c");
  TD_DO(td_pop(td, TD_KEY("n"), &kind, &tensor, &dict));
  TD_CHECK_INT(kind, TD_ENTRY_DICT);
  TD_CHECK(tensor == NULL);
  TD_CHECK_KEYS(dict, "c");
  TD_CHECK_KEYS(td, "a");
  tensor = TD_POISON;
  TD_EXPECT_NULL(td_pop(td, TD_KEY("n"), &kind, &tensor, &dict), TD_ERR_KEY_NOT_FOUND, dict);
  TD_CHECK(tensor == NULL);
  TD_EXPECT_NULL(td_pop(td, TD_KEY("a", "x"), &kind, &tensor, &dict), TD_ERR_WRONG_ENTRY, dict);
  TD_DO(td_lock(td));
  TD_EXPECT_NULL(td_pop(td, TD_KEY("a"), &kind, &tensor, &dict), TD_ERR_LOCKED, dict);
  TD_CHECK(tensor == NULL); /* and no handle is left: the test ends with that check */
}

TD_TEST(a_popped_value_comes_in_a_dictionary) {
  td_tensordict *td = td_nested(0), *dict = NULL;
  td_tensor *tensor = NULL;
  td_keys *key = NULL;
  td_entry_kind kind = 99;
  char text[32];
  size_t length = 0;
  TD_DO(td_set_non_tensor_json(td, TD_KEY("n", "s"), "\"text\""));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("z"), "[1]"));
  TD_DO(td_pop(td, TD_KEY("n", "s"), &kind, &tensor, &dict));
  TD_CHECK_INT(kind, TD_ENTRY_NON_TENSOR);
  TD_CHECK(tensor == NULL);
  TD_DO(td_get_non_tensor_json(dict, TD_KEY("s"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "\"text\"");
  TD_DO(td_pop_last(td, &key, &tensor, &dict));
  TD_DO(td_get_non_tensor_json(dict, TD_KEY("z"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "[1]");
  TD_CHECK_KEYS(td, "a n n/b n/c");
}

TD_TEST(the_last_entry_is_popped) {
  td_tensordict *td = td_nested(0), *dict = NULL;
  td_tensor *tensor = NULL;
  td_keys *key = NULL;
  td_entry_kind kind = 99;
  const char *const *path = NULL;
  size_t path_len = 0;
  TD_DO(td_pop_last(td, &key, &tensor, &dict));
  TD_CHECK_INT(td_keys_len(key), 1);
  TD_DO(td_keys_at(key, 0, &path, &path_len));
  TD_CHECK_SAME_TEXT(path[0], "n");
  TD_DO(td_keys_kind_at(key, 0, &kind));
  TD_CHECK_INT(kind, TD_ENTRY_DICT);
  TD_CHECK_KEYS(dict, "b c");
  td_keys_free(key);
  TD_DO(td_lock(td));
  TD_EXPECT_NULL(td_pop_last(td, &key, &tensor, &dict), TD_ERR_LOCKED, key);
  TD_CHECK(tensor == NULL && dict == NULL);
  TD_DO(td_unlock(td));
  TD_DO(td_pop_last(td, &key, &tensor, &dict));
  TD_CHECK_VALUES(tensor, 0, 1, 2);
  TD_EXPECT_NULL(td_pop_last(td, &key, &tensor, &dict), TD_ERR_KEY_NOT_FOUND, key);
}

TD_TEST(nested_dictionaries_are_made_and_cleared) {
  td_tensordict *td = td_nested(0), *n = NULL;
  TD_DO(td_create_nested(td, TD_KEY("x", "y")));
  n = td_take_dict(td, TD_KEY("x", "y"));
  TD_CHECK_BATCH(n, 3);
  td_free(n);
  TD_DO(td_create_nested(td, TD_KEY("n"))); /* replaces what was there */
  TD_CHECK_KEYS(td, "a n x x/y");
  TD_EXPECT(td_create_nested(td, TD_KEY("a", "x")), TD_ERR_KEY_EXISTS);
  TD_DO(td_lock(td));
  TD_EXPECT(td_create_nested(td, TD_KEY("z")), TD_ERR_LOCKED);
  TD_EXPECT(td_clear(td), TD_ERR_LOCKED);
  TD_EXPECT(td_remove_empty(td), TD_ERR_LOCKED);
  TD_DO(td_unlock(td));
  TD_DO(td_remove_empty(td));
  TD_CHECK_KEYS(td, "a");
  TD_DO(td_clear(td));
  TD_CHECK_KEYS(td, "");
  TD_CHECK_BATCH(td, 3);
}

TD_TEST(entries_are_renamed) {
  td_tensordict *td = td_nested(0);
  td_tensor *a = td_take(td, TD_KEY("a"));
  TD_DO(td_rename_key(td, TD_KEY("a"), TD_KEY("n", "z"), 0));
  TD_CHECK_KEYS(td, "n n/b n/c n/z");
  TD_CHECK(td_holds(td, TD_KEY("n", "z"), a));
  TD_DO(td_rename_key(td, TD_KEY("n", "b"), TD_KEY("x", "y"),
                      TD_RENAME_KEY_SAFE)); /* makes what is missing */
  TD_CHECK_KEYS(td, "n n/c n/z x x/y");
  TD_DO(td_rename_key(td, TD_KEY("n", "c"), TD_KEY("n", "d"), 0)); /* moves to the end */
  TD_CHECK_KEYS(td, "n n/z n/d x x/y");
  TD_DO(td_rename_key(td, TD_KEY("n", "z"), TD_KEY("n", "z"),
                      TD_RENAME_KEY_SAFE)); /* itself: stays where it is */
  TD_CHECK_KEYS(td, "n n/z n/d x x/y");
  TD_EXPECT(td_rename_key(td, TD_KEY("n", "z"), TD_KEY("n", "d"), TD_RENAME_KEY_SAFE),
            TD_ERR_KEY_EXISTS);
  TD_DO(td_rename_key(td, TD_KEY("n", "z"), TD_KEY("n", "d"), 0));
  TD_CHECK_KEYS(td, "n n/d x x/y");
  TD_CHECK(td_holds(td, TD_KEY("n", "d"), a));
  TD_DO(
      td_rename_key(td, TD_KEY("n", "d"), TD_KEY("n"), 0)); /* a dictionary replaced by its child */
  TD_CHECK_KEYS(td, "n x x/y");
  TD_CHECK(td_holds(td, TD_KEY("n"), a));
}

TD_TEST(renaming_that_fails_changes_nothing) {
  td_tensordict *td = td_nested(0), *n = td_take_dict(td, TD_KEY("n"));
  TD_EXPECT(td_rename_key(td, TD_KEY("zz"), TD_KEY("y"), 0), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_rename_key(td, TD_KEY("zz"), TD_KEY("zz"), 0), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_rename_key(td, TD_KEY("n"), TD_KEY("n", "x"), 0), TD_ERR_CYCLE);
  TD_EXPECT(td_rename_key(td, TD_KEY("n", "b"), TD_KEY("a", "x"), 0), TD_ERR_KEY_EXISTS);
  TD_EXPECT(td_rename_key(td, TD_KEY("a", "b"), TD_KEY("y"), 0), TD_ERR_WRONG_ENTRY);
  TD_DO(td_lock(n));
  TD_EXPECT(td_rename_key(td, TD_KEY("n", "b"), TD_KEY("y"), 0), TD_ERR_LOCKED);
  TD_EXPECT(td_rename_key(td, TD_KEY("a"), TD_KEY("n", "y"), 0), TD_ERR_LOCKED);
  TD_CHECK_KEYS(td, "a n n/b n/c");
}

TD_TEST(lazy_stacks_are_edited_element_by_element) {
  td_tensordict *one = td_nested(0), *two = td_nested(100), *lazy = NULL;
  const td_tensordict *both[] = {one, two};
  TD_DO(td_lazy_stack(both, 2, 0, &lazy));
  TD_DO(td_rename_key(lazy, TD_KEY("a"), TD_KEY("n", "z"), 0));
  TD_CHECK_KEYS(two, "n n/b n/c n/z");
  TD_CHECK_ENTRY(two, TD_KEY("n", "z"), TD_SIZES(3), TD_VALUES(100, 101, 102));
  TD_DO(td_clear(lazy));
  TD_CHECK_KEYS(one, "");
}

TD_TEST(skeletons) {
  td_tensordict *td = td_nested(0), *result = NULL;
  TD_DO(td_create_nested(td, TD_KEY("n", "deep")));
  TD_DO(td_lock(td));
  TD_DO(td_empty_like(td, 0, &result));
  TD_CHECK_KEYS(result, "");
  TD_CHECK_BATCH(result, 3);
  TD_CHECK_FLAG(td_is_locked, result, 0);
  TD_DO(td_empty_like(td, TD_EMPTY_LIKE_RECURSE, &result));
  TD_CHECK_KEYS(result, "n n/deep");
}

TD_TEST(values_that_are_no_tensors_are_left_out) {
  td_tensordict *td = td_nested(0), *result = NULL;
  TD_DO(td_set_non_tensor_json(td, TD_KEY("n", "s"), "\"text\""));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("only", "s"), "\"text\""));
  TD_DO(td_filter_non_tensor(td, &result));
  TD_CHECK_KEYS(result, "a n n/b n/c only"); /* dictionaries stay, empty or not */
  TD_DO(td_remove_empty(td));
  TD_CHECK_KEYS(td, "a n n/b n/c n/s only only/s"); /* a value is content */
}

static td_status nothing_but_n(void *user, const char *const *path, size_t path_len,
                               td_entry_kind kind, int32_t *is_leaf) {
  (void)user;
  *is_leaf = kind == TD_ENTRY_DICT && strcmp(path[path_len - 1], "n") == 0;
  return TD_OK;
}

static td_status fail(void *user, const char *const *path, size_t path_len, td_entry_kind kind,
                      int32_t *is_leaf) {
  (void)path;
  (void)path_len;
  (void)kind;
  (void)is_leaf;
  return *(const td_status *)user;
}

TD_TEST(keys_in_several_orders) {
  td_tensordict *td = td_nested(0);
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  td_keys *keys;
  td_put(td, TD_KEY("Z"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("s"), "\"text\""));
  options.include_nested = 1;
  TD_CHECK_SAME_TEXT(td_keys_text(td, &options), "a n n/b n/c Z s");
  options.contents_first = 1;
  TD_CHECK_SAME_TEXT(td_keys_text(td, &options), "a n/b n/c n Z s");
  options.sort = 1;
  TD_CHECK_SAME_TEXT(td_keys_text(td, &options), "Z a n n/b n/c s");
  options.leaves_only = 1;
  TD_CHECK_SAME_TEXT(td_keys_text(td, &options), "Z a n/b n/c");
  options.include_non_tensor = 1;
  TD_CHECK_SAME_TEXT(td_keys_text(td, &options), "Z a n/b n/c s");
  options.is_leaf = nothing_but_n;
  TD_CHECK_SAME_TEXT(td_keys_text(td, &options), "Z a n");
  options.sort = 0;
  options.leaves_only = 0;
  TD_CHECK_SAME_TEXT(td_keys_text(td, &options),
                     "a n Z s"); /* what is a leaf is not descended into */
  td_status status = -10001;
  options.is_leaf = fail;
  options.user = &status;
  TD_EXPECT_NULL(td_keys_of(td, &options, &keys), -10001, keys);
  status = 5;
  TD_EXPECT_NULL(td_keys_of(td, &options, &keys), TD_ERR_CALLBACK, keys);
  options.struct_size = 16; /* a client that knows only the first four fields */
  options.include_nested = 0;
  TD_CHECK_SAME_TEXT(td_keys_text(td, &options), "a n Z s");
}

TD_TEST(the_sizes_of_an_entry) {
  td_tensordict *td = td_nested(0);
  int64_t sizes[4] = {0};
  size_t dims = 9;
  TD_DO(td_get_sizes(td, TD_KEY("n", "c"), sizes, 4, &dims));
  TD_CHECK(dims == 2 && sizes[0] == 3 && sizes[1] == 2);
  TD_DO(td_get_sizes(td, TD_KEY("n"), sizes, 4, &dims));
  TD_CHECK(dims == 1 && sizes[0] == 3);
  TD_EXPECT(td_get_sizes(td, TD_KEY("n", "c"), sizes, 1, &dims), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(dims, 2);
  TD_EXPECT(td_get_sizes(td, TD_KEY("zz"), sizes, 4, &dims), TD_ERR_KEY_NOT_FOUND);
  size_t depth = 9;
  TD_DO(td_depth(td, &depth));
  TD_CHECK_INT(depth, 1);
}

TD_TEST(the_batch_size_that_all_begin_with) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *n = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3, 4, 5)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3, 4, 6, 7)));
  TD_DO(td_create_nested(td, TD_KEY("empty"))); /* does not limit */
  TD_DO(td_set_non_tensor_json(td, TD_KEY("s"), "1"));
  TD_DO(td_lock(td));
  TD_DO(td_auto_batch_size(td, -1, 0));
  TD_CHECK_BATCH(td, 3, 4);
  n = td_take_dict(td, TD_KEY("n"));
  TD_CHECK_BATCH(n, 3, 4, 6, 7);
  n = td_take_dict(td, TD_KEY("empty"));
  TD_CHECK_BATCH(n, 3, 4);
  TD_DO(td_auto_batch_size(td, 1, TD_AUTO_BATCH_SIZE_KEEP_COMPLIANT));
  TD_CHECK_BATCH(td, 3);
  n = td_take_dict(td, TD_KEY("n"));
  TD_CHECK_BATCH(n, 3, 4, 6, 7); /* has that many already */
  TD_DO(td_auto_batch_size(td, 1, 0));
  TD_CHECK_BATCH(n, 3);
  td = td_empty(TD_SIZES(3, 4)); /* without entries: only cut */
  TD_DO(td_auto_batch_size(td, -1, 0));
  TD_CHECK_BATCH(td, 3, 4);
  TD_DO(td_auto_batch_size(td, 1, 0));
  TD_CHECK_BATCH(td, 3);
}
