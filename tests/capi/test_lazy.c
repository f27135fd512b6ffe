/* Lazy stacks: dictionaries side by side, stacked when an entry is read. */
#include <stdlib.h>
#include <time.h>

#include "td_keys_text.h"

#define LIST(...)                                \
  ((const td_tensordict *const[]){__VA_ARGS__}), \
      sizeof((const td_tensordict *const[]){__VA_ARGS__}) / sizeof(void *)

/* batch [2]: "a" of shape [2], "x" of shape [2, width], and a key of its own */
static td_tensordict *element(int64_t first, int64_t width, const char *own) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(2, width)));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, first + 1, TD_SIZES(2)));
  td_put(td, TD_KEY(own), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  return td;
}

static td_tensordict *stack_of(td_tensordict *one, td_tensordict *two, int64_t dim) {
  td_tensordict *lazy = NULL;
  TD_DO(td_lazy_stack(LIST(one, two), dim, &lazy));
  return lazy;
}

static void check_kind(const td_tensordict *td, td_dict_kind want) {
  td_dict_kind kind = 0;
  TD_DO(td_kind(td, &kind));
  TD_CHECK_INT(kind, want);
}

TD_TEST(entries_are_stacked_when_read) {
  td_tensordict *one = element(0, 3, "p"), *two = element(10, 3, "q");
  td_tensordict *lazy = stack_of(one, two, 0), *inner = NULL;
  int64_t dim = 9;
  size_t elements = 0;
  check_kind(lazy, TD_DICT_LAZY_STACK);
  check_kind(one, TD_DICT_DENSE);
  TD_DO(td_lazy_info(lazy, &dim, &elements));
  TD_CHECK_INT(dim, 0);
  TD_CHECK_INT(elements, 2);
  TD_CHECK_BATCH(lazy, 2, 2);
  TD_CHECK_ENTRY(lazy, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(0, 1, 10, 11));
  TD_CHECK_ENTRY(lazy, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(1, 2, 11, 12));
  TD_DO(td_get_dict(lazy, TD_KEY("n"), &inner));
  check_kind(inner, TD_DICT_LAZY_STACK);
  TD_CHECK_ENTRY(inner, TD_KEY("b"), TD_SIZES(2, 2), TD_VALUES(1, 2, 11, 12));
  td_put(one, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2))); /* seen at once */
  TD_CHECK_ENTRY(lazy, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(5, 6, 10, 11));
  lazy = stack_of(one, two, -1);
  TD_CHECK_ENTRY(lazy, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(5, 10, 6, 11));
}

TD_TEST(keys_are_those_of_all) {
  td_tensordict *one = element(0, 3, "p"), *two = element(10, 3, "q");
  td_tensordict *lazy = stack_of(one, two, 0);
  td_tensor *tensor = NULL;
  td_keys *keys = NULL;
  const char *const *path = NULL;
  size_t length = 0;
  td_entry_kind kind = 9;
  TD_DO(td_keys_of(lazy, NULL, &keys));
  TD_CHECK_INT(td_keys_len(keys), 3);
  TD_DO(td_keys_at(keys, 0, &path, &length));
  TD_CHECK_TEXT(path[0], "x"); /* in the order of the first element */
  TD_DO(td_lazy_exclusive_keys(lazy, &keys));
  TD_CHECK_INT(td_keys_len(keys), 2);
  TD_DO(td_keys_at(keys, 1, &path, &length));
  TD_CHECK_TEXT(path[0], "q");
  TD_DO(td_get_kind(lazy, TD_KEY("p"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  TD_EXPECT_NULL(td_get(lazy, TD_KEY("p"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
  TD_EXPECT_NULL(td_lazy_exclusive_keys(one, &keys), TD_ERR_WRONG_ENTRY, keys);
}

TD_TEST(shapes_that_differ) {
  td_tensordict *one = element(0, 1, "p"), *two = element(10, 2, "q");
  td_tensordict *lazy = stack_of(one, two, 0), *dense = NULL;
  td_tensor *tensor = NULL, *offsets = NULL;
  td_padding_options padding = TD_PADDING_OPTIONS_INIT;
  TD_EXPECT_NULL(td_get(lazy, TD_KEY("x"), &tensor), TD_ERR_SHAPE, tensor);
  TD_DO(td_lazy_get_padded(lazy, TD_KEY("x"), NULL, &tensor));
  TD_CHECK_SIZES(tensor, 2, 2, 2);
  TD_CHECK_VALUES(tensor, 0, 0, 1, 0, 10, 11, 12, 13);
  padding.left = 1;
  padding.value = 9;
  TD_DO(td_lazy_get_padded(lazy, TD_KEY("x"), &padding, &tensor));
  TD_CHECK_SIZES(tensor, 2, 2, 2);
  TD_CHECK_VALUES(tensor, 9, 0, 9, 1, 10, 11, 12, 13);
  TD_EXPECT_NULL(td_lazy_get_jagged(lazy, TD_KEY("x"), &tensor, &offsets), TD_ERR_SHAPE, tensor);
  TD_CHECK(offsets == NULL);
  TD_EXPECT_NULL(td_densify(lazy, NULL, &dense), TD_ERR_SHAPE, dense);
  padding.pad = 1;
  TD_DO(td_densify(lazy, &padding, &dense));
  check_kind(dense, TD_DICT_DENSE);
  TD_CHECK_ENTRY(dense, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(1, 2, 11, 12));
  TD_CHECK_ENTRY(dense, TD_KEY("x"), TD_SIZES(2, 2, 2), TD_VALUES(9, 0, 9, 1, 10, 11, 12, 13));
}

TD_TEST(jagged_values_and_offsets) {
  td_tensordict *one = td_empty(TD_NO_SIZES), *two = td_empty(TD_NO_SIZES);
  td_tensor *values = NULL, *offsets = NULL;
  td_put(one, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  td_put(two, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 7, TD_SIZES(3)));
  td_tensordict *lazy = stack_of(one, two, 0);
  TD_DO(td_lazy_get_jagged(lazy, TD_KEY("x"), &values, &offsets));
  TD_CHECK_SIZES(values, 5);
  TD_CHECK_VALUES(values, 0, 1, 7, 8, 9);
  TD_CHECK_SIZES(offsets, 3);
  TD_CHECK_VALUES(offsets, 0, 2, 5);
}

TD_TEST(indexing_keeps_the_elements) {
  td_tensordict *one = element(0, 3, "p"), *two = element(10, 3, "q");
  td_tensordict *lazy = stack_of(one, two, 0), *part = NULL;
  TD_DO(td_index(lazy, TD_AT(TD_I_INT(1)), &part));
  TD_CHECK(td_is_same_dict(part, two));
  TD_DO(td_index(lazy, TD_AT(TD_I_ALL, TD_I_INT(0)), &part));
  check_kind(part, TD_DICT_LAZY_STACK);
  TD_CHECK_BATCH(part, 2);
  TD_CHECK_ENTRY(part, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 10));
  TD_DO(td_index(lazy, TD_AT(TD_I_UNTIL(0)), &part));
  TD_CHECK_BATCH(part, 0, 2);
  td_tensor *picks = td_filled(TD_DTYPE_INT64, 1, TD_SIZES(3));
  TD_DO(td_index(lazy, TD_AT(TD_I_TENSOR(picks)), &part));
  TD_CHECK_BATCH(part, 3, 2);
  TD_CHECK_ENTRY(part, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(10, 11, 10, 11, 10, 11));
  TD_DO(td_index(lazy, TD_AT(TD_I_TENSOR(picks), TD_I_TENSOR(picks)), &part));
  TD_CHECK_ENTRY(part, TD_KEY("a"), TD_SIZES(3), TD_VALUES(11, 11, 11));
}

TD_TEST(writing_reaches_the_elements) {
  td_tensordict *one = element(0, 3, "p"), *two = element(10, 3, "q");
  td_tensordict *lazy = stack_of(one, two, 0), *row = td_empty(TD_NO_SIZES);
  td_put(lazy, TD_KEY("new"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 2)));
  TD_CHECK_ENTRY(two, TD_KEY("new"), TD_SIZES(2), TD_VALUES(2, 3));
  td_tensor *value = td_filled(TD_DTYPE_INT64, 7, TD_SIZES(2));
  td_tensor *four = td_filled(TD_DTYPE_INT64, 4, TD_NO_SIZES);
  td_tensor *nothing = td_filled(TD_DTYPE_INT64, 0, TD_SIZES(2, 2));
  TD_DO(td_set_inplace(lazy, TD_KEY("n", "b"), value));
  TD_CHECK_ENTRY(one, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(7, 7));
  TD_EXPECT(td_set_inplace(lazy, TD_KEY("p"), value), TD_ERR_KEY_NOT_FOUND);
  TD_DO(td_fill_at(lazy, TD_AT(TD_I_ALL, TD_I_INT(1)), four));
  TD_CHECK_ENTRY(two, TD_KEY("a"), TD_SIZES(2), TD_VALUES(10, 4));
  td_put(row, TD_KEY("a"), td_filled(TD_DTYPE_INT64, 3, TD_NO_SIZES));
  td_put(row, TD_KEY("fresh"), td_filled(TD_DTYPE_FLOAT32, 0.5, TD_NO_SIZES));
  TD_DO(td_set_at(lazy, TD_AT(TD_I_INT(0), TD_I_INT(1)), row));
  TD_CHECK_ENTRY(one, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 3));
  TD_CHECK_ENTRY(one, TD_KEY("fresh"), TD_SIZES(2), TD_VALUES(0, 0.5));
  TD_DO(td_remove(lazy, TD_KEY("new")));
  TD_DO(td_remove(lazy, TD_KEY("fresh"))); /* of one element only */
  TD_EXPECT(td_remove(lazy, TD_KEY("new")), TD_ERR_KEY_NOT_FOUND);
  TD_DO(td_lock(one));
  TD_EXPECT(td_set(lazy, TD_KEY("a"), nothing), TD_ERR_LOCKED);
  TD_CHECK_ENTRY(two, TD_KEY("a"), TD_SIZES(2), TD_VALUES(10, 4)); /* nothing changed */
}

/* The least time of a few, to add so many elements one by one. */
static double seconds_for(int count) {
  td_tensordict *one = td_empty(TD_SIZES(2)), *lazy = NULL;
  td_put(one, TD_KEY("x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  double least = 1e9;
  for (int k = 0; k < 3; k++) {
    struct timespec start, end;
    TD_DO(td_lazy_stack(LIST(one), 0, &lazy));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (int i = 0; i < count; i++) TD_DO(td_lazy_extend(lazy, LIST(one)));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    TD_CHECK_BATCH(lazy, count + 1, 2);
    td_free(lazy);
    const double seconds =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    if (seconds < least) least = seconds;
  }
  return least;
}

TD_TEST(a_stack_grows_at_the_cost_of_what_is_new) {
  /* 16 times as many take 16 times as long, and 256 times if each looked at all before it: far apart, also on a busy machine. */
  const double few = seconds_for(20000), many = seconds_for(320000);
  if (many > 64 * few) td_test_fail(__FILE__, __LINE__, "20,000: %g s, 320,000: %g s", few, many);
}

TD_TEST(elements_are_put_in) {
  td_tensordict *one = element(0, 3, "p"), *two = element(10, 3, "q"), *other;
  td_tensordict *lazy = stack_of(one, two, 0), *small = td_empty(TD_SIZES(3));
  TD_DO(td_lazy_insert(lazy, 0, two));
  TD_DO(td_lazy_extend(lazy, LIST(one, one)));
  TD_CHECK_BATCH(lazy, 5, 2);
  TD_CHECK_ENTRY(lazy, TD_KEY("a"), TD_SIZES(5, 2), TD_VALUES(10, 11, 0, 1, 10, 11, 0, 1, 0, 1));
  TD_EXPECT(td_lazy_insert(lazy, 6, two), TD_ERR_INDEX);
  TD_EXPECT(td_lazy_insert(lazy, 0, small), TD_ERR_SHAPE);
  TD_EXPECT(td_lazy_insert(one, 0, two), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_lazy_extend(lazy, LIST(two, small)), TD_ERR_SHAPE);
  TD_CHECK_BATCH(lazy, 5, 2);
  TD_EXPECT_NULL(td_lazy_stack(LIST(one, lazy), 0, &other), TD_ERR_SHAPE, other);
  TD_DO(td_lock(lazy));
  TD_EXPECT(td_lazy_insert(lazy, 0, two), TD_ERR_LOCKED);
  TD_CHECK_FLAG(td_is_locked, one, 1);
  TD_DO(td_unlock(lazy));
  TD_CHECK_FLAG(td_is_locked, one, 0);
  TD_DO(td_lock(one));
  TD_CHECK_FLAG(td_is_locked, lazy, 0);
  TD_DO(td_lock(two));
  TD_CHECK_FLAG(td_is_locked, lazy, 1); /* all elements are */
}

TD_TEST(inside_itself) {
  td_tensordict *outer = td_empty(TD_NO_SIZES), *lazy = NULL, *again = NULL;
  TD_DO(td_lazy_stack(LIST(outer), 0, &lazy));
  TD_EXPECT(td_set_dict(outer, TD_KEY("self"), lazy), TD_ERR_CYCLE);
  TD_DO(td_index(lazy, TD_AT(TD_I_INT(0)), &again));
  TD_EXPECT(td_lazy_insert(lazy, 0, lazy), TD_ERR_SHAPE);
}

TD_TEST(from_and_to_dense) {
  td_tensordict *td = td_sample(), *lazy = NULL, *dense = NULL;
  TD_DO(td_to_lazy_stack(td, 1, &lazy));
  check_kind(lazy, TD_DICT_LAZY_STACK);
  TD_CHECK_EQUAL(td, lazy);
  TD_DO(td_densify(lazy, NULL, &dense));
  check_kind(dense, TD_DICT_DENSE);
  TD_CHECK_EQUAL(dense, td);
  TD_DO(td_contiguous(lazy, &dense));
  check_kind(dense, TD_DICT_DENSE);
  TD_DO(td_clone(lazy, 0, &dense));
  check_kind(dense, TD_DICT_LAZY_STACK);
  TD_EXPECT_NULL(td_to_lazy_stack(td, 2, &lazy), TD_ERR_INDEX, lazy);
}

TD_TEST(a_chain_of_ten_thousand) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *lazy = NULL, *copy = NULL;
  size_t bytes = 1;
  td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_INT64, 0, TD_NO_SIZES));
  for (int i = 0; i < 10000; ++i) { /* a lazy stack in a dictionary in a lazy stack … */
    TD_DO(td_lazy_stack(LIST(td), 0, &lazy));
    td_free(td);
    td = td_empty(TD_NO_SIZES);
    td_put_dict(td, TD_KEY("n"), lazy);
  }
  TD_EXPECT_NULL(td_clone(td, 0, &copy), TD_ERR_UNSUPPORTED, copy);
  TD_DO(td_nbytes(td, &bytes));
  TD_CHECK_INT(bytes, 8);
  TD_DO(td_lock(td));
  TD_DO(td_unlock(td));
  free(td_printed(td));
}

TD_TEST(without_elements) {
  td_tensordict *one = element(0, 3, "p"), *two = element(10, 4, "q"); /* "x" differs in width */
  td_tensordict *lazy = stack_of(one, two, 0), *none = NULL, *all = NULL;
  td_dict_kind kind = 0;
  TD_DO(td_set_non_tensor_json(one, TD_KEY("note"), "1"));
  TD_DO(td_set_non_tensor_json(two, TD_KEY("note"), "2"));
  TD_DO(td_index(lazy, TD_AT(TD_I_UNTIL(0)), &none));
  TD_CHECK_BATCH(none, 0, 2);
  TD_DO(td_kind(none, &kind));
  TD_CHECK_INT(kind, TD_DICT_DENSE);
  TD_CHECK_SAME_TEXT(td_keys_text(none, NULL), "x a n n/b note"); /* those of all */
  TD_CHECK_ENTRY(none, TD_KEY("x"), TD_SIZES(0, 2, 3), NULL, 0);  /* as wide as the first one's */
  TD_CHECK_ENTRY(none, TD_KEY("n", "b"), TD_SIZES(0, 2), NULL, 0);
  char text[8];
  size_t length = 0;
  TD_DO(td_get_non_tensor_stack_json(none, TD_KEY("note"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "[]");
  TD_EXPECT_NULL(td_lazy_stack(NULL, 0, 0, &all), TD_ERR_INVALID_ARGUMENT, all);
  td_tensordict *again = stack_of(element(0, 3, "p"), element(10, 3, "q"), 0);
  TD_DO(td_index(again, TD_AT(TD_I_UNTIL(0)), &none));
  TD_DO(td_cat(LIST(none, again), 0, &all));
  TD_CHECK_ENTRY(all, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(0, 1, 10, 11));
  free(td_printed(none));
}

TD_TEST(who_else_holds_them) {
  td_tensordict *one = element(0, 3, "p"), *two = element(10, 3, "q"), *lazy, *part = NULL;
  TD_CHECK_FLAG(td_is_uniquely_owned, one, 1);
  lazy = stack_of(one, two, 0);
  TD_CHECK_FLAG(td_is_uniquely_owned, lazy, 0);
  td_free(two);
  td_free(one);
  TD_CHECK_FLAG(td_is_uniquely_owned, lazy, 1);
  TD_DO(td_index(lazy, TD_AT(TD_I_INT(0)), &part));
  TD_CHECK_FLAG(td_is_uniquely_owned, lazy, 0);
  TD_CHECK_FLAG(td_is_uniquely_owned, part, 0);
  td_free(part);
  TD_DO(td_dup(lazy, &part));
  TD_CHECK_FLAG(td_is_uniquely_owned, lazy, 0);
}

TD_TEST(views_stay_lazy) {
  td_tensordict *one = element(0, 3, "p"), *two = element(10, 3, "q");
  td_tensordict *lazy = stack_of(one, two, 0), *view = NULL;
  TD_DO(td_transpose(lazy, 0, 1, &view));
  check_kind(view, TD_DICT_LAZY_STACK);
  TD_CHECK_ENTRY(view, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(0, 10, 1, 11));
  TD_DO(td_unsqueeze(lazy, 1, &view));
  check_kind(view, TD_DICT_LAZY_STACK);
  TD_CHECK_BATCH(view, 2, 1, 2);
  TD_CHECK_ENTRY(view, TD_KEY("n", "b"), TD_SIZES(2, 1, 2), TD_VALUES(1, 2, 11, 12));
}

TD_TEST(printed_with_what_only_some_have) {
  td_tensordict *one = td_empty(TD_NO_SIZES), *two = td_empty(TD_NO_SIZES);
  td_put(one, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  td_put(two, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(3)));
  td_put(two, TD_KEY("z"), td_filled(TD_DTYPE_INT64, 0, TD_NO_SIZES));
  td_tensordict *lazy = stack_of(one, two, 0);
  char *text = td_printed(lazy);
  TD_CHECK_SAME_TEXT(text,
                     "LazyStackedTensorDict(\n"
                     "    fields={\n"
                     "        a: Tensor(shape=torch.Size([2, -1]), device=cpu, "
                     "dtype=torch.float32, is_shared=False)},\n"
                     "    exclusive_fields={\n"
                     "        1 ->\n"
                     "            z: Tensor(shape=torch.Size([]), device=cpu, dtype=torch.int64, "
                     "is_shared=False)},\n"
                     "    batch_size=torch.Size([2]),\n"
                     "    device=None,\n"
                     "    is_shared=False,\n"
                     "    stack_dim=0)");
  free(text);
}
