/* The lock: what it forbids, what it allows, and how it spreads over dictionaries that share. */
#include "td_values.h"

TD_TEST(lock_forbids_structure_and_allows_values) {
  td_tensordict *td = td_sample(), *entry = td_empty(TD_SIZES(4, 3)),
                *n = td_take_dict(td, TD_KEY("n"));
  td_tensor *tensor = td_filled(TD_DTYPE_FLOAT32, 9, TD_SIZES(4, 3, 2));
  td_tensor *one = td_filled(TD_DTYPE_INT64, 1, TD_NO_SIZES);
  TD_CHECK_FLAG(td_is_locked, td, 0);
  TD_DO(td_lock(td));
  TD_DO(td_lock(td));
  TD_CHECK_FLAG(td_is_locked, td, 1);
  TD_CHECK_FLAG(td_is_locked, n, 1);

  TD_EXPECT(td_set(td, TD_KEY("new"), tensor), TD_ERR_LOCKED);
  TD_EXPECT(td_set(td, TD_KEY("a"), tensor), TD_ERR_LOCKED);
  TD_EXPECT(td_set(td, TD_KEY("n", "new"), tensor), TD_ERR_LOCKED);
  TD_EXPECT(td_set(td, TD_KEY("x", "y"), tensor), TD_ERR_LOCKED);
  TD_EXPECT(td_set(n, TD_KEY("new"), tensor), TD_ERR_LOCKED);
  TD_EXPECT(td_set_dict(td, TD_KEY("new"), entry), TD_ERR_LOCKED);
  TD_EXPECT(td_remove(td, TD_KEY("a")), TD_ERR_LOCKED);
  TD_EXPECT(td_remove(td, TD_KEY("n", "b")), TD_ERR_LOCKED);

  TD_DO(td_set_inplace(td, TD_KEY("a"), tensor));
  TD_DO(td_fill_at(td, TD_AT(TD_I_INT(0)), one));
  td_tensor *a = td_take(td, TD_KEY("a"));
  TD_CHECK_VALUES(a, 1, 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9);

  TD_DO(td_unlock(td));
  TD_CHECK_FLAG(td_is_locked, n, 0);
  TD_DO(td_remove(td, TD_KEY("a")));
}

TD_TEST(a_part_of_a_locked_one_stays_locked) {
  td_tensordict *td = td_sample(), *n = td_take_dict(td, TD_KEY("n"));
  TD_DO(td_lock(td));
  TD_EXPECT(td_unlock(n), TD_ERR_LOCKED);
  TD_CHECK_FLAG(td_is_locked, n, 1);
  TD_CHECK_FLAG(td_is_locked, td, 1);
  td_free(td); /* the only handle: the parent is gone */
  TD_DO(td_unlock(n));
  TD_CHECK_FLAG(td_is_locked, n, 0);
}

TD_TEST(two_roots_that_share_a_child) {
  td_tensordict *child = td_sample(), *first = td_empty(TD_SIZES(4)),
                *second = td_empty(TD_SIZES(4));
  td_tensordict *above = td_empty(TD_SIZES(4));
  TD_DO(td_set_dict(first, TD_KEY("c"), child));
  TD_DO(td_set_dict(second, TD_KEY("c"), child));
  TD_DO(td_set_dict(above, TD_KEY("1"), first));
  TD_DO(td_set_dict(above, TD_KEY("2"), second));
  TD_DO(td_lock(first));
  TD_DO(td_lock(second));
  TD_EXPECT(td_unlock(first), TD_ERR_LOCKED);
  TD_EXPECT(td_unlock(second), TD_ERR_LOCKED);
  TD_CHECK_FLAG(td_is_locked, first, 1); /* nothing changed */
  TD_CHECK_FLAG(td_is_locked, child, 1);
  TD_DO(td_lock(above));
  TD_DO(td_unlock(above));
  TD_CHECK_FLAG(td_is_locked, first, 0);
  TD_CHECK_FLAG(td_is_locked, second, 0);
  TD_CHECK_FLAG(td_is_locked, child, 0);
}

TD_TEST(a_locked_entry_in_an_unlocked_dictionary) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *child = td_sample();
  td_tensor *tensor = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3));
  TD_DO(td_lock(child));
  TD_DO(td_set_dict(td, TD_KEY("c"), child));
  TD_CHECK_FLAG(td_is_locked, td, 0);
  TD_EXPECT(td_set(td, TD_KEY("c", "new"), tensor), TD_ERR_LOCKED);
  TD_DO(td_lock(td));
  TD_DO(td_unlock(td));
  TD_CHECK_FLAG(td_is_locked, child, 0);
}

TD_TEST(which_results_are_locked) {
  td_tensordict *td = td_sample(), *result = NULL;
  TD_DO(td_lock(td));
#define LOCKED(call, want)                     \
  TD_DO(call);                                 \
  TD_CHECK_FLAG(td_is_locked, result, (want)); \
  td_free(result)
  LOCKED(td_clone(td, TD_CLONE_SHALLOW, &result), 0);
  LOCKED(td_clone(td, 0, &result), 0);
  LOCKED(td_index(td, TD_AT(TD_I_INT(0)), &result), 0);
  LOCKED(td_view(td, TD_SIZES(12), &result), 1);
  LOCKED(td_reshape(td, TD_SIZES(12), &result), 1);
  LOCKED(td_permute(td, TD_SIZES(1, 0), &result), 1);
  LOCKED(td_transpose(td, 0, 1, &result), 1);
  LOCKED(td_unsqueeze(td, 0, &result), 1);
  LOCKED(td_expand(td, TD_SIZES(2, 4, 3), &result), 1);
  LOCKED(td_to_dtype(td, TD_DTYPE_FLOAT32, &result), 1);
  LOCKED(td_to_device(td, TD_DEVICE_META, -1, NULL, &result), 1);
  LOCKED(td_contiguous(td, &result), 0);
  LOCKED(td_stack((const td_tensordict *const[]){td, td}, 2, 0, &result), 0);
  LOCKED(td_cat((const td_tensordict *const[]){td, td}, 2, 0, &result), 0);
#undef LOCKED
  TD_DO(td_unsqueeze(td, 0, &result));
  td_tensordict *squeezed = NULL;
  TD_DO(td_squeeze(result, 0, &squeezed));
  TD_CHECK_FLAG(td_is_locked, squeezed, 1);
  td_free(squeezed);
  td_free(result);
  td_tensordict *rows[4];
  size_t count = 0;
  TD_DO(td_unbind(td, 0, rows, 4, &count));
  TD_CHECK_FLAG(td_is_locked, rows[0], 0);
}

TD_TEST(a_locked_result_can_be_unlocked_alone) {
  td_tensordict *td = td_sample(), *view = NULL;
  TD_DO(td_lock(td));
  TD_DO(td_view(td, TD_SIZES(12), &view));
  TD_DO(td_unlock(view));
  TD_CHECK_FLAG(td_is_locked, td, 1);
  td_put(view, TD_KEY("new"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(12)));
}
