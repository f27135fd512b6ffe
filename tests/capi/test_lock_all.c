/* The lock, function by function: what it refuses, what it lets through, what results inherit, and
 * graphs of locked dictionaries. */
#include <string.h>

#include "td_values.h"

#define KEY_A ((const td_key[]){{(const char *const[]){"a"}, 1}}), 1

static td_tensordict *locked(void) {
  td_tensordict *td = td_sample();
  td_put_dict(td, TD_KEY("e"), td_empty(TD_SIZES(4, 3)));
  TD_DO(td_lock(td));
  return td;
}

TD_TEST(what_changes_structure_is_refused_and_changes_nothing) {
  td_tensordict *td = locked(), *before = NULL, *dict = NULL;
  td_tensordict *more = td_sample(), *parts[3];
  td_tensor *tensor = td_filled(TD_DTYPE_FLOAT32, 9, TD_SIZES(4, 3, 2)), *out = NULL;
  td_keys *key = NULL;
  td_entry_kind kind = 0;
  size_t count = 0;
  TD_DO(td_clone(td, 0, &before));
  td_put(more, TD_KEY("more"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
#define REFUSED(call) TD_EXPECT(call, TD_ERR_LOCKED)
  REFUSED(td_set(td, TD_KEY("new"), tensor));
  REFUSED(td_set(td, TD_KEY("a"), tensor));
  REFUSED(td_set_dict(td, TD_KEY("new"), more));
  REFUSED(td_write_or_set(td, TD_KEY("new"), tensor)); /* no such entry yet */
  REFUSED(td_update(td, more, NULL));
  REFUSED(td_remove(td, TD_KEY("a")));
  REFUSED(td_pop(td, TD_KEY("a"), &kind, &out, &dict));
  REFUSED(td_pop_last(td, &key, &out, &dict));
  REFUSED(td_rename_key(td, TD_KEY("a"), TD_KEY("z"), 0));
  REFUSED(td_clear(td));
  REFUSED(td_create_nested(td, TD_KEY("new")));
  REFUSED(td_get_or_set(td, TD_KEY("new"), tensor, &out));
  REFUSED(td_set_non_tensor_json(td, TD_KEY("new"), "1"));
  REFUSED(td_remove_empty(td));
  REFUSED(td_select_inplace(td, KEY_A, NULL));
  REFUSED(td_exclude_inplace(td, KEY_A, NULL));
  const td_key_set set = {(const td_key[]){{(const char *const[]){"a"}, 1}}, NULL, 1};
  REFUSED(td_split_keys_inplace(td, &set, 1, NULL, parts, 3, &count));
  REFUSED(td_flatten_keys_inplace(td, ".", NULL));
  REFUSED(td_unflatten_keys_inplace(td, "."));
  td_tensordict *row = NULL;
  TD_DO(td_index(more, TD_AT(TD_I_INT(0)), &row));
  REFUSED(td_set_at(td, TD_AT(TD_I_INT(0)), row)); /* "more" would be made */
  td_free(row);
#undef REFUSED
  TD_CHECK_FLAG(td_is_locked, td, 1);
  TD_CHECK_EQUAL(td, before);
  TD_DO(td_get_kind(td, TD_KEY("new"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

TD_TEST(what_changes_values_is_not) {
  td_tensordict *td = locked(), *same = NULL, *row = NULL, *result = NULL;
  td_tensor *tensor = td_filled(TD_DTYPE_FLOAT32, 9, TD_SIZES(4, 3, 2)), *out = NULL;
  td_tensor *one = td_filled(TD_DTYPE_INT64, 1, TD_NO_SIZES);
  td_update_options inplace = TD_UPDATE_OPTIONS_INIT;
  void *address = NULL, *after = NULL;
  td_tensor *a = td_take(td, TD_KEY("a"));
  TD_DO(td_tensor_data(a, &address));
  inplace.mode = TD_UPDATE_INPLACE;
  TD_DO(td_clone(td, 0, &same));
  TD_DO(td_set_inplace(td, TD_KEY("a"), tensor));
  TD_DO(td_write_or_set(td, TD_KEY("a"), tensor));
  TD_DO(td_update(td, same, &inplace));
  TD_DO(td_index(same, TD_AT(TD_I_INT(0)), &row));
  TD_DO(td_set_at(td, TD_AT(TD_I_INT(1)), row));
  TD_DO(td_fill_at(td, TD_AT(TD_I_INT(0)), one));
  TD_DO(td_fill(td, TD_KEY("a"), TD_BY(TD_O_INT(3))));
  TD_DO(td_zero(td));
  TD_DO(td_unary_inplace(td, TD_UNARY_NEG));
  TD_DO(td_binary_inplace(td, TD_BINARY_ADD, TD_BY(TD_O_INT(1)), NULL));
  TD_DO(td_get_or_set(td, TD_KEY("a"), tensor, &out)); /* it is there */
  td_tensor_free(out);
  TD_DO(td_load_state_dict(td, same, NULL));
  TD_DO(td_set_names(td, (const char *const[]){"t", NULL}, 2));
  TD_DO(td_set_batch_size(td, TD_SIZES(4)));
  TD_DO(td_clear_device(td));
  TD_DO(td_share_memory(td));
  TD_CHECK_FLAG(td_is_locked, td, 1);
  TD_DO(td_select(td, KEY_A, NULL, &result)); /* not in place: something new */
  TD_CHECK_FLAG(td_is_locked, result, 0);
  td_free(result);
  TD_DO(td_tensor_data(a, &after));
  TD_CHECK(address != after); /* shared memory alone has moved it */
}

TD_TEST(which_results_are_locked_too) {
  td_tensordict *td = locked(), *result = NULL, *parts[4];
  td_tensor *mask = td_mask((const int64_t[]){1, 0, 1, 0}, 4);
  td_tensor *times = td_filled(TD_DTYPE_INT64, 2, TD_NO_SIZES);
  td_tensor *where = td_filled(TD_DTYPE_INT64, 0, TD_SIZES(2, 3));
  size_t count = 0;
#define RESULT(call, want)                     \
  TD_DO(call);                                 \
  TD_CHECK_FLAG(td_is_locked, result, (want)); \
  td_free(result)
  RESULT(td_flatten(td, 0, 1, &result), 1);
  RESULT(td_unflatten(td, 0, TD_SIZES(2, 2), &result), 1);
  RESULT(td_narrow(td, 0, 1, 2, &result), 1);
  RESULT(td_repeat(td, TD_SIZES(2, 1), 0, &result), 1);
  RESULT(td_repeat(td, TD_SIZES(2, 1), TD_REPEAT_TILE, &result), 1);
  RESULT(td_repeat_interleave(td, times, 0, &result), 1);
  RESULT(td_roll(td, (const int64_t[]){1}, (const int64_t[]){0}, 1, &result), 1);
  RESULT(td_flip(td, TD_SIZES(0), &result), 1);
  RESULT(td_rot90(td, 1, 0, 1, &result), 1);
  RESULT(td_unary(td, TD_UNARY_NEG, &result), 1);
  RESULT(td_binary(td, TD_BINARY_ADD, TD_BY(TD_O_INT(1)), NULL, &result), 1);
  RESULT(td_detach(td, TD_DETACH_HISTORY, &result), 1);
  RESULT(td_to_dtype(td, TD_DTYPE_FLOAT64, &result), 1);
  RESULT(td_binary(td, TD_BINARY_EQ, TD_BY(TD_O_INT(1)), NULL, &result), 0);
  RESULT(td_reduce(td, TD_REDUCE_SUM, NULL, &result), 0);
  RESULT(td_gather(td, 0, where, &result), 0);
  RESULT(td_masked_select(td, mask, &result), 0);
  RESULT(td_exclude(td, KEY_A, NULL, &result), 0);
  RESULT(td_empty_like(td, TD_EMPTY_LIKE_RECURSE, &result), 0);
  RESULT(td_flatten_keys(td, ".", NULL, &result), 0);
  RESULT(td_state_dict(td, NULL, &result), 0);
#undef RESULT
  const int64_t length = 2;
  TD_DO(td_split(td, 0, TD_SPLIT_LENGTH, &length, 1, parts, 4, &count));
  for (size_t i = 0; i < count; i++) {
    TD_CHECK_FLAG(td_is_locked, parts[i], 1);
    td_free(parts[i]);
  }
}

TD_TEST(lazy_stacks_lock_their_elements) {
  td_tensordict *one = td_sample(), *other = td_sample(), *stack = NULL, *inner = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, other}, 2, 0, &stack));
  TD_DO(td_lock(stack));
  TD_CHECK_FLAG(td_is_locked, one, 1);
  TD_EXPECT(td_lazy_insert(stack, 0, one), TD_ERR_LOCKED);
  TD_EXPECT(td_lazy_extend(stack, (const td_tensordict *const[]){one}, 1), TD_ERR_LOCKED);
  TD_EXPECT(td_unlock(other), TD_ERR_LOCKED); /* a part of what is locked */
  TD_EXPECT(td_remove(one, TD_KEY("a")), TD_ERR_LOCKED);
  TD_DO(td_unlock(stack));
  TD_CHECK_FLAG(td_is_locked, other, 0);
  TD_DO(td_lock(one));
  TD_CHECK_FLAG(td_is_locked, stack, 0);
  TD_DO(td_lock(other));
  TD_CHECK_FLAG(td_is_locked, stack, 1); /* all elements are */
  inner = td_take_dict(one, TD_KEY("n"));
  TD_EXPECT(td_unlock(inner), TD_ERR_LOCKED);
  TD_DO(td_unlock(one));
  TD_CHECK_FLAG(td_is_locked, inner, 0);
  TD_CHECK_FLAG(td_is_locked, stack, 0);
}

TD_TEST(a_root_that_is_gone_holds_nothing) {
  td_tensordict *child = td_sample(), *keeper = td_empty(TD_SIZES(4));
  TD_DO(td_set_dict(keeper, TD_KEY("c"), child));
  for (int i = 0; i < 1000; i++) { /* short-lived parents, one after the other */
    td_tensordict *above = td_empty(TD_SIZES(4));
    TD_DO(td_set_dict(above, TD_KEY("c"), child));
    TD_DO(td_lock(above));
    td_free(above);
    TD_DO(td_unlock(child));
  }
  TD_DO(td_lock(keeper));
  TD_EXPECT(td_unlock(child), TD_ERR_LOCKED);
  TD_CHECK_FLAG(td_is_locked, child, 1);
  TD_CHECK_FLAG(td_is_locked, keeper, 1);
  td_free(keeper);
  TD_DO(td_unlock(child));
}

TD_TEST(unlocking_drops_all_flags) {
  td_tensordict *td = td_sample(), *mapped = NULL, *packed = NULL;
  TD_DO(td_memmap(td, NULL, NULL, &mapped));
  TD_DO(td_consolidate(td, NULL, NULL, &packed));
  TD_DO(td_share_memory(td));
  TD_DO(td_unlock(td));
  TD_DO(td_unlock(mapped));
  TD_DO(td_unlock(packed));
  TD_CHECK_FLAG(td_is_shared, td, 0);
  TD_CHECK_FLAG(td_is_memmap, mapped, 0);
  TD_CHECK_FLAG(td_is_consolidated, packed, 0);
  td_tensordict *n = td_take_dict(mapped, TD_KEY("n"));
  TD_CHECK_FLAG(td_is_memmap, n, 0);
}
