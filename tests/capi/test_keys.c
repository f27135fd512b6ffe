/* Lists of keys: order, nesting, sorting, and that they are snapshots. */
#include <stdio.h>
#include <string.h>

#include "td_values.h"

/* The list as one text: names joined with '.', keys with ' ', and T, D or X for the kind. */
static const char *listed(const td_tensordict *td, int32_t nested, int32_t leaves, int32_t sort) {
  static char text[1024];
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  td_keys *keys = NULL;
  text[0] = '\0';
  options.include_nested = nested;
  options.leaves_only = leaves;
  options.sort = sort;
  TD_DO(td_keys_of(td, &options, &keys));
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path = NULL;
    size_t path_len = 0;
    td_entry_kind kind = 99;
    TD_DO(td_keys_at(keys, i, &path, &path_len));
    TD_DO(td_keys_kind_at(keys, i, &kind));
    for (size_t part = 0; part < path_len; part++) {
      if (part > 0 || i > 0) strcat(text, part > 0 ? "." : " ");
      strcat(text, path[part]);
    }
    strcat(text, kind == TD_ENTRY_TENSOR ? ":T" : kind == TD_ENTRY_DICT ? ":D" : ":X");
  }
  td_keys_free(keys);
  return text;
}

static td_tensordict *unordered(void) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("z"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "y"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "b", "c"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  return td;
}

TD_TEST(order_is_that_of_insertion) {
  td_tensordict *td = unordered();
  TD_CHECK_SAME_TEXT(listed(td, 0, 0, 0), "z:T n:D a:T");
  TD_CHECK_SAME_TEXT(listed(td, 0, 1, 0), "z:T a:T");
  TD_CHECK_SAME_TEXT(listed(td, 1, 0, 0), "z:T n:D n.y:T n.b:D n.b.c:T a:T");
  TD_CHECK_SAME_TEXT(listed(td, 1, 1, 0), "z:T n.y:T n.b.c:T a:T");
  TD_CHECK_SAME_TEXT(listed(td, 0, 0, 1), "a:T n:D z:T");
  TD_CHECK_SAME_TEXT(listed(td, 1, 0, 1), "a:T n:D n.b:D n.b.c:T n.y:T z:T");
  td_put(td, TD_KEY("z"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  TD_CHECK_SAME_TEXT(listed(td, 0, 0, 0), "z:T n:D a:T"); /* replacing keeps the place */
  TD_DO(td_remove(td, TD_KEY("z")));
  td_put(td, TD_KEY("z"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  TD_CHECK_SAME_TEXT(listed(td, 0, 0, 0), "n:D a:T z:T");
}

TD_TEST(empty_dictionaries_are_listed_but_are_no_leaves) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  TD_CHECK_SAME_TEXT(listed(td, 1, 0, 0), "");
  td_put_dict(td, TD_KEY("n"), td_empty(TD_SIZES(2)));
  TD_CHECK_SAME_TEXT(listed(td, 1, 0, 0), "n:D");
  TD_CHECK_SAME_TEXT(listed(td, 1, 1, 0), "");
}

TD_TEST(a_list_is_a_snapshot) {
  td_tensordict *td = unordered();
  td_keys *keys = NULL;
  const char *const *path = NULL;
  size_t path_len = 0;
  TD_DO(td_keys_of(td, NULL, &keys));
  TD_DO(td_keys_at(keys, 0, &path, &path_len));
  TD_DO(td_remove(td, TD_KEY("z")));
  TD_CHECK_INT(td_keys_len(keys), 3);
  TD_CHECK_INT(path_len, 1);
  TD_CHECK_SAME_TEXT(path[0], "z");
  td_keys_free(keys);
  TD_CHECK_INT(td_keys_len(keys), 0);
}

TD_TEST(a_pair_of_the_list_is_what_get_takes) {
  td_tensordict *td = unordered();
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  td_keys *keys = NULL;
  options.include_nested = options.leaves_only = 1;
  TD_DO(td_keys_of(td, &options, &keys));
  TD_CHECK_INT(td_keys_len(keys), 4);
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path = NULL;
    size_t path_len = 0;
    TD_DO(td_keys_at(keys, i, &path, &path_len));
    td_tensor *tensor = td_take(td, path, path_len);
    TD_CHECK_SIZES(tensor, 2);
    td_tensor_free(tensor);
  }
}

TD_TEST(positions_outside_the_list) {
  td_tensordict *td = unordered();
  td_keys *keys = NULL;
  const char *const *path = TD_POISON;
  size_t path_len = 0;
  td_entry_kind kind = 99;
  TD_DO(td_keys_of(td, NULL, &keys));
  TD_EXPECT(td_keys_at(keys, 3, &path, &path_len), TD_ERR_INDEX);
  TD_CHECK(path == NULL);
  TD_EXPECT(td_keys_at(keys, SIZE_MAX, &path, &path_len), TD_ERR_INDEX);
  TD_EXPECT(td_keys_kind_at(keys, 3, &kind), TD_ERR_INDEX);
}

enum { MANY = 100000 };

static const char *const *numbered(char prefix, int number) {
  static char name[16];
  static const char *path[1] = {name};
  snprintf(name, sizeof name, "%c%d", prefix, number);
  return path;
}

static td_tensordict *numbered_entries(void) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_tensor *one = td_filled(TD_DTYPE_UINT8, 1, TD_NO_SIZES);
  for (int i = 0; i < MANY; i++) TD_DO(td_set(td, numbered('k', i), 1, one));
  return td;
}

static size_t count_of(const td_tensordict *td) {
  td_keys *keys = NULL;
  TD_DO(td_keys_of(td, NULL, &keys));
  const size_t count = td_keys_len(keys);
  return count;
}

/* Each took time in proportion to the keys that were left. */
TD_TEST(a_hundred_thousand_keys_go_one_by_one) {
  td_tensordict *td = numbered_entries();
  for (int i = 0; i < MANY; i++) {
    TD_DO(td_rename_key(td, numbered('k', i), 1, (const char *const[]){"x"}, 1, 0));
    TD_DO(td_rename_key(td, (const char *const[]){"x"}, 1, numbered('r', i), 1, 0));
  }
  TD_CHECK_INT(count_of(td), MANY);
  for (int i = 0; i < MANY / 2; i++) TD_DO(td_remove(td, numbered('r', i), 1));
  TD_CHECK_INT(count_of(td), MANY / 2);
  for (int i = MANY / 2; i < MANY - 1; i++) {
    td_entry_kind kind = 0;
    td_tensor *tensor = NULL;
    td_tensordict *dict = NULL;
    TD_DO(td_pop(td, numbered('r', i), 1, &kind, &tensor, &dict));
    td_tensor_free(tensor);
  }
  TD_CHECK_INT(count_of(td), 1);
  TD_CHECK_ENTRY(td, numbered('r', MANY - 1), 1, TD_NO_SIZES, TD_VALUES(1));
  TD_EXPECT(td_remove(td, numbered('r', 0), 1), TD_ERR_KEY_NOT_FOUND);
}
