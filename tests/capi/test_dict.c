/* Entries: set, get, kinds, remove, paths, and what may lie in what. */
#include <stdio.h>
#include <string.h>

#include "td_values.h"

TD_TEST(the_very_tensor_is_kept) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_tensor *tensor = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3, 4)), *got = NULL;
  TD_DO(td_set(td, TD_KEY("a"), tensor));
  got = td_take(td, TD_KEY("a"));
  TD_CHECK(got != tensor);
  TD_CHECK(td_same_memory(got, tensor));
  TD_CHECK_SIZES(got, 3, 4);
}

TD_TEST(set_replaces_and_set_inplace_writes) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_tensor *first = td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)), *now = NULL;
  td_tensor *second = td_filled(TD_DTYPE_INT64, 7, TD_SIZES(2));
  td_tensor *third = td_filled(TD_DTYPE_FLOAT64, 2.5, TD_NO_SIZES);
  TD_DO(td_set(td, TD_KEY("a"), first));
  TD_DO(td_set_inplace(td, TD_KEY("a"), third));
  TD_CHECK_VALUES(first, 2.5, 2.5);
  now = td_take(td, TD_KEY("a"));
  TD_CHECK(td_same_memory(now, first));
  TD_DO(td_set(td, TD_KEY("a"), second));
  TD_CHECK_VALUES(first, 2.5, 2.5);
  now = td_take(td, TD_KEY("a"));
  TD_CHECK(td_same_memory(now, second));
  TD_DO(td_set_inplace(td, TD_KEY("a"), now)); /* onto itself */
  TD_CHECK_VALUES(second, 7, 7);
}

TD_TEST(set_inplace_needs_an_entry_that_fits) {
  td_tensordict *td = td_sample();
  td_tensor *good = td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(4, 3, 2));
  td_tensor *wrong = td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(5));
  TD_EXPECT(td_set_inplace(td, TD_KEY("nope"), good), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_TEXT(td_last_error_message(), "nope");
  TD_EXPECT(td_set_inplace(td, TD_KEY("q", "b"), good), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_set_inplace(td, TD_KEY("n"), good), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_set_inplace(td, TD_KEY("a"), wrong), TD_ERR_SHAPE);
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(td, TD_KEY("q"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE); /* nothing was made on the way */
}

TD_TEST(a_tensor_in_the_way) {
  td_tensordict *td = td_sample();
  td_tensor *tensor = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3));
  TD_EXPECT(td_set(td, TD_KEY("a", "deeper"), tensor), TD_ERR_KEY_EXISTS);
  TD_CHECK_TEXT(td_last_error_message(), "a");
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  TD_DO(td_set(td, TD_KEY("n"), tensor)); /* a dictionary may be replaced by a tensor */
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(td, TD_KEY("n"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
}

TD_TEST(asking_for_the_wrong_kind) {
  td_tensordict *td = td_sample();
  td_tensor *tensor;
  td_tensordict *entry;
  size_t length = 0;
  TD_EXPECT_NULL(td_get(td, TD_KEY("n"), &tensor), TD_ERR_WRONG_ENTRY, tensor);
  TD_EXPECT_NULL(td_get_dict(td, TD_KEY("a"), &entry), TD_ERR_WRONG_ENTRY, entry);
  TD_EXPECT_NULL(td_get(td, TD_KEY("a", "b"), &tensor), TD_ERR_WRONG_ENTRY, tensor);
  TD_EXPECT(td_get_non_tensor_json(td, TD_KEY("a"), NULL, 0, &length), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_get_non_tensor_json(td, TD_KEY("n"), NULL, 0, &length), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_get_non_tensor_json(td, TD_KEY("q"), NULL, 0, &length), TD_ERR_KEY_NOT_FOUND);
}

TD_TEST(kinds) {
  td_tensordict *td = td_sample();
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(td, TD_KEY("a"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
  TD_DO(td_get_kind(td, TD_KEY("n"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_DICT);
  TD_DO(td_get_kind(td, TD_KEY("n", "b"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
  TD_DO(td_get_kind(td, TD_KEY("n", "c"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  TD_DO(td_get_kind(td, TD_KEY("a", "b"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

TD_TEST(remove_takes_one_entry) {
  td_tensordict *td = td_sample();
  td_entry_kind kind = 99;
  TD_DO(td_remove(td, TD_KEY("n", "b")));
  TD_DO(td_get_kind(td, TD_KEY("n"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_DICT);
  TD_EXPECT(td_remove(td, TD_KEY("n", "b")), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_remove(td, TD_KEY("q", "b")), TD_ERR_KEY_NOT_FOUND);
  TD_DO(td_remove(td, TD_KEY("n")));
  TD_DO(td_remove(td, TD_KEY("a")));
  TD_CHECK_FLAG(td_is_empty, td, 1);
}

TD_TEST(set_dict_keeps_the_very_dictionary_when_it_fits) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *entry = td_empty(TD_SIZES(4, 3)), *inside = NULL;
  TD_DO(td_set_dict(td, TD_KEY("n"), entry));
  td_put(entry, TD_KEY("late"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  inside = td_take_dict(td, TD_KEY("n"));
  TD_CHECK_BATCH(inside, 4, 3);
  td_take(td, TD_KEY("n", "late"));
}

TD_TEST(set_dict_copies_when_the_batch_must_grow) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *entry = td_empty(TD_NO_SIZES), *inside = NULL;
  td_put(entry, TD_KEY("b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3, 4)));
  TD_DO(td_set_dict(td, TD_KEY("n"), entry));
  inside = td_take_dict(td, TD_KEY("n"));
  TD_CHECK_BATCH(inside, 3);
  TD_CHECK_NO_BATCH(entry);
  td_tensor *one = td_take(td, TD_KEY("n", "b")), *other = td_take(entry, TD_KEY("b"));
  TD_CHECK(td_same_memory(one, other));
  td_put(entry, TD_KEY("c"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_EXPECT(td_set_dict(td, TD_KEY("m"), entry), TD_ERR_SHAPE);
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(td, TD_KEY("m"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

TD_TEST(a_dictionary_does_not_lie_inside_itself) {
  td_tensordict *td = td_sample(), *n = td_take_dict(td, TD_KEY("n")), *again = NULL;
  TD_EXPECT(td_set_dict(td, TD_KEY("self"), td), TD_ERR_CYCLE);
  TD_EXPECT(td_set_dict(td, TD_KEY("n", "self"), td), TD_ERR_CYCLE);
  TD_EXPECT(td_set_dict(n, TD_KEY("up"), td), TD_ERR_CYCLE);
  TD_DO(td_dup(td, &again));
  TD_EXPECT(td_set_dict(n, TD_KEY("deep", "up"), again), TD_ERR_CYCLE);
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(n, TD_KEY("deep"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  TD_DO(td_set_dict(td, TD_KEY("twice"), n)); /* the same one in two places is no cycle */
}

TD_TEST(share_sees_changes_and_clone_does_not) {
  td_tensordict *td = td_sample(), *shared = NULL, *shallow = NULL, *deep = NULL;
  TD_DO(td_dup(td, &shared));
  TD_DO(td_clone(td, TD_CLONE_SHALLOW, &shallow));
  TD_DO(td_clone(td, 0, &deep));
  td_put(td, TD_KEY("n", "new"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  td_tensor *fives = td_filled(TD_DTYPE_INT64, 5, TD_NO_SIZES);
  TD_DO(td_set_inplace(td, TD_KEY("n", "b"), fives));
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(shared, TD_KEY("n", "new"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
  TD_DO(td_get_kind(shallow, TD_KEY("n", "new"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  TD_DO(td_get_kind(deep, TD_KEY("n", "new"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  TD_CHECK_ENTRY(shallow, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5));
  TD_CHECK_ENTRY(deep, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  TD_CHECK_BATCH(deep, 4, 3);
}

TD_TEST(handles_on_one_dictionary_are_told_from_equal_ones) {
  td_tensordict *td = td_sample(), *twin = td_sample(), *other = NULL;
  TD_CHECK(td_is_same_dict(td, td));
  TD_CHECK(!td_is_same_dict(td, twin)); /* equal, but another one */
  TD_DO(td_dup(td, &other));
  TD_CHECK(td_is_same_dict(td, other));
  TD_DO(td_clone(td, TD_CLONE_SHALLOW, &other));
  TD_CHECK(!td_is_same_dict(td, other));
  TD_DO(td_contiguous(td, &other)); /* the same tensors in another one */
  TD_CHECK(!td_is_same_dict(td, other));
  other = td_take_dict(td, TD_KEY("n"));
  td_tensordict *again = td_take_dict(td, TD_KEY("n"));
  TD_CHECK(td_is_same_dict(other, again));
  TD_CHECK(!td_is_same_dict(other, td));

  int32_t answer = 7;
  td_free(other);
  TD_EXPECT(td_is_same(td, other, &answer), TD_ERR_BAD_HANDLE);
  TD_EXPECT(td_is_same(other, td, &answer), TD_ERR_BAD_HANDLE);
  TD_EXPECT(td_is_same(td, NULL, &answer), TD_ERR_NULL_ARGUMENT);
  TD_EXPECT(td_is_same(NULL, td, &answer), TD_ERR_NULL_ARGUMENT);
  TD_EXPECT(td_is_same(td, twin, NULL), TD_ERR_NULL_ARGUMENT);
  TD_CHECK_INT(answer, 7);
}

TD_TEST(empty_and_bytes) {
  td_tensordict *td = td_empty(TD_SIZES(0)), *entry = td_empty(TD_SIZES(0));
  size_t bytes = 99;
  TD_CHECK_FLAG(td_is_empty, td, 1);
  td_put_dict(td, TD_KEY("n"), entry);
  TD_CHECK_FLAG(td_is_empty, td, 1);
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(0, 4)));
  TD_CHECK_FLAG(td_is_empty, td, 0);
  TD_DO(td_nbytes(td, &bytes));
  TD_CHECK_INT(bytes, 0);
  td = td_sample();
  TD_DO(td_nbytes(td, &bytes));
  TD_CHECK_INT(bytes, 24 * 4 + 12 * 8);
  td_tensor *a = td_take(td, TD_KEY("a"));
  td_put(td, TD_KEY("twice"), a);
  TD_DO(td_nbytes(td, &bytes));
  TD_CHECK_INT(bytes, 2 * 24 * 4 + 12 * 8);
}

TD_TEST(many_entries) {
  td_tensordict *td = td_empty(TD_SIZES(1));
  char name[16];
  for (int i = 0; i < 500; i++) {
    snprintf(name, sizeof name, "key%d", i);
    td_put(td, TD_KEY(name), td_filled(TD_DTYPE_INT64, i, TD_SIZES(1)));
  }
  for (int i = 0; i < 500; i += 2) {
    snprintf(name, sizeof name, "key%d", i);
    TD_DO(td_remove(td, TD_KEY(name)));
  }
  for (int i = 1; i < 500; i += 2) {
    snprintf(name, sizeof name, "key%d", i);
    TD_CHECK_ENTRY(td, TD_KEY(name), TD_SIZES(1), TD_VALUES(i));
  }
  td_keys *keys = NULL;
  TD_DO(td_keys_of(td, NULL, &keys));
  TD_CHECK_INT(td_keys_len(keys), 250);
}

TD_TEST(deep_trees_do_not_overflow_the_stack) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *root = NULL;
  td_put(td, TD_KEY("leaf"), td_filled(TD_DTYPE_INT64, 3, TD_NO_SIZES));
  for (int depth = 0; depth < 20000; depth++) {
    td_tensordict *outer = td_empty(TD_NO_SIZES);
    td_put_dict(outer, TD_KEY("d"), td);
    td = outer;
  }
  size_t bytes = 0;
  TD_DO(td_nbytes(td, &bytes));
  TD_CHECK_INT(bytes, 8);
  TD_DO(td_lock(td));
  TD_DO(td_unlock(td));
  TD_DO(td_clone(td, 0, &root));
  TD_CHECK_EQUAL(td, root);
}
