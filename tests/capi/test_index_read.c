/* Reading by index: the table of index forms, views and copies, and what is refused. */
#include "td_values.h"

/* One row of the table: the batch size, the sizes of "a", and its first value (-1: no element). */
#define READS(batch, batch_dims, sizes, dims, first, ...)                    \
  do {                                                                       \
    td_tensordict *td_part = NULL;                                           \
    TD_DO(td_index(td, TD_AT(__VA_ARGS__), &td_part));                       \
    check_part(__LINE__, td_part, (const int64_t[])UNPACK batch, batch_dims, \
               (const int64_t[])UNPACK sizes, dims, first);                  \
    td_free(td_part);                                                        \
  } while (0)
#define UNPACK(...) \
  { __VA_ARGS__ }

static void check_part(int line, const td_tensordict *part, const int64_t *batch, size_t batch_dims,
                       const int64_t *sizes, size_t dims, double first) {
  td_check_batch(__FILE__, line, part, batch, batch_dims);
  td_tensor *a = td_take(part, TD_KEY("a")), *b = td_take(part, TD_KEY("n", "b"));
  td_tensordict *n = td_take_dict(part, TD_KEY("n"));
  td_check_sizes(__FILE__, line, a, sizes, dims);
  td_check_sizes(__FILE__, line, b, sizes, dims - 1); /* "n", "b" has no dimension of its own */
  td_check_batch(__FILE__, line, n, batch, batch_dims);
  if (first >= 0) {
    td_tensor *dense = NULL;
    void *data = NULL;
    TD_DO(td_tensor_contiguous(a, &dense));
    TD_DO(td_tensor_data(dense, &data));
    if (*(const float *)data != (float)first)
      td_test_fail(__FILE__, line, "the first value is %g, not %g", *(const float *)data, first);
    td_tensor_free(dense);
  }
  td_free(n);
  td_tensor_free(a);
  td_tensor_free(b);
}

TD_TEST(integers_and_slices) {
  td_tensordict *td = td_sample();
  READS((3), 1, (3, 2), 2, 0, TD_I_INT(0));
  READS((3), 1, (3, 2), 2, 18, TD_I_INT(-1));
  READS((1), 0, (2), 1, 8, TD_I_INT(1), TD_I_INT(1));
  READS((4), 1, (4, 2), 2, 4, TD_I_ALL, TD_I_INT(2));
  READS((4), 1, (4, 2), 2, 0, TD_I_ELLIPSIS, TD_I_INT(0));
  READS((3), 1, (3, 2), 2, 12, TD_I_INT(2), TD_I_ELLIPSIS);
  READS((2, 3), 2, (2, 3, 2), 3, 6, TD_I_SLICE(1, 3));
  READS((2, 3), 2, (2, 3, 2), 3, 0, TD_I_STEP(0, 4, 2));
  READS((2, 3), 2, (2, 3, 2), 3, 6, TD_I_SLICE(-3, -1));
  READS((1, 3), 2, (1, 3, 2), 3, 18, TD_I_FROM(3));
  READS((3, 3), 2, (3, 3, 2), 3, 0, TD_I_UNTIL(-1));
  READS((4, 2), 2, (4, 2, 2), 3, 2, TD_I_ALL, TD_I_FROM(1));
  READS((4, 3), 2, (4, 3, 2), 3, 0, TD_I_SLICE(0, 4));
  READS((4, 3), 2, (4, 3, 2), 3, 0, TD_I_SLICE(-100, 100)); /* bounds are cut */
  READS((0, 3), 2, (0, 3, 2), 3, -1, TD_I_SLICE(2, 1));
  READS((0, 3), 2, (0, 3, 2), 3, -1, TD_I_FROM(4));
}

TD_TEST(new_dimensions_and_truths) {
  td_tensordict *td = td_sample();
  READS((1, 4, 3), 3, (1, 4, 3, 2), 4, 0, TD_I_NONE);
  READS((1, 3), 2, (1, 3, 2), 3, 0, TD_I_NONE, TD_I_INT(0));
  READS((1, 3), 2, (1, 3, 2), 3, 6, TD_I_INT(1), TD_I_NONE);
  READS((4, 3, 1), 3, (4, 3, 1, 2), 4, 0, TD_I_ELLIPSIS, TD_I_NONE);
  READS((1, 1, 4, 3), 4, (1, 1, 4, 3, 2), 5, 0, TD_I_NONE, TD_I_NONE);
  READS((1, 4, 3), 3, (1, 4, 3, 2), 4, 0, TD_I_BOOL(1));
  READS((0, 4, 3), 3, (0, 4, 3, 2), 4, -1, TD_I_BOOL(0));
}

TD_TEST(index_tensors) {
  td_tensordict *td = td_sample();
  td_tensor *ends = td_positions((const int64_t[]){0, -1}, 2);
  td_tensor *one = td_filled(TD_DTYPE_INT64, 2, TD_NO_SIZES);
  td_tensor *square = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 2));
  td_tensor *small = td_arange(TD_DTYPE_INT32, 1, TD_SIZES(3));
  td_tensor *none = td_positions(NULL, 0);
  READS((2, 3), 2, (2, 3, 2), 3, 0, TD_I_TENSOR(ends));
  READS((3), 1, (3, 2), 2, 12, TD_I_TENSOR(one));
  READS((2, 2, 3), 3, (2, 2, 3, 2), 4, 0, TD_I_TENSOR(square));
  READS((3, 3), 2, (3, 3, 2), 3, 6, TD_I_TENSOR(small));
  READS((0, 3), 2, (0, 3, 2), 3, -1, TD_I_TENSOR(none));
  READS((4, 2), 2, (4, 2, 2), 3, 0, TD_I_ALL, TD_I_TENSOR(ends));
  READS((2), 1, (2, 2), 2, 12, TD_I_INT(2), TD_I_TENSOR(ends));
}

TD_TEST(several_index_tensors_are_broadcast) {
  td_tensordict *td = td_sample();
  td_tensor *rows = td_positions((const int64_t[]){0, 1}, 2);
  td_tensor *columns = td_positions((const int64_t[]){1, 2}, 2);
  td_tensor *tall = td_arange(TD_DTYPE_INT64, 1, TD_SIZES(2, 1));
  td_tensor *wide = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3));
  td_tensor *three = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3)), *pair = rows;
  td_tensordict *part = NULL;
  READS((2), 1, (2, 2), 2, 2, TD_I_TENSOR(rows), TD_I_TENSOR(columns));
  READS((2, 3), 2, (2, 3, 2), 3, 6, TD_I_TENSOR(tall), TD_I_TENSOR(wide));
  READS((2, 1), 2, (2, 1, 2), 3, 2, TD_I_TENSOR(rows), TD_I_NONE, TD_I_TENSOR(columns));
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_TENSOR(pair), TD_I_TENSOR(three)), &part), TD_ERR_INDEX,
                 part);
}

TD_TEST(values_gathered_are_the_right_ones) {
  td_tensordict *td = td_sample(), *part = NULL;
  td_tensor *rows = td_positions((const int64_t[]){3, 0, 3}, 3);
  td_tensor *columns = td_positions((const int64_t[]){1, 2, 0}, 3);
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(rows)), &part));
  TD_CHECK_ENTRY(part, TD_KEY("n", "b"), TD_SIZES(3, 3), TD_VALUES(9, 10, 11, 0, 1, 2, 9, 10, 11));
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(rows), TD_I_TENSOR(columns)), &part));
  TD_CHECK_ENTRY(part, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(10, 2, 9));
  TD_CHECK_ENTRY(part, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(20, 21, 4, 5, 18, 19));
  TD_DO(td_index(td, TD_AT(TD_I_STEP(0, 4, 3), TD_I_TENSOR(columns)), &part));
  TD_CHECK_ENTRY(part, TD_KEY("n", "b"), TD_SIZES(2, 3), TD_VALUES(1, 2, 0, 10, 11, 9));
}

TD_TEST(masks) {
  td_tensordict *td = td_sample(), *part = NULL;
  td_tensor *rows = td_mask((const int64_t[]){0, 1, 0, 1}, 4);
  td_tensor *columns = td_mask((const int64_t[]){1, 0, 1}, 3);
  td_tensor *nothing = td_mask((const int64_t[]){0, 0, 0, 0}, 4);
  td_tensor *both = td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(4, 3)); /* true at 0, 3, 6, 9 */
  td_tensor *yes = td_filled(TD_DTYPE_BOOL, 1, TD_NO_SIZES);
  td_tensor *no = td_filled(TD_DTYPE_BOOL, 0, TD_NO_SIZES);
  READS((2, 3), 2, (2, 3, 2), 3, 6, TD_I_TENSOR(rows));
  READS((4), 1, (4, 2), 2, 0, TD_I_TENSOR(both));
  READS((2), 1, (2, 2), 2, 0, TD_I_INT(0), TD_I_TENSOR(columns));
  READS((4, 2), 2, (4, 2, 2), 3, 0, TD_I_ALL, TD_I_TENSOR(columns));
  READS((0, 3), 2, (0, 3, 2), 3, -1, TD_I_TENSOR(nothing));
  READS((1, 4, 3), 3, (1, 4, 3, 2), 4, 0, TD_I_TENSOR(yes));
  READS((0, 4, 3), 3, (0, 4, 3, 2), 4, -1, TD_I_TENSOR(no));
  READS((2), 1, (2, 2), 2, 6, TD_I_TENSOR(rows), TD_I_TENSOR(columns)); /* broadcast: (1,0) (3,2) */
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(rows), TD_I_TENSOR(columns)), &part));
  TD_CHECK_ENTRY(part, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(3, 11));
}

TD_TEST(index_tensors_apart_from_each_other_go_to_the_front) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3, 4)), *part = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3, 4)));
  td_tensor *first = td_positions((const int64_t[]){1, 0}, 2);
  td_tensor *last = td_positions((const int64_t[]){3, 2}, 2);
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(first), TD_I_ALL, TD_I_TENSOR(last)), &part));
  TD_CHECK_BATCH(part, 2, 3);
  TD_CHECK_ENTRY(part, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(15, 19, 23, 2, 6, 10));
  TD_DO(td_index(td, TD_AT(TD_I_ALL, TD_I_TENSOR(first), TD_I_TENSOR(last)), &part));
  TD_CHECK_BATCH(part, 2, 2);
  TD_CHECK_ENTRY(part, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(7, 2, 19, 14));
  TD_DO(td_index(td, TD_AT(TD_I_INT(1), TD_I_ALL, TD_I_TENSOR(last)), &part));
  TD_CHECK_ENTRY(part, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(15, 14, 19, 18, 23, 22));
}

TD_TEST(an_index_that_changes_nothing_gives_the_same_dictionary) {
  td_tensordict *td = td_sample(), *part = NULL;
  int number = 0;
#define SAME(...)                                                            \
  do {                                                                       \
    char name[16] = {'s', (char)('0' + number++), '\0'};                     \
    TD_DO(td_index(td, __VA_ARGS__, &part));                                 \
    td_put(part, TD_KEY(name), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3))); \
    td_tensor *seen = td_take(td, TD_KEY(name));                             \
    td_tensor_free(seen);                                                    \
    td_free(part);                                                           \
  } while (0)
  SAME(NULL, 0);
  SAME(TD_AT(TD_I_ELLIPSIS));
  SAME(TD_AT(TD_I_ALL));
  SAME(TD_AT(TD_I_ALL, TD_I_ALL));
#undef SAME
  TD_DO(td_index(td, TD_AT(TD_I_SLICE(0, 4)), &part)); /* a slice that says where: another one */
  td_put(part, TD_KEY("mine"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(td, TD_KEY("mine"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

TD_TEST(views_share_and_gathers_copy) {
  td_tensordict *td = td_sample(), *view = NULL, *copy = NULL;
  td_tensor *position = td_positions((const int64_t[]){1}, 1);
  td_tensor *hundred = td_filled(TD_DTYPE_INT64, 100, TD_NO_SIZES);
  TD_DO(td_index(td, TD_AT(TD_I_NONE, TD_I_INT(1), TD_I_FROM(1)), &view));
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(position)), &copy));
  TD_DO(td_set_inplace(view, TD_KEY("n", "b"), hundred));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 100, 100, 6, 7, 8, 9, 10, 11));
  TD_CHECK_ENTRY(copy, TD_KEY("n", "b"), TD_SIZES(1, 3), TD_VALUES(3, 4, 5));
}

TD_TEST(nested_dictionaries_keep_what_lies_behind) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *part = NULL, *n = NULL;
  td_put_dict(td, TD_KEY("n"), td_sample());
  TD_DO(td_index(td, TD_AT(TD_I_INT(1)), &part));
  TD_CHECK_NO_BATCH(part);
  n = td_take_dict(part, TD_KEY("n"));
  TD_CHECK_BATCH(n, 3);
  TD_CHECK_ENTRY(n, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(3, 4, 5));
}

TD_TEST(empty_dictionaries_have_indices_too) {
  td_tensordict *td = td_empty(TD_SIZES(4, 3)), *part = NULL;
  td_tensor *rows = td_positions((const int64_t[]){0, 1}, 2);
  td_tensor *columns = td_positions((const int64_t[]){1, 2}, 2);
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(rows), TD_I_TENSOR(columns)), &part));
  TD_CHECK_BATCH(part, 2);
  TD_DO(td_index(td, TD_AT(TD_I_ELLIPSIS, TD_I_NONE), &part));
  TD_CHECK_BATCH(part, 4, 3, 1);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_INT(4)), &part), TD_ERR_INDEX, part);
}

TD_TEST(without_batch_only_new_dimensions) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *part = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_DO(td_index(td, TD_AT(TD_I_NONE), &part));
  TD_CHECK_BATCH(part, 1);
  TD_CHECK_ENTRY(part, TD_KEY("a"), TD_SIZES(1, 2), TD_VALUES(0, 1));
  TD_DO(td_index(td, TD_AT(TD_I_BOOL(1)), &part));
  TD_CHECK_BATCH(part, 1);
  TD_DO(td_index(td, TD_AT(TD_I_BOOL(0)), &part));
  TD_CHECK_BATCH(part, 0);
  TD_DO(td_index(td, TD_AT(TD_I_ELLIPSIS), &part));
  TD_CHECK_NO_BATCH(part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_INT(0)), &part), TD_ERR_INDEX, part);
}
