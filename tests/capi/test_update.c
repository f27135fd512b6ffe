/* Entries of one dictionary into another: stored, written in place, by key, at an index. */
#include "td_keys_text.h"

static const td_update_options inplace = {
    (uint32_t)sizeof inplace, TD_UPDATE_INPLACE, 0, 0, 0, 0, 0, NULL, 0};
static const td_update_options strict = {
    (uint32_t)sizeof strict, TD_UPDATE_STRICT, 0, 0, 0, 0, 0, NULL, 0};

/* {"a": 100…, "n": {"c": 200…, "new": 300…}} of batch [3] */
static td_tensordict *newer(void) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 100, TD_SIZES(3)));
  td_put(td, TD_KEY("n", "c"), td_arange(TD_DTYPE_FLOAT32, 200, TD_SIZES(3, 2)));
  td_put(td, TD_KEY("n", "new"), td_arange(TD_DTYPE_FLOAT32, 300, TD_SIZES(3)));
  return td;
}

TD_TEST(update_stores_tensors_and_keeps_dictionaries) {
  td_tensordict *td = td_nested(0), *source = newer();
  td_tensordict *n = td_take_dict(td, TD_KEY("n"));
  td_tensor *a = td_take(source, TD_KEY("a")), *old = td_take(td, TD_KEY("a"));
  TD_DO(td_update(td, source, NULL));
  TD_CHECK_KEYS(td, "a n n/b n/c n/new");
  TD_CHECK(td_holds(td, TD_KEY("a"), a)); /* this very tensor */
  TD_CHECK_VALUES(old, 0, 1, 2);          /* the one before it was not written to */
  td_tensordict *still = td_take_dict(td, TD_KEY("n"));
  TD_CHECK(td_is_same_dict(n, still));
  TD_CHECK_ENTRY(n, TD_KEY("new"), TD_SIZES(3), TD_VALUES(300, 301, 302));
  TD_CHECK_ENTRY(n, TD_KEY("b"), TD_SIZES(3), TD_VALUES(10, 11, 12));
  TD_DO(td_update(td, td, NULL)); /* itself: nothing */
}

TD_TEST(update_replaces_a_tensor_by_a_dictionary_and_back) {
  td_tensordict *td = td_nested(0), *source = td_empty(TD_SIZES(3));
  td_put(source, TD_KEY("a", "x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3)));
  td_put(source, TD_KEY("n"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3)));
  TD_EXPECT(td_update(td, source, &inplace), TD_ERR_WRONG_ENTRY);
  TD_CHECK_KEYS(td, "a n n/b n/c");
  TD_DO(td_update(td, source, NULL));
  TD_CHECK_KEYS(td, "a a/x n");
}

TD_TEST(update_in_place_writes_and_adds) {
  td_tensordict *td = td_nested(0), *source = newer();
  td_tensor *a = td_take(td, TD_KEY("a"));
  TD_DO(td_update(td, source, &inplace));
  TD_CHECK(td_holds(td, TD_KEY("a"), a));
  TD_CHECK_VALUES(a, 100, 101, 102);
  TD_CHECK_KEYS(td, "a n n/b n/c n/new");
}

TD_TEST(strict_update_wants_every_entry_before_it_writes) {
  td_tensordict *td = td_nested(0), *source = newer();
  TD_EXPECT(td_update(td, source, &strict), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_TEXT(td_last_error_message(), "\"n\"/\"new\"");
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 1, 2)); /* nothing was written */
  TD_DO(td_remove(source, TD_KEY("n", "new")));
  TD_DO(td_lock(td)); /* values may be written */
  td_tensor *a = td_take(td, TD_KEY("a"));
  TD_DO(td_update(td, source, &strict));
  TD_CHECK_VALUES(a, 100, 101, 102);
  TD_CHECK_ENTRY(td, TD_KEY("n", "c"), TD_SIZES(3, 2), TD_VALUES(200, 201, 202, 203, 204, 205));
}

TD_TEST(written_values_are_converted_and_broadcast) {
  td_tensordict *td = td_nested(0), *source = td_empty(TD_NO_SIZES);
  td_put(source, TD_KEY("a"), td_filled(TD_DTYPE_INT64, 7, TD_SIZES(1)));
  td_put(source, TD_KEY("n", "c"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(3, 1)));
  TD_DO(td_update(td, source, &strict));
  td_tensor *a = td_take(td, TD_KEY("a"));
  td_dtype dtype = TD_DTYPE_OTHER;
  TD_DO(td_tensor_dtype(a, &dtype));
  TD_CHECK_INT(dtype, TD_DTYPE_FLOAT32);
  TD_CHECK_VALUES(a, 7, 7, 7);
  TD_CHECK_ENTRY(td, TD_KEY("n", "c"), TD_SIZES(3, 2), TD_VALUES(0, 0, 1, 1, 2, 2));
  td_put(source, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 50, TD_SIZES(3)));
  td_put(source, TD_KEY("n", "c"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  TD_EXPECT(td_update(td, source, &strict), TD_ERR_SHAPE);
  TD_CHECK_VALUES(a, 7, 7, 7); /* the first one was not written either */
}

TD_TEST(a_locked_dictionary_takes_only_values) {
  td_tensordict *td = td_nested(0), *source = newer();
  TD_DO(td_lock(td));
  TD_EXPECT(td_update(td, source, NULL), TD_ERR_LOCKED);
  TD_EXPECT(td_update(td, source, &inplace), TD_ERR_LOCKED); /* "new" is not there */
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  TD_CHECK_KEYS(td, "a n n/b n/c");
  td_update_options ignore = TD_UPDATE_OPTIONS_INIT;
  ignore.ignore_lock = 1;
  TD_DO(td_update(td, source, &ignore));
  TD_CHECK_KEYS(td, "a n n/b n/c n/new");
  TD_CHECK_FLAG(td_is_locked, td, 1);
}

TD_TEST(only_some_keys) {
  td_tensordict *td = td_nested(0), *source = newer(), *fresh = td_empty(TD_SIZES(3));
  const td_key keys[] = {{TD_KEY("n", "new")}, {TD_KEY("nothing")}};
  td_update_options some = TD_UPDATE_OPTIONS_INIT;
  some.has_keys = 1;
  TD_DO(td_update(td, source, &some)); /* none */
  TD_CHECK_KEYS(td, "a n n/b n/c");
  some.keys = keys;
  some.keys_len = 2;
  TD_DO(td_update(td, source, &some));
  TD_CHECK_KEYS(td, "a n n/b n/c n/new");
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  TD_DO(td_update(fresh, source, &some)); /* of a dictionary that is new there only a part */
  TD_CHECK_KEYS(fresh, "n n/new");
  const td_key whole[] = {{TD_KEY("n")}, {TD_KEY("n", "new")}};
  some.keys = whole;
  TD_DO(td_update(fresh, source, &some));
  TD_CHECK_KEYS(fresh, "n n/new n/c");
  some.keys = NULL;
  TD_EXPECT(td_update(fresh, source, &some), TD_ERR_NULL_ARGUMENT);
}

TD_TEST(copies_and_whole_dictionaries) {
  td_tensordict *td = td_nested(0), *source = newer();
  td_tensor *a = td_take(source, TD_KEY("a"));
  td_update_options options = TD_UPDATE_OPTIONS_INIT;
  options.clone = 1;
  TD_DO(td_update(td, source, &options));
  TD_CHECK(!td_holds(td, TD_KEY("a"), a));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(100, 101, 102));
  options.clone = 0;
  options.whole_dicts = 1;
  TD_DO(td_update(td, source, &options));
  TD_CHECK_KEYS(td, "a n n/c n/new");
  td_tensordict *n = td_take_dict(td, TD_KEY("n")), *theirs = td_take_dict(source, TD_KEY("n"));
  TD_CHECK(td_is_same_dict(n, theirs));
}

TD_TEST(batch_sizes_agree_as_far_as_both_go) {
  td_tensordict *td = td_nested(0), *longer = td_empty(TD_SIZES(3, 2)),
                *other = td_empty(TD_SIZES(4));
  td_put(longer, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3, 2)));
  TD_DO(td_update(td, longer, NULL));
  TD_CHECK_BATCH(td, 3);
  TD_EXPECT(td_update(td, other, NULL), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "[4]");
}

TD_TEST(the_batch_size_of_the_source) {
  td_tensordict *td = td_nested(0), *source = td_empty(TD_SIZES(5)),
                *n = td_take_dict(td, TD_KEY("n"));
  td_update_options options = TD_UPDATE_OPTIONS_INIT;
  options.update_batch_size = 1;
  td_put(source, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(5)));
  td_put(source, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(5)));
  TD_EXPECT(td_update(td, source, &options), TD_ERR_KEY_NOT_FOUND); /* n/c is missing */
  TD_CHECK_BATCH(td, 3);
  td_put(source, TD_KEY("n", "c"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(5, 2)));
  TD_DO(td_update(td, source, &options));
  TD_CHECK_BATCH(td, 5);
  TD_CHECK_BATCH(n, 5); /* the same dictionary as before */
  TD_CHECK_ENTRY(n, TD_KEY("b"), TD_SIZES(5), TD_VALUES(0, 1, 2, 3, 4));
  TD_CHECK_BATCH(source, 5);
  options.mode = TD_UPDATE_INPLACE;
  TD_EXPECT(td_update(td, source, &options), TD_ERR_INVALID_ARGUMENT);
  options.mode = TD_UPDATE_STORE;
  options.has_keys = 1;
  TD_EXPECT(td_update(td, source, &options), TD_ERR_INVALID_ARGUMENT);
  options.has_keys = 0;
  TD_DO(td_lock(td));
  TD_EXPECT(td_update(td, source, &options), TD_ERR_LOCKED);
  options.mode = 3;
  TD_EXPECT(td_update(td, source, &options), TD_ERR_INVALID_ARGUMENT);
}

TD_TEST(a_dictionary_never_lies_inside_itself) {
  td_tensordict *td = td_nested(0), *source = td_empty(TD_SIZES(3)),
                *n = td_take_dict(td, TD_KEY("n"));
  TD_DO(td_set_dict(source, TD_KEY("n", "again"), td));
  TD_EXPECT(td_update(td, source, NULL), TD_ERR_CYCLE);
  TD_CHECK_KEYS(td, "a n n/b n/c");
  td_tensordict *beside = td_empty(TD_SIZES(3));
  TD_DO(td_set_dict(beside, TD_KEY("m"), n));
  td_put(beside, TD_KEY("n", "x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  TD_DO(td_update(td, beside, NULL)); /* one dictionary in two places is no cycle */
  TD_CHECK_KEYS(td, "a n n/b n/c n/x m m/b m/c m/x");
}

TD_TEST(update_at_writes_a_part) {
  td_tensordict *td = td_nested(0), *row = td_empty(TD_NO_SIZES);
  td_put(row, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 50, TD_NO_SIZES));
  td_put(row, TD_KEY("n", "c"),
         td_filled(TD_DTYPE_FLOAT32, 60, TD_NO_SIZES)); /* broadcast for itself */
  TD_DO(td_lock(td));
  TD_DO(td_update_at(td, TD_AT(TD_I_INT(1)), row, 0));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 50, 2));
  TD_CHECK_ENTRY(td, TD_KEY("n", "c"), TD_SIZES(3, 2), TD_VALUES(20, 21, 60, 60, 24, 25));
  TD_EXPECT(td_update_at(td, TD_AT(TD_I_INT(1)), row, TD_UPDATE_AT_EXACT),
            TD_ERR_SHAPE); /* exact: c is [2] */
  td_put(row, TD_KEY("n", "c"), td_filled(TD_DTYPE_FLOAT32, 61, TD_SIZES(2)));
  TD_DO(td_update_at(td, TD_AT(TD_I_INT(0)), row, TD_UPDATE_AT_EXACT));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(50, 50, 2));
  td_tensor *rows = td_positions((const int64_t[]){0, 2}, 2);
  TD_EXPECT(td_update_at(td, TD_AT(TD_I_TENSOR(rows)), row, TD_UPDATE_AT_EXACT),
            TD_ERR_INVALID_ARGUMENT);
  TD_DO(td_update_at(td, TD_AT(TD_I_TENSOR(rows)), row, 0));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(50, 50, 50));
  td_put(row, TD_KEY("zz"), td_filled(TD_DTYPE_FLOAT32, 1, TD_NO_SIZES));
  td_put(row, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 1, TD_NO_SIZES));
  TD_EXPECT(td_update_at(td, TD_AT(TD_I_INT(1)), row, 0), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(50, 50, 50));
  TD_EXPECT(td_update_at(td, TD_AT(TD_I_INT(3)), row, 0), TD_ERR_INDEX);
}

TD_TEST(a_lazy_stack_takes_values_element_by_element) {
  td_tensordict *one = td_nested(0), *two = td_nested(100), *lazy = NULL, *source = NULL;
  const td_tensordict *both[] = {one, two};
  TD_DO(td_lazy_stack(both, 2, 0, &lazy));
  TD_DO(td_stack(both, 2, 0, &source));
  td_tensor *a = td_take(source, TD_KEY("a"));
  td_tensor *fives = td_filled(TD_DTYPE_FLOAT32, 5, TD_SIZES(2, 3));
  TD_DO(td_tensor_copy(a, fives));
  TD_DO(td_update(lazy, source, &strict));
  TD_CHECK_ENTRY(one, TD_KEY("a"), TD_SIZES(3), TD_VALUES(5, 5, 5));
  TD_CHECK_ENTRY(two, TD_KEY("a"), TD_SIZES(3), TD_VALUES(5, 5, 5));
  td_put(source, TD_KEY("z"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  TD_DO(td_update(lazy, source, NULL));
  TD_CHECK_ENTRY(two, TD_KEY("z"), TD_SIZES(3), TD_VALUES(3, 4, 5));
}

TD_TEST(a_lazy_stack_makes_a_dense_dictionary_lazy) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *one = td_empty(TD_NO_SIZES),
                *two = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("n", "old"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(one, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(3)));
  td_put(two, TD_KEY("x"),
         td_arange(TD_DTYPE_INT64, 5, TD_SIZES(4))); /* no one tensor could hold both */
  const td_tensordict *both[] = {one, two};
  td_tensordict *lazy = NULL, *source = td_empty(TD_SIZES(2)), *n = NULL;
  TD_DO(td_lazy_stack(both, 2, 0, &lazy));
  TD_DO(td_set_dict(source, TD_KEY("n"), lazy));
  TD_DO(td_update(td, source, NULL));
  n = td_take_dict(td, TD_KEY("n"));
  td_tensordict *first = NULL;
  TD_DO(td_index(n, TD_AT(TD_I_INT(1)), &first));
  TD_CHECK_ENTRY(first, TD_KEY("x"), TD_SIZES(4), TD_VALUES(5, 6, 7, 8));
  TD_CHECK_ENTRY(first, TD_KEY("old"), TD_NO_SIZES, TD_VALUES(1));
  TD_CHECK_KEYS(two, "x"); /* the source stays as it is */
}

TD_TEST(what_is_written_to_a_sub_tensordict_reaches_the_part) {
  td_tensordict *td = td_nested(0), *sub_tensordict = NULL, *source = td_empty(TD_SIZES(2)),
                *result = NULL;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_FROM(1)), &sub_tensordict));
  td_put(source, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 80, TD_SIZES(2)));
  TD_DO(td_update(sub_tensordict, source, &strict));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 80, 81));
  td_put(source, TD_KEY("n", "new"), td_arange(TD_DTYPE_FLOAT32, 90, TD_SIZES(2)));
  TD_EXPECT(td_update(sub_tensordict, source, &strict), TD_ERR_KEY_NOT_FOUND);
  TD_DO(
      td_update(sub_tensordict, source, NULL)); /* made in the whole, with zeros before the part */
  TD_CHECK_ENTRY(td, TD_KEY("n", "new"), TD_SIZES(3), TD_VALUES(0, 90, 91));
  TD_DO(td_rename_key(sub_tensordict, TD_KEY("a"), TD_KEY("z"), 0)); /* of the whole */
  TD_CHECK_KEYS(td, "n n/b n/c n/new z");
  const td_key keys[] = {{TD_KEY("n", "b")}};
  TD_DO(td_select(sub_tensordict, keys, 1, NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(11, 12));
  TD_EXPECT(td_select_inplace(sub_tensordict, keys, 1, NULL), TD_ERR_UNSUPPORTED);
  TD_EXPECT(td_auto_batch_size(sub_tensordict, -1, 0), TD_ERR_UNSUPPORTED);
}
