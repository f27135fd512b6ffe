/* Graphs in which one dictionary stands in many places: 2^40 paths through 41 dictionaries. Whatever
 * walks nodes comes back at once; whatever lists paths says that there are too many. */
#include <stdlib.h>
#include <string.h>

#include "td_values.h"

enum { LEVELS = 40 };

static td_tensordict *diamonds(int levels) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3));
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)));
  for (int i = 0; i < levels; i++) {
    td_tensordict *above = td_empty(TD_SIZES(2, 3));
    TD_DO(td_set_dict(above, TD_KEY("l"), td));
    TD_DO(td_set_dict(above, TD_KEY("r"), td));
    td_free(td);
    td = above;
  }
  return td;
}

TD_TEST(walks_over_dictionaries_come_back) {
  td_tensordict *td = diamonds(LEVELS), *result = NULL, *parts[3];
  size_t count = 0, bytes = 0;
  TD_DO(td_lock(td));
  TD_DO(td_unlock(td));
  TD_CHECK_FLAG(td_is_empty, td, 0);
  TD_DO(td_nbytes(td, &bytes)); /* each path counts */
  TD_CHECK(bytes == (size_t)48 << LEVELS);
#define COMES_BACK(call) \
  TD_DO(call);           \
  td_free(result)
  COMES_BACK(td_clone(td, TD_CLONE_SHALLOW, &result));
  COMES_BACK(td_clone(td, 0, &result));
  COMES_BACK(td_contiguous(td, &result));
  COMES_BACK(td_index(td, TD_AT(TD_I_INT(0)), &result));
  COMES_BACK(td_view(td, TD_SIZES(6), &result));
  COMES_BACK(td_unsqueeze(td, 0, &result));
  COMES_BACK(td_to_dtype(td, TD_DTYPE_FLOAT32, &result));
  COMES_BACK(td_consolidate(td, NULL, NULL, &result));
#undef COMES_BACK
  TD_DO(td_unbind(td, 1, parts, 3, &count));
  for (size_t i = 0; i < count; i++) td_free(parts[i]);
  TD_DO(td_set_batch_size(td, TD_SIZES(2)));
  TD_CHECK_BATCH(td, 2);
  TD_DO(td_clear_device(td));
  TD_DO(td_share_memory(td));
  TD_CHECK_FLAG(td_is_shared, td, 1);
  TD_EXPECT(td_shared_name(td, NULL, 0, &count), TD_ERR_UNSUPPORTED); /* a name leads to paths */
}

TD_TEST(what_is_shared_stays_shared) {
  td_tensordict *td = diamonds(1), *copy = NULL;
  td_tensor *seven = td_filled(TD_DTYPE_INT64, 7, TD_NO_SIZES);
  TD_DO(td_clone(td, 0, &copy));
  td_tensordict *l = td_take_dict(copy, TD_KEY("l")), *r = td_take_dict(copy, TD_KEY("r"));
  TD_CHECK(td_is_same_dict(l, r));
  TD_DO(td_set_inplace(copy, TD_KEY("l", "x"), seven));
  TD_CHECK_ENTRY(copy, TD_KEY("r", "x"), TD_SIZES(2, 3), TD_VALUES(7, 7, 7, 7, 7, 7));
  TD_CHECK_ENTRY(td, TD_KEY("r", "x"), TD_SIZES(2, 3), TD_VALUES(0, 1, 2, 3, 4, 5));
}

TD_TEST(copies_are_compared_once) {
  td_tensordict *td = diamonds(LEVELS), *copy = NULL;
  TD_DO(td_clone(td, 0, &copy));
  TD_CHECK_EQUAL(td, copy);
}

TD_TEST(paths_are_limited) {
  td_tensordict *td = diamonds(LEVELS);
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  td_keys *keys;
  options.include_nested = options.leaves_only = 1;
  TD_EXPECT_NULL(td_keys_of(td, &options, &keys), TD_ERR_UNSUPPORTED, keys);
  TD_DO(td_keys_of(td, NULL, &keys));
  TD_CHECK_INT(td_keys_len(keys), 2);
}

TD_TEST(the_printed_form_is_cut) {
  td_tensordict *td = diamonds(LEVELS);
  char *text = td_printed(td);
  TD_CHECK(strlen(text) < (size_t)64 << 20);
  TD_CHECK_TEXT(text, "TensorDict(...)");
  free(text);
}
