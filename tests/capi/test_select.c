/* A part of the keys: selected, excluded, split. */
#include <stdlib.h>

#include "td_keys_text.h"

static const td_select_options lenient = {(uint32_t)sizeof lenient, 1};

#define KEYS(...) \
  (const td_key[]){__VA_ARGS__}, (sizeof((const td_key[]){__VA_ARGS__}) / sizeof(td_key))

TD_TEST(selected_keys_in_their_order) {
  td_tensordict *td = td_nested(0), *result = NULL;
  td_tensor *b = td_take(td, TD_KEY("n", "b"));
  TD_DO(td_lock(td));
  TD_DO(td_select(td, KEYS({TD_KEY("n", "b")}, {TD_KEY("a")}), NULL, &result));
  TD_CHECK_KEYS(result, "n n/b a");
  TD_CHECK_BATCH(result, 3);
  TD_CHECK_FLAG(td_is_locked, result, 0);
  TD_CHECK(td_holds(result, TD_KEY("n", "b"), b)); /* tensors are shared, dictionaries are not */
  td_put(result, TD_KEY("n", "new"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  TD_CHECK_KEYS(td, "a n n/b n/c");
  td_free(result);
  TD_DO(td_select(td, KEYS({TD_KEY("n")}), NULL, &result));
  TD_CHECK_KEYS(result, "n n/b n/c");
  td_put(result, TD_KEY("n", "new"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  TD_CHECK_KEYS(td, "a n n/b n/c");
  td_free(result);
  TD_DO(td_select(td, NULL, 0, NULL, &result));
  TD_CHECK_KEYS(result, "");
  TD_CHECK_BATCH(result, 3);
}

TD_TEST(the_narrower_key_counts) {
  td_tensordict *td = td_nested(0), *result = NULL;
  TD_DO(td_select(td, KEYS({TD_KEY("n")}, {TD_KEY("n", "b")}), NULL, &result));
  TD_CHECK_KEYS(result, "n n/b");
  TD_DO(td_select(td, KEYS({TD_KEY("n", "c")}, {TD_KEY("n")}, {TD_KEY("n", "c")}), NULL, &result));
  TD_CHECK_KEYS(result, "n n/c");
  TD_DO(td_exclude(td, KEYS({TD_KEY("n")}, {TD_KEY("n", "b")}), NULL, &result));
  TD_CHECK_KEYS(result, "a");
}

TD_TEST(what_is_missing_is_named) {
  td_tensordict *td = td_nested(0), *result;
  TD_EXPECT_NULL(td_select(td, KEYS({TD_KEY("a")}, {TD_KEY("zz")}), NULL, &result),
                 TD_ERR_KEY_NOT_FOUND, result);
  TD_CHECK_TEXT(td_last_error_message(), "\"zz\"");
  TD_EXPECT_NULL(td_select(td, KEYS({TD_KEY("n", "zz")}), NULL, &result), TD_ERR_KEY_NOT_FOUND,
                 result);
  TD_CHECK_TEXT(td_last_error_message(), "\"n\"/\"zz\"");
  TD_CHECK_TEXT(td_last_error_message(), "\"b\", \"c\"");
  TD_EXPECT_NULL(td_select(td, KEYS({TD_KEY("a", "b")}), NULL, &result), TD_ERR_WRONG_ENTRY,
                 result);
  TD_DO(td_select(td, KEYS({TD_KEY("zz")}, {TD_KEY("n", "zz")}, {TD_KEY("a")}, {TD_KEY("a", "b")}),
                  &lenient, &result));
  TD_CHECK_KEYS(result, "n");
}

TD_TEST(excluded_keys) {
  td_tensordict *td = td_nested(0), *result = NULL;
  TD_DO(td_exclude(td, KEYS({TD_KEY("a")}, {TD_KEY("n", "b")}, {TD_KEY("zz")}, {TD_KEY("a", "b")}),
                   NULL, &result));
  TD_CHECK_KEYS(result, "n n/c");
  TD_DO(td_exclude(td, KEYS({TD_KEY("n", "b")}, {TD_KEY("n", "c")}), NULL, &result));
  TD_CHECK_KEYS(result, "a n"); /* it stays, empty */
  td_put(result, TD_KEY("n", "d"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  TD_CHECK_KEYS(td, "a n n/b n/c");
}

TD_TEST(in_place_the_dictionary_itself_changes) {
  td_tensordict *td = td_nested(0), *n = td_take_dict(td, TD_KEY("n"));
  TD_DO(td_lock(td));
  TD_EXPECT(td_exclude_inplace(td, KEYS({TD_KEY("a")}), NULL), TD_ERR_LOCKED);
  TD_EXPECT(td_select_inplace(td, KEYS({TD_KEY("a")}), NULL), TD_ERR_LOCKED);
  TD_DO(td_unlock(td));
  TD_DO(td_lock(n));
  TD_EXPECT(td_exclude_inplace(td, KEYS({TD_KEY("a")}, {TD_KEY("n", "b")}), NULL), TD_ERR_LOCKED);
  TD_CHECK_KEYS(td, "a n n/b n/c");
  TD_DO(td_unlock(n));
  TD_EXPECT(td_select_inplace(td, KEYS({TD_KEY("n", "b")}, {TD_KEY("zz")}), NULL),
            TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_KEYS(td, "a n n/b n/c");
  TD_DO(td_exclude_inplace(td, KEYS({TD_KEY("n", "b")}), NULL));
  TD_CHECK_KEYS(td, "a n n/c");
  TD_CHECK_KEYS(n, "c"); /* the same nested dictionary as before */
  TD_DO(td_select_inplace(td, KEYS({TD_KEY("n", "c")}), NULL));
  TD_CHECK_KEYS(td, "n n/c");
}

TD_TEST(split_into_several_and_the_rest) {
  td_tensordict *td = td_nested(0), *parts[3];
  const td_key first[] = {{TD_KEY("a")}}, second[] = {{TD_KEY("n", "b")}};
  const td_key_set sets[] = {{first, NULL, 1}, {second, NULL, 1}};
  size_t count = 0;
  TD_DO(td_split_keys(td, sets, 2, NULL, NULL, 0, &count));
  TD_CHECK_INT(count, 3);
  TD_EXPECT(td_split_keys(td, sets, 2, NULL, parts, 2, &count), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK(parts[0] == NULL && parts[1] == NULL);
  TD_DO(td_split_keys(td, sets, 2, NULL, parts, 3, &count));
  TD_CHECK_KEYS(parts[0], "a");
  TD_CHECK_KEYS(parts[1], "n n/b");
  TD_CHECK_KEYS(parts[2], "n n/c");
  TD_CHECK_KEYS(td, "a n n/b n/c");
}

TD_TEST(split_with_other_names_and_structure) {
  td_tensordict *td = td_nested(0), *parts[2];
  const td_key keys[] = {{TD_KEY("a")}, {TD_KEY("n", "b")}, {TD_KEY("zz")}};
  const td_key names[] = {{TD_KEY("m", "x")}, {TD_KEY("y")}, {TD_KEY("z")}};
  td_key_set set = {keys, names, 2};
  size_t count = 0;
  TD_DO(td_split_keys(td, &set, 1, NULL, parts, 2, &count));
  TD_CHECK_KEYS(parts[0], "m m/x y");
  TD_CHECK_KEYS(parts[1], "n n/c");
  TD_CHECK_ENTRY(parts[0], TD_KEY("m", "x"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  td_free(parts[0]);
  td_free(parts[1]);
  set.keys_len = 3;
  TD_EXPECT(td_split_keys(td, &set, 1, NULL, parts, 2, &count), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK(parts[0] == NULL && parts[1] == NULL);
  td_split_keys_options options = TD_SPLIT_KEYS_OPTIONS_INIT;
  options.ignore_missing = 1;
  options.keep_structure = 1;
  set.names = NULL;
  set.keys_len = 1;
  TD_DO(td_split_keys(td, &set, 1, &options, parts, 2, &count));
  TD_CHECK_KEYS(parts[0], "n a"); /* "n" is empty */
  TD_CHECK_KEYS(parts[1], "n n/b n/c");
}

TD_TEST(split_in_place_takes_entries_out) {
  td_tensordict *td = td_nested(0), *parts[2];
  const td_key keys[] = {{TD_KEY("n", "b")}, {TD_KEY("n", "c")}};
  const td_key_set set = {keys, NULL, 2};
  td_split_keys_options options = TD_SPLIT_KEYS_OPTIONS_INIT;
  size_t count = 0;
  TD_DO(td_lock(td));
  TD_EXPECT(td_split_keys_inplace(td, &set, 1, &options, parts, 2, &count), TD_ERR_LOCKED);
  TD_DO(td_unlock(td));
  TD_DO(td_split_keys_inplace(td, &set, 1, &options, NULL, 0, &count));
  TD_CHECK_KEYS(td, "a n n/b n/c"); /* only asked how many there will be */
  TD_DO(td_split_keys_inplace(td, &set, 1, &options, parts, 2, &count));
  TD_CHECK_KEYS(parts[0], "n n/b n/c");
  TD_CHECK_KEYS(td, "a"); /* what was emptied is gone */
  TD_CHECK(td_is_same_dict(td, parts[1]));
  td_free(parts[0]);
  td_free(parts[1]);
  td_free(td);
  td = td_nested(0);
  options.keep_emptied = 1;
  TD_DO(td_split_keys_inplace(td, &set, 1, &options, parts, 2, &count));
  TD_CHECK_KEYS(td, "a n");
}

TD_TEST(lazy_stacks_stay_lazy) {
  td_tensordict *one = td_nested(0), *two = td_nested(100), *lazy = NULL, *result = NULL;
  const td_tensordict *both[] = {one, two};
  td_put(two, TD_KEY("only"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  TD_DO(td_lazy_stack(both, 2, 0, &lazy));
  TD_DO(td_select(lazy, KEYS({TD_KEY("n", "b")}), NULL, &result));
  TD_CHECK_BATCH(result, 2, 3);
  TD_CHECK_KEYS(result, "n n/b");
  TD_EXPECT_NULL(td_select(lazy, KEYS({TD_KEY("only")}), NULL, &result), TD_ERR_KEY_NOT_FOUND,
                 result);
  TD_DO(td_exclude_inplace(lazy, KEYS({TD_KEY("a")}), NULL));
  TD_CHECK_KEYS(one, "n n/b n/c");
  TD_CHECK_KEYS(two, "n n/b n/c only");
}

/* A million names, taken away at once: one pass, not one for each. */
TD_TEST(a_million_keys_are_excluded_at_once) {
  enum { names = 1000000, letters = 8 };
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_tensor *zero = td_filled(TD_DTYPE_INT8, 0, TD_NO_SIZES);
  char(*text)[letters] = malloc((size_t)names * letters);
  const char **pointers = malloc(names * sizeof *pointers);
  td_key *keys = malloc(names * sizeof *keys);
  TD_CHECK(text != NULL && pointers != NULL && keys != NULL);
  for (int i = 0; i < names; i++) {
    snprintf(text[i], letters, "%d", i);
    pointers[i] = text[i];
    keys[i].path = pointers + i;
    keys[i].path_len = 1;
    TD_DO(td_set(td, pointers + i, 1, zero));
  }
  TD_DO(td_exclude_inplace(td, keys + 1, names - 2, NULL));
  TD_CHECK_KEYS(td, "0 999999");
  free(keys);
  free(pointers);
  free(text);
}
