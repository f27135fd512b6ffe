/* Lazy stacks where dense dictionaries were wanted: viewed, renamed, joined, written to, without elements. */
#include <string.h>

#include "td_files.h"
#include "td_values.h"

#define LIST(...)                                \
  ((const td_tensordict *const[]){__VA_ARGS__}), \
      sizeof((const td_tensordict *const[]){__VA_ARGS__}) / sizeof(void *)

/* {"a": int64 [2], "n": {"b": float32 [2, 2]}} of batch size [2], counting from `first`. */
static td_tensordict *pair_from(int64_t first) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(2, 2)));
  return td;
}

/* Batch size [3, 2] or [2, 3]; three elements that count from 0, 10 and 20. */
static td_tensordict *lazy_of_three(int64_t dim) {
  td_tensordict *one = pair_from(0), *two = pair_from(10), *three = pair_from(20), *lazy = NULL;
  TD_DO(td_lazy_stack(LIST(one, two, three), dim, &lazy));
  return lazy;
}

static void check_lazy(const td_tensordict *td, int want) {
  td_dict_kind kind = 0;
  TD_DO(td_kind(td, &kind));
  TD_CHECK_INT(kind == TD_DICT_LAZY_STACK, want);
}

TD_TEST(the_dimension_of_the_stack_is_viewed) {
  td_tensordict *lazy = lazy_of_three(0), *flat = NULL, *back = NULL, *other = NULL;
  TD_DO(td_view(lazy, TD_SIZES(-1), &flat));
  check_lazy(flat, 1);
  TD_CHECK_ENTRY(flat, TD_KEY("a"), TD_SIZES(6), TD_VALUES(0, 1, 10, 11, 20, 21));
  TD_CHECK_ENTRY(flat, TD_KEY("n", "b"), TD_SIZES(6, 2),
                 TD_VALUES(0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23));
  TD_DO(td_view(flat, TD_SIZES(2, 3), &back));
  TD_CHECK_ENTRY(back, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(0, 1, 10, 11, 20, 21));
  TD_DO(td_zero(back)); /* memory is shared */
  TD_CHECK_ENTRY(lazy, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(0, 0, 0, 0, 0, 0));
  td_free(back);
  td_free(flat);
  td_free(lazy);
  lazy = lazy_of_three(1); /* [2, 3], the stack is the last dimension */
  TD_DO(td_view(lazy, TD_SIZES(3, 2), &flat));
  TD_CHECK_ENTRY(flat, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(0, 10, 20, 1, 11, 21));
  TD_DO(td_unflatten(lazy, 1, TD_SIZES(3, 1), &flat));
  TD_CHECK_ENTRY(flat, TD_KEY("a"), TD_SIZES(2, 3, 1), TD_VALUES(0, 10, 20, 1, 11, 21));
  TD_EXPECT_NULL(td_view(lazy, TD_SIZES(4), &other), TD_ERR_SHAPE, other);
}

TD_TEST(entries_leave_a_lazy_stack) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *lazy = lazy_of_three(0);
  td_entry_kind kind = 9;
  TD_DO(td_set_dict(td, TD_KEY("lazy"), lazy));
  td_free(lazy);
  TD_DO(td_rename_key(td, TD_KEY("lazy", "a"), TD_KEY("out"), 0));
  TD_CHECK_ENTRY(td, TD_KEY("out"), TD_SIZES(3, 2), TD_VALUES(0, 1, 10, 11, 20, 21));
  TD_DO(td_get_kind(td, TD_KEY("lazy", "a"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  TD_DO(td_rename_key(td, TD_KEY("lazy", "n"), TD_KEY("m"), TD_RENAME_KEY_SAFE));
  TD_CHECK_ENTRY(td, TD_KEY("m", "b"), TD_SIZES(3, 2, 2),
                 TD_VALUES(0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23));
  TD_DO(td_rename_key(td, TD_KEY("out"), TD_KEY("lazy", "in"), 0)); /* and come back */
  TD_CHECK_ENTRY(td, TD_KEY("lazy", "in"), TD_SIZES(3, 2), TD_VALUES(0, 1, 10, 11, 20, 21));
  TD_DO(td_lock(td));
  TD_EXPECT(td_rename_key(td, TD_KEY("lazy", "in"), TD_KEY("out"), 0), TD_ERR_LOCKED);
  TD_CHECK_ENTRY(td, TD_KEY("lazy", "in"), TD_SIZES(3, 2), TD_VALUES(0, 1, 10, 11, 20, 21));
}

TD_TEST(dictionaries_among_the_entries_are_joined) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *one = pair_from(0), *two = pair_from(10);
  TD_DO(td_set_dict(td, TD_KEY("one"), one));
  TD_DO(td_set_dict(td, TD_KEY("two"), two));
  td_put(td, TD_KEY("tensor"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  static const char *const one_name[] = {"one"}, *const two_name[] = {"two"},
                           *const tensor[] = {"tensor"};
  const td_key both[] = {{one_name, 1}, {two_name, 1}}, mixed[] = {{one_name, 1}, {tensor, 1}};
  TD_EXPECT(td_join_entries(td, TD_JOIN_STACK, mixed, 2, TD_KEY("joined"), 1, 0),
            TD_ERR_WRONG_ENTRY);
  TD_DO(td_join_entries(td, TD_JOIN_STACK, both, 2, TD_KEY("joined"), 1, TD_JOIN_ENTRIES_KEEP));
  TD_CHECK_ENTRY(td, TD_KEY("joined", "a"), TD_SIZES(2, 2), TD_VALUES(0, 10, 1, 11));
  TD_DO(td_join_entries(td, TD_JOIN_STACK, both, 2, TD_KEY("one"), -1,
                        0)); /* in place of one of them */
  TD_CHECK_ENTRY(td, TD_KEY("one", "n", "b"), TD_SIZES(2, 2, 2),
                 TD_VALUES(0, 1, 10, 11, 2, 3, 12, 13));
  td_entry_kind kind = 9;
  TD_DO(td_get_kind(td, TD_KEY("two"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

TD_TEST(dimensions_in_front_of_a_value_count_for_nothing) {
  td_tensordict *td = lazy_of_three(0), *dense = NULL, *value = pair_from(50), *wide = NULL,
                *wider = NULL;
  TD_DO(td_densify(td, NULL, &dense));
  TD_DO(td_unsqueeze(value, 0, &wide));
  TD_DO(td_unsqueeze(wide, 0, &wider)); /* [1, 1, 2] */
  td_tensordict *const targets[] = {td, dense};
  for (size_t i = 0; i < 2; i++) {
    TD_EXPECT(td_set_at(targets[i], TD_AT(TD_I_INT(1)), wider), TD_ERR_SHAPE); /* as Python */
    TD_CHECK_ENTRY(targets[i], TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(0, 1, 10, 11, 20, 21));
  }
  TD_DO(td_update_at(dense, TD_AT(TD_I_INT(1)), wider, 0)); /* each tensor for itself */
  TD_CHECK_ENTRY(dense, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(0, 1, 50, 51, 20, 21));
  td_tensor *numbers = td_arange(TD_DTYPE_INT64, 7, TD_SIZES(1, 1, 2));
  TD_DO(td_set_entry_at(dense, TD_KEY("a"), TD_AT(TD_I_INT(0)), numbers));
  TD_CHECK_ENTRY(dense, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(7, 8, 50, 51, 20, 21));
}

TD_TEST(what_is_picked_of_no_element_is_dense) {
  td_tensordict *lazy = lazy_of_three(1), *none = NULL;
  td_tensor *nobody = td_mask((const int64_t[]){0, 0, 0}, 3);
  TD_DO(td_index(lazy, TD_AT(TD_I_ALL, TD_I_TENSOR(nobody)), &none));
  check_lazy(none, 0);
  TD_CHECK_BATCH(none, 2, 0);
  TD_CHECK_ENTRY(none, TD_KEY("n", "b"), TD_SIZES(2, 0, 2), NULL, 0);
  td_free(none);
  TD_DO(td_index(lazy, TD_AT(TD_I_INT(0), TD_I_SLICE(2, 1)), &none));
  check_lazy(none, 0);
  TD_CHECK_BATCH(none, 0);
  TD_CHECK_ENTRY(none, TD_KEY("a"), TD_SIZES(0), NULL, 0);
}

TD_TEST(a_lazy_stack_is_expanded_to_its_own_sizes) {
  td_tensordict *lazy = lazy_of_three(0), *wide = NULL;
  TD_DO(td_expand(lazy, TD_SIZES(2, -1, -1), &wide));
  check_lazy(wide, 1);
  TD_CHECK_BATCH(wide, 2, 3, 2);
  TD_CHECK_ENTRY(wide, TD_KEY("a"), TD_SIZES(2, 3, 2),
                 TD_VALUES(0, 1, 10, 11, 20, 21, 0, 1, 10, 11, 20, 21));
  TD_EXPECT_NULL(td_expand(lazy, TD_SIZES(-1, 3, 2), &wide), TD_ERR_SHAPE, wide);
}

TD_TEST(states_of_lazy_stacks_are_loaded) {
  for (int nested = 0; nested < 2; nested++) {
    td_tensordict *lazy = lazy_of_three(1), *td = td_empty(TD_SIZES(2)), *state = NULL,
                  *copy = NULL;
    td_state_dict_options options = TD_STATE_DICT_OPTIONS_INIT;
    options.nested = nested;
    TD_DO(td_set_dict(td, TD_KEY("lazy"), lazy));
    td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
    TD_DO(td_state_dict(td, &options, &state));
    TD_DO(td_clone(td, 0, &copy));
    TD_DO(td_zero(copy));
    TD_DO(td_load_state_dict(copy, state, NULL));
    TD_CHECK_EQUAL(copy, td);
    td_free(state);
    TD_DO(td_state_dict(lazy, &options, &state)); /* a lazy stack itself */
    TD_DO(td_zero(lazy));
    TD_DO(td_load_state_dict(lazy, state, NULL));
    TD_CHECK_ENTRY(lazy, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(0, 10, 20, 1, 11, 21));
    td_put(state, TD_KEY("more"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)));
    TD_DO(td_zero(lazy));
    TD_EXPECT(td_load_state_dict(lazy, state, NULL), TD_ERR_KEY_NOT_FOUND);
    TD_CHECK_ENTRY(lazy, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(0, 0, 0, 0, 0, 0));
  }
}

TD_TEST(texts_for_unequal_elements_are_refused) {
  td_tensordict *one = td_empty(TD_SIZES(2, 3)), *two = td_empty(TD_SIZES(3, 2)), *lazy = NULL;
  TD_DO(td_lazy_stack(LIST(one, two), 0, &lazy));
  const char *const texts[] = {"a", "b"};
  TD_EXPECT(td_set_texts(lazy, TD_KEY("t"), texts, 2), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "[2, -1, -1]");
  td_free(lazy);
  td_free(two);
  td_free(one);
}

/* Elements that differ have a state each. */
TD_TEST(states_of_unequal_elements_are_loaded) {
  for (int nested = 0; nested < 2; nested++) {
    td_tensordict *one = pair_from(0), *two = td_empty(TD_SIZES(3)), *lazy = NULL, *state = NULL;
    td_put(two, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 7, TD_SIZES(3)));
    td_put(two, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 7, TD_SIZES(3, 1)));
    TD_DO(td_lazy_stack(LIST(one, two), 0, &lazy));
    td_state_dict_options options = TD_STATE_DICT_OPTIONS_INIT;
    options.nested = nested;
    TD_DO(td_state_dict(lazy, &options, &state));
    if (nested) {
      TD_CHECK_ENTRY(state, TD_KEY("1", "n", "b"), TD_SIZES(3, 1), TD_VALUES(7, 8, 9));
    } else {
      TD_CHECK_ENTRY(state, TD_KEY("1.a"), TD_SIZES(3), TD_VALUES(7, 8, 9));
    }
    td_tensordict *copy = NULL;
    TD_DO(td_clone(lazy, 0, &copy));
    TD_DO(td_zero(copy));
    TD_DO(td_load_state_dict(copy, state, NULL));
    TD_CHECK_EQUAL(copy, lazy);
  }
}

/* A lazy stack of one lazy stack, in which only the last element has "q". */
static td_tensordict *lazy_in_lazy(void) {
  td_tensordict *one = pair_from(0), *two = pair_from(10), *inner = NULL, *outer = NULL;
  td_put(two, TD_KEY("q"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  TD_DO(td_lazy_stack(LIST(one, two), 0, &inner));
  TD_DO(td_lazy_stack(LIST(inner), 2, &outer));
  return outer;
}

TD_TEST(keys_of_stacks_in_stacks_are_not_lost) {
  td_tensordict *lazy = lazy_in_lazy(), *state = NULL, *copy = NULL, *sum = NULL, *first = NULL;
  for (int nested = 0; nested < 2; nested++) {
    td_state_dict_options options = TD_STATE_DICT_OPTIONS_INIT;
    options.nested = nested;
    TD_DO(td_state_dict(lazy, &options, &state));
    TD_DO(td_clone(lazy, 0, &copy));
    TD_DO(td_zero(copy));
    TD_DO(td_load_state_dict(copy, state, NULL));
    TD_CHECK_EQUAL(copy, lazy);
  }
  TD_EXPECT(td_file_save(lazy, td_path(td_test_folder(), "x.npz"), NULL), TD_ERR_UNSUPPORTED);
  TD_CHECK(strstr(td_last_error_message(), "have \"q\"") != NULL);
  TD_DO(td_binary(lazy, TD_BINARY_ADD, TD_BY(TD_O_DICT(lazy)), NULL, &sum));
  TD_DO(td_index(sum, TD_AT(TD_I_INT(1), TD_I_ALL, TD_I_INT(0)), &first));
  TD_CHECK_ENTRY(first, TD_KEY("q"), TD_SIZES(2), TD_VALUES(10, 12));
}

/* What no entry of the whole can take is refused for the elements, too. */
TD_TEST(a_value_is_held_against_the_shape_of_the_whole) {
  td_tensordict *td = td_empty(TD_SIZES(2, 4)), *lazy = NULL;
  td_put(td, TD_KEY("n", "a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 4)));
  td_tensor *positions = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2));
  td_tensor *value = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 4));
  td_tensor *fits = td_arange(TD_DTYPE_INT64, 7, TD_SIZES(4, 1));
  TD_DO(td_lazy_stack(LIST(td), 2, &lazy));
  TD_EXPECT(td_fill_at(lazy, TD_AT(TD_I_TENSOR(positions)), value), TD_ERR_SHAPE);
  TD_DO(td_fill_at(lazy, TD_AT(TD_I_TENSOR(positions)), fits));
  TD_CHECK_ENTRY(lazy, TD_KEY("n", "a"), TD_SIZES(2, 4, 1), TD_VALUES(7, 8, 9, 10, 7, 8, 9, 10));
}

/* Two elements of batch size [2], of which only the second has "q"; and one value for each of two places. */
TD_TEST(rows_that_differ_in_keys_are_written_each) {
  td_tensordict *one = pair_from(0), *two = pair_from(10), *lazy = NULL, *rows = NULL;
  td_tensordict *none = td_empty(TD_NO_SIZES), *some = td_empty(TD_NO_SIZES), *second = NULL;
  const uint8_t where[] = {1, 0, 0, 1};
  td_tensor *mask = NULL;
  td_put(two, TD_KEY("q"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  td_put(some, TD_KEY("q"), td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES));
  TD_DO(td_lazy_stack(LIST(one, two), 0, &lazy));
  TD_DO(td_lazy_stack(LIST(none, some), 0, &rows));
  TD_DO(td_tensor_from_data(where, sizeof where, TD_SIZES(2, 2), TD_DTYPE_BOOL, &mask));
  TD_DO(td_set_at(lazy, TD_AT(TD_I_TENSOR(mask)), rows));
  TD_DO(td_index(lazy, TD_AT(TD_I_INT(1)), &second));
  TD_CHECK_ENTRY(second, TD_KEY("q"), TD_SIZES(2), TD_VALUES(5, 9));
  TD_CHECK_ENTRY(lazy, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(0, 1, 10, 11));
}

/* A condition that does not reach the dimension of the stack holds for each element. */
TD_TEST(one_condition_for_elements_that_differ_in_keys) {
  td_tensordict *one = pair_from(0), *two = pair_from(10), *lazy = NULL, *other = NULL,
                *picked = NULL;
  td_tensordict *second = NULL;
  const uint8_t no = 0;
  td_tensor *condition = NULL;
  td_put(two, TD_KEY("q"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  TD_DO(td_lazy_stack(LIST(one, two), 0, &lazy));
  TD_DO(td_clone(lazy, 0, &other));
  TD_DO(td_binary_inplace(other, TD_BINARY_ADD, TD_BY(TD_O_INT(100)), NULL));
  TD_DO(td_tensor_from_data(&no, 1, TD_NO_SIZES, TD_DTYPE_BOOL, &condition));
  TD_DO(td_where(lazy, condition, other, NULL, &picked));
  TD_DO(td_index(picked, TD_AT(TD_I_INT(1)), &second));
  TD_CHECK_ENTRY(second, TD_KEY("q"), TD_SIZES(2), TD_VALUES(105, 106));
}

TD_TEST(a_condition_for_a_stack_among_the_entries) {
  td_tensordict *one = pair_from(0), *two = pair_from(10), *lazy = NULL, *other = NULL,
                *picked = NULL;
  td_tensordict *td = td_empty(TD_SIZES(2)), *second = NULL;
  const uint8_t where[] = {1, 0};
  td_tensor *condition = NULL;
  td_put(two, TD_KEY("q"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  TD_DO(td_lazy_stack(LIST(one, two), 0, &lazy));
  TD_DO(td_set_dict(td, TD_KEY("deep", "lazy"), lazy));
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_DO(td_clone(td, 0, &other));
  TD_DO(td_binary_inplace(other, TD_BINARY_ADD, TD_BY(TD_O_INT(100)), NULL));
  TD_DO(td_tensor_from_data(where, sizeof where, TD_SIZES(2), TD_DTYPE_BOOL, &condition));
  TD_DO(td_where(td, condition, other, NULL, &picked));
  TD_CHECK_ENTRY(picked, TD_KEY("x"), TD_SIZES(2), TD_VALUES(0, 101));
  TD_CHECK_ENTRY(picked, TD_KEY("deep", "lazy", "a"), TD_SIZES(2, 2), TD_VALUES(0, 1, 110, 111));
  TD_DO(td_index(picked, TD_AT(TD_I_INT(1)), &second));
  TD_CHECK_ENTRY(second, TD_KEY("deep", "lazy", "q"), TD_SIZES(2), TD_VALUES(105, 106));
}

/* The batch size of a lazy stack follows from its elements, which therefore keep theirs. */
TD_TEST(a_shorter_batch_size_around_a_lazy_stack) {
  td_tensordict *element = td_empty(TD_SIZES(3, 1)), *lazy = NULL,
                *td = td_empty(TD_SIZES(3, 1, 1));
  td_tensordict *copy = NULL, *inner = NULL;
  TD_DO(td_set_dict(element, TD_KEY("e"), td_empty(TD_SIZES(3, 1))));
  TD_DO(td_lazy_stack(LIST(element), 1, &lazy));
  TD_DO(td_set_dict(td, TD_KEY("n"), lazy));
  TD_DO(td_auto_batch_size(td, 1, 0));
  TD_CHECK_BATCH(td, 3);
  TD_DO(td_clone(td, 0, &copy));
  TD_DO(td_get_dict(copy, TD_KEY("n", "e"), &inner));
  TD_CHECK_BATCH(inner, 3, 1, 1);
}

/* A nested value with a dimension too many is refused, not read past its end. */
TD_TEST(a_value_with_a_dimension_too_many) {
  td_tensordict *element = td_empty(TD_SIZES(3)), *lazy = NULL, *td = td_empty(TD_SIZES(3));
  td_tensordict *value = td_empty(TD_SIZES(1)), *nested = td_empty(TD_SIZES(1, 1, 3));
  td_put(element, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3)));
  td_put(nested, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 7, TD_SIZES(1, 1, 3)));
  TD_DO(td_lazy_stack(LIST(element, element, element), 1, &lazy));
  TD_DO(td_set_dict(td, TD_KEY("a"), lazy));
  TD_DO(td_set_dict(value, TD_KEY("a"), nested));
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_SLICE(0, 1)), value), TD_ERR_SHAPE);
  TD_CHECK_ENTRY(element, TD_KEY("x"), TD_SIZES(3), TD_VALUES(0, 1, 2));
}
