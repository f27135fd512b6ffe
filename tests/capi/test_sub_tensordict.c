/* Sub-tensordicts: what is written to them reaches it. */
#include "td_values.h"

/* batch [4]: "a" of 0 to 3, "n" / "b" of shape [4, 2] */
static td_tensordict *whole(void) {
  td_tensordict *td = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 2)));
  return td;
}

static void write_and_check(td_tensordict *sub, td_tensordict *td) {
  td_tensor *value = td_arange(TD_DTYPE_INT64, 50, TD_SIZES(2));
  TD_DO(td_set_inplace(sub, TD_KEY("a"), value));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(50, 1, 51, 3));
  TD_CHECK_ENTRY(sub, TD_KEY("a"), TD_SIZES(2), TD_VALUES(50, 51));
  TD_EXPECT(td_set(sub, TD_KEY("a"), value), TD_ERR_KEY_EXISTS);
  TD_EXPECT(td_set_inplace(sub, TD_KEY("q"), value), TD_ERR_KEY_NOT_FOUND);
  TD_DO(td_set(sub, TD_KEY("m", "new"), value)); /* gets room in the whole */
  TD_CHECK_ENTRY(td, TD_KEY("m", "new"), TD_SIZES(4), TD_VALUES(50, 0, 51, 0));
  td_tensor_free(value);
}

TD_TEST(through_a_view) {
  td_tensordict *td = whole(), *sub = NULL, *parent = NULL;
  td_dict_kind kind = 0;
  int32_t same = 0;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_STEP(0, 4, 2)), &sub));
  TD_DO(td_kind(sub, &kind));
  TD_CHECK_INT(kind, TD_DICT_SUB_TENSORDICT);
  TD_CHECK_BATCH(sub, 2);
  write_and_check(sub, td);
  TD_DO(td_sub_tensordict_parent(sub, &parent));
  TD_DO(td_is_same(parent, td, &same));
  TD_CHECK_INT(same, 1);
  td_free(parent);
  TD_EXPECT_NULL(td_sub_tensordict_parent(td, &parent), TD_ERR_WRONG_ENTRY, parent);
  td_free(sub);
  td_free(td);
}

TD_TEST(through_index_tensors) {
  td_tensordict *td = whole(), *sub = NULL;
  td_tensor *rows = td_positions((const int64_t[]){0, 2}, 2);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(rows)), &sub));
  td_tensor_free(rows);
  write_and_check(sub, td);
  td_free(sub);
  td_free(td);
}

TD_TEST(nested_and_parts_of_parts) {
  td_tensordict *td = whole(), *sub = NULL, *inner = NULL, *part = NULL;
  td_tensor *rows = td_positions((const int64_t[]){1, 3}, 2), *nine;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(rows)), &sub));
  TD_DO(td_get_dict(sub, TD_KEY("n"), &inner));
  TD_CHECK_ENTRY(inner, TD_KEY("b"), TD_SIZES(2, 2), TD_VALUES(2, 3, 6, 7));
  nine = td_filled(TD_DTYPE_FLOAT32, 9, TD_NO_SIZES);
  TD_DO(td_set_inplace(inner, TD_KEY("b"), nine));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 2), TD_VALUES(0, 1, 9, 9, 4, 5, 9, 9));
  TD_DO(td_index(sub, TD_AT(TD_I_INT(1)), &part));
  TD_DO(td_fill_at(part, NULL, 0, nine));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 1, 2, 9));
  td_tensor_free(nine);
  td_tensor_free(rows);
  td_free(part);
  td_free(inner);
  td_free(sub);
  td_free(td);
}

TD_TEST(looked_up_each_time) {
  td_tensordict *td = whole(), *sub = NULL, *copy = NULL, *view = NULL;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_UNTIL(2)), &sub));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 7, TD_SIZES(4)));
  TD_CHECK_ENTRY(sub, TD_KEY("a"), TD_SIZES(2), TD_VALUES(7, 8));
  TD_DO(td_remove(sub, TD_KEY("a")));
  td_entry_kind kind = 9;
  TD_DO(td_get_kind(td, TD_KEY("a"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  td_free(td); /* the sub-tensordict keeps it */
  TD_DO(td_clone(sub, 0, &copy));
  TD_CHECK_ENTRY(copy, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(0, 1, 2, 3));
  td_dict_kind dict = 0;
  TD_DO(td_kind(copy, &dict));
  TD_CHECK_INT(dict, TD_DICT_DENSE);
  TD_DO(td_unsqueeze(sub, 0, &view));
  TD_CHECK_BATCH(view, 1, 2);
  td_free(view);
  td_free(copy);
  td_free(sub);
}

TD_TEST(locks_are_those_of_the_whole) {
  td_tensordict *td = whole(), *sub = NULL, *holder = td_empty(TD_NO_SIZES), *lazy;
  td_tensor *value = td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2));
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_UNTIL(2)), &sub));
  TD_EXPECT(td_lock(sub), TD_ERR_UNSUPPORTED);
  TD_EXPECT(td_set_batch_size(sub, TD_SIZES(1)), TD_ERR_UNSUPPORTED);
  TD_DO(td_lock(td));
  TD_CHECK_FLAG(td_is_locked, sub, 1);
  TD_DO(td_lock(sub));
  TD_EXPECT(td_unlock(sub), TD_ERR_UNSUPPORTED);
  TD_DO(td_set_inplace(sub, TD_KEY("a"), value));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(5, 6, 2, 3));
  TD_EXPECT(td_set(sub, TD_KEY("new"), value), TD_ERR_LOCKED);
  TD_EXPECT_NULL(td_lazy_stack((const td_tensordict *const[]){sub}, 1, 0, &lazy),
                 TD_ERR_UNSUPPORTED, lazy);
  TD_DO(td_set_dict(holder, TD_KEY("part"), sub)); /* as it reads: a view of the part */
  TD_CHECK_ENTRY(holder, TD_KEY("part", "a"), TD_SIZES(2), TD_VALUES(5, 6));
  td_tensor_free(value);
  td_free(holder);
  td_free(sub);
  td_free(td);
}
