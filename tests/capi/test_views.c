/* Views whose leaves are made when they are first read: what they show of their source, and when. */
#include "td_values.h"

/* a: [3, 2] of 0 ... 5; n.b: [3] of 0 ... 2. */
static td_tensordict *small(void) {
  td_tensordict *td = td_empty((const int64_t[]){3}, 1);
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, (const int64_t[]){3, 2}, 2));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 0, (const int64_t[]){3}, 1));
  return td;
}

TD_TEST(a_view_has_the_tensors_that_its_source_had) {
  td_tensordict *td = small(), *row = NULL;
  TD_DO(td_index(td, TD_AT(TD_I_INT(1)), &row));
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 9, (const int64_t[]){3}, 1));
  td_put(td, TD_KEY("n", "c"), td_filled(TD_DTYPE_FLOAT32, 9, (const int64_t[]){3}, 1));
  TD_DO(td_remove(td, TD_KEY("n", "b")));
  td_tensor *a = td_take(row, TD_KEY("a")), *b = td_take(row, TD_KEY("n", "b"));
  TD_CHECK_VALUES(a, 2, 3);
  TD_CHECK_VALUES(b, 1);
  td_entry_kind kind = TD_ENTRY_TENSOR;
  TD_DO(td_get_kind(row, TD_KEY("n", "c"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  td_free(td); /* the view keeps the memory */
  TD_CHECK_VALUES(a, 2, 3);
}

TD_TEST(values_written_in_place_are_seen_by_both) {
  td_tensordict *td = small(), *row = NULL;
  TD_DO(td_index(td, TD_AT(TD_I_INT(1)), &row));
  TD_DO(td_zero(td)); /* before the row is read */
  td_tensor *a = td_take(row, TD_KEY("a"));
  TD_CHECK_VALUES(a, 0, 0);
  td_tensor *again = td_take(row, TD_KEY("a"));
  TD_CHECK(td_same_memory(a, again));
  void *data = NULL;
  TD_DO(td_tensor_data(again, &data));
  ((float *)data)[1] = 7;
  td_tensor_free(again);
  td_tensor_free(a);
  a = td_take(td, TD_KEY("a"));
  TD_CHECK_VALUES(a, 0, 0, 0, 7, 0, 0);
}

TD_TEST(a_view_of_a_locked_dictionary_is_locked) {
  td_tensordict *td = small(), *wide = NULL;
  TD_DO(td_lock(td));
  TD_DO(td_unsqueeze(td, 0, &wide));
  TD_CHECK_FLAG(td_is_locked, wide, 1);
  td_tensor *one = td_filled(TD_DTYPE_FLOAT32, 1, (const int64_t[]){1, 3}, 2);
  TD_EXPECT(td_set(wide, TD_KEY("new"), one), TD_ERR_LOCKED);
  TD_DO(td_unlock(wide));
  TD_DO(td_set(wide, TD_KEY("n"), one));
  td_tensor *a = td_take(wide, TD_KEY("a"));
  TD_CHECK_SIZES(a, 1, 3, 2);
  TD_CHECK_FLAG(td_is_locked, td, 1);
}

TD_TEST(views_of_views) {
  td_tensordict *td = small(), *part = NULL, *row = NULL, *flat = NULL;
  TD_DO(td_index(td, TD_AT(TD_I_STEP(0, 3, 2)), &part));
  TD_DO(td_index(part, TD_AT(TD_I_INT(-1)), &row));
  td_put(part, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 9, (const int64_t[]){2}, 1));
  td_tensor *a = td_take(row, TD_KEY("a"));
  TD_CHECK_VALUES(a, 4, 5);
  TD_DO(td_view(row, (const int64_t[]){1, 1}, 2, &flat));
  a = td_take(flat, TD_KEY("a"));
  TD_CHECK_SIZES(a, 1, 1, 2);
  TD_CHECK_VALUES(a, 4, 5);
}

TD_TEST(errors_come_from_the_call_that_makes_the_view) {
  td_tensordict *td = small(), *turned = NULL, *out = TD_POISON;
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_INT(3)), &out), TD_ERR_INDEX, out);
  TD_DO(td_expand(td, (const int64_t[]){2, 3}, 2, &turned));
  TD_EXPECT_NULL(td_view(turned, (const int64_t[]){6}, 1, &out), TD_ERR_SHAPE, out);
}

TD_TEST(no_elements_and_no_dimensions) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *wide = NULL, *none = NULL, *row = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, (const int64_t[]){2}, 1));
  TD_DO(td_unsqueeze(td, 0, &wide));
  TD_DO(td_expand(td, (const int64_t[]){0}, 1, &none));
  TD_DO(td_index(wide, TD_AT(TD_I_INT(0)), &row));
  td_tensor *a = td_take(row, TD_KEY("a"));
  TD_CHECK_VALUES(a, 0, 1);
  a = td_take(none, TD_KEY("a"));
  TD_CHECK_SIZES(a, 0, 2);
}

TD_TEST(a_view_owns_its_memory_when_its_source_is_gone) {
  td_tensordict *td = small(), *row = NULL;
  size_t bytes = 1;
  TD_DO(td_index(td, TD_AT(TD_I_INT(1)), &row));
  TD_DO(td_owned_nbytes(td, &bytes));
  TD_CHECK_INT(bytes, 0);
  td_free(td);
  TD_DO(td_owned_nbytes(row, &bytes));
  TD_CHECK_INT(bytes, 3 * 2 * 4 + 3 * 8);
  td_tensor *a = td_take(row, TD_KEY("a"));
  td_tensor_free(a);
  TD_DO(td_owned_nbytes(row, &bytes));
  TD_CHECK_INT(bytes, 3 * 2 * 4 + 3 * 8);
}
