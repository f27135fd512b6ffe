/* Lists of keys: order, nesting, sorting, and that they are snapshots. */
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
  td_free(td);
}

TD_TEST(empty_dictionaries_are_listed_but_are_no_leaves) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  TD_CHECK_SAME_TEXT(listed(td, 1, 0, 0), "");
  td_put_dict(td, TD_KEY("n"), td_empty(TD_SIZES(2)));
  TD_CHECK_SAME_TEXT(listed(td, 1, 0, 0), "n:D");
  TD_CHECK_SAME_TEXT(listed(td, 1, 1, 0), "");
  td_free(td);
}

TD_TEST(a_list_is_a_snapshot) {
  td_tensordict *td = unordered();
  td_keys *keys = NULL;
  const char *const *path = NULL;
  size_t path_len = 0;
  TD_DO(td_keys_of(td, NULL, &keys));
  TD_DO(td_keys_at(keys, 0, &path, &path_len));
  TD_DO(td_remove(td, TD_KEY("z")));
  td_free(td);
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
  td_keys_free(keys);
  td_free(td);
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
  td_keys_free(keys);
  td_free(td);
}
