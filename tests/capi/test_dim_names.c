/* Names of batch dimensions: set, changed, and what operations make of them. */
#include <stdio.h>
#include <string.h>

#include "td_values.h"

#define NAMES(...)                    \
  (const char *const[]){__VA_ARGS__}, \
      (sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
#define NO_NAMES NULL, 0

/* "x,-,y" */
static void check(const char *file, int line, const td_tensordict *td, const char *want) {
  td_keys *names = NULL;
  char text[256] = "";
  TD_DO(td_names(td, &names));
  for (size_t i = 0; i < td_keys_len(names); i++) {
    const char *const *path = NULL;
    size_t n = 99;
    TD_DO(td_keys_at(names, i, &path, &n));
    TD_CHECK(n < 2);
    if (i != 0) strcat(text, ",");
    strcat(text, n == 0 ? "-" : path[0]);
  }
  td_keys_free(names);
  if (strcmp(text, want) != 0) td_test_fail(file, line, "the names are %s, not %s", text, want);
}
#define CHECK_NAMES(td, want) check(__FILE__, __LINE__, (td), (want))

/* Takes the result of an operation, checks it and frees it. */
#define CHECK_RESULT(call, want)  \
  do {                            \
    td_tensordict *result = NULL; \
    TD_DO(call);                  \
    CHECK_NAMES(result, want);    \
    td_free(result);              \
  } while (0)

/* td_sample() with the names x and y: "n" is nested. */
static td_tensordict *named(void) {
  td_tensordict *td = td_sample();
  TD_DO(td_set_names(td, NAMES("x", "y")));
  return td;
}

static void check_nested(const td_tensordict *td, const char *want) {
  td_tensordict *inner = td_take_dict(td, TD_KEY("n"));
  CHECK_NAMES(inner, want);
}

TD_TEST(none_at_first_and_again_after_clearing) {
  td_tensordict *td = td_sample();
  CHECK_NAMES(td, "-,-");
  TD_DO(td_set_names(td, NAMES("x", NULL)));
  CHECK_NAMES(td, "x,-");
  check_nested(td, "x,-");
  TD_DO(td_lock(td));
  TD_DO(td_set_names(td, NAMES(NULL, "y"))); /* allowed when locked */
  CHECK_NAMES(td, "-,y");
  TD_DO(td_set_names(td, NO_NAMES));
  CHECK_NAMES(td, "-,-");
  check_nested(td, "-,-");
  td_free(td);
  td = td_empty(TD_NO_SIZES);
  CHECK_NAMES(td, "");
  TD_DO(td_set_names(td, NO_NAMES));
}

TD_TEST(nested_dictionaries_keep_the_names_of_further_dimensions) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *inner = td_empty(TD_SIZES(4, 3));
  TD_DO(td_set_names(inner, NAMES("a", "b")));
  td_put_dict(td, TD_KEY("n"), inner);
  CHECK_NAMES(td, "a"); /* taken over */
  TD_DO(td_set_names(td, NAMES("x")));
  check_nested(td, "x,b");
  TD_EXPECT(td_set_names(td, NAMES("b")), TD_ERR_INVALID_ARGUMENT);
  CHECK_NAMES(td, "x");
  check_nested(td, "x,b");
  TD_DO(td_set_names(td, NO_NAMES));
  check_nested(td, "-,-");
}

TD_TEST(names_that_are_refused_leave_the_old_ones) {
  td_tensordict *td = named();
  TD_EXPECT(td_set_names(td, NAMES("a")), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK_TEXT(td_last_error_message(), "1 names for batch size [4, 3] of 2 dimensions");
  TD_EXPECT(td_set_names(td, NAMES("a", "a")), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_set_names(td, NAMES("a", "\xff")), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_rename_dims(td, (const char *const[]){"q"}, NAMES("z")), TD_ERR_INVALID_ARGUMENT);
  CHECK_NAMES(td, "x,y");
}

TD_TEST(rename) {
  td_tensordict *td = named();
  const char *const swapped[] = {"y", "x"}, *const both[] = {"x", "y"};
  TD_DO(td_rename_dims(td, both, swapped, 2));
  CHECK_NAMES(td, "y,x");
  check_nested(td, "y,x");
  TD_DO(td_rename_dims(td, (const char *const[]){"x"}, NAMES(NULL)));
  CHECK_NAMES(td, "y,-");
  TD_DO(td_rename_dims(td, NULL, NULL, 0));
  CHECK_NAMES(td, "y,-");
  TD_EXPECT(td_rename_dims(td, (const char *const[]){"y", "y"}, both, 2), TD_ERR_INVALID_ARGUMENT);
}

TD_TEST(refine) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3, 4));
  TD_DO(td_refine_names(td, NAMES("a", "...")));
  CHECK_NAMES(td, "a,-,-");
  TD_DO(td_refine_names(td, NAMES("...", "c")));
  CHECK_NAMES(td, "a,-,c");
  TD_DO(td_refine_names(td, NAMES("a", "...", "c")));
  TD_DO(td_refine_names(td, NAMES("a", NULL, "c", "...")));
  TD_EXPECT(td_refine_names(td, NAMES("b", "...")), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_refine_names(td, NAMES(NULL, "...")), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_refine_names(td, NAMES("...", "...")), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_refine_names(td, NAMES("a", "b", "c", "...", "d")), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_refine_names(td, NO_NAMES), TD_ERR_INVALID_ARGUMENT);
  TD_DO(td_refine_names(td, NAMES("a", "b", "c")));
  CHECK_NAMES(td, "a,b,c");
}

TD_TEST(what_is_stored_must_agree) {
  td_tensordict *td = named(), *inner = td_empty(TD_SIZES(4, 3, 2)), *stored;
  td_put_dict(td, TD_KEY("m"), td_empty(TD_SIZES(4, 3)));
  stored = td_take_dict(td, TD_KEY("m"));
  CHECK_NAMES(stored, "x,y");
  TD_DO(td_set_names(inner, NAMES("x", NULL, "z")));
  TD_DO(td_set_dict(td, TD_KEY("k"), inner));
  stored = td_take_dict(td, TD_KEY("k"));
  CHECK_NAMES(stored, "x,y,z");
  CHECK_NAMES(inner, "x,-,z"); /* a copy was stored */
  TD_DO(td_set_names(inner, NAMES("q", NULL, NULL)));
  TD_EXPECT(td_set_dict(td, TD_KEY("k"), inner), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK_TEXT(td_last_error_message(),
                "\"k\" has names [q, None, None], which do not fit [x, y]");
  td_put(td, TD_KEY("new", "b"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  stored = td_take_dict(td, TD_KEY("new"));
  CHECK_NAMES(stored, "x,y"); /* made on the way */
}

TD_TEST(index) {
  td_tensordict *td = named();
  td_tensor *positions = td_positions((const int64_t[]){2, 0, 1}, 3),
            *truths = td_mask((const int64_t[]){1, 0, 1, 0}, 4);
  CHECK_RESULT(td_index(td, TD_AT(TD_I_INT(0)), &result), "y");
  CHECK_RESULT(td_index(td, TD_AT(TD_I_ALL, TD_I_INT(0)), &result), "x");
  CHECK_RESULT(td_index(td, TD_AT(TD_I_ELLIPSIS, TD_I_INT(0)), &result), "x");
  CHECK_RESULT(td_index(td, TD_AT(TD_I_SLICE(0, 2)), &result), "x,y");
  CHECK_RESULT(td_index(td, TD_AT(TD_I_NONE), &result), "-,x,y");
  CHECK_RESULT(td_index(td, TD_AT(TD_I_TENSOR(positions)), &result), "x,y");
  CHECK_RESULT(td_index(td, TD_AT(TD_I_TENSOR(truths)), &result), "-,y");
  truths = td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(4, 3));
  CHECK_RESULT(td_index(td, TD_AT(TD_I_TENSOR(truths)), &result), "-");
  td_tensor *square = td_filled(TD_DTYPE_INT64, 1, TD_SIZES(2, 2));
  CHECK_RESULT(td_index(td, TD_AT(TD_I_TENSOR(square)), &result), "-,-,y");
  td_tensordict *result = NULL;
  TD_DO(td_index(td, TD_AT(TD_I_INT(0)), &result));
  check_nested(result, "y");
}

TD_TEST(shapes) {
  td_tensordict *td = named();
  CHECK_RESULT(td_unsqueeze(td, 1, &result), "x,-,y");
  CHECK_RESULT(td_transpose(td, 0, 1, &result), "y,x");
  CHECK_RESULT(td_permute(td, TD_SIZES(1, 0), &result), "y,x");
  CHECK_RESULT(td_view(td, TD_SIZES(12), &result), "-");
  CHECK_RESULT(td_reshape(td, TD_SIZES(2, 6), &result), "-,-");
  CHECK_RESULT(td_expand(td, TD_SIZES(2, 4, 3), &result), "-,x,y");
  CHECK_RESULT(td_clone(td, 0, &result), "x,y");
  CHECK_RESULT(td_to_dtype(td, TD_DTYPE_FLOAT64, &result), "x,y");
  td_tensordict *parts[3] = {NULL, NULL, NULL}, *flat = NULL;
  size_t count = 0;
  TD_DO(td_unbind(td, 1, parts, 3, &count));
  for (size_t i = 0; i < count; i++) {
    CHECK_NAMES(parts[i], "x");
    check_nested(parts[i], "x");
  }
  CHECK_RESULT(td_stack((const td_tensordict *const *)parts, 3, 0, &result), "-,x");
  CHECK_RESULT(td_cat((const td_tensordict *const *)parts, 3, 0, &result), "x");
  TD_DO(td_set_names(parts[2], NAMES("z")));
  CHECK_RESULT(td_stack((const td_tensordict *const *)parts, 3, 0, &result), "-,-");
  for (size_t i = 0; i < count; i++) td_free(parts[i]);
  TD_DO(td_index(td, TD_AT(TD_I_SLICE(0, 1)), &flat));
  CHECK_RESULT(td_squeeze(flat, 0, &result), "y");
  CHECK_RESULT(td_call(flat, "aten::neg", NULL, 0, NULL, &result, 1, &count), "x,y");
}

TD_TEST(another_batch_size) {
  td_tensordict *td = named();
  TD_DO(td_set_batch_size(td, TD_SIZES(4)));
  CHECK_NAMES(td, "x");
  check_nested(td, "x,y");
  TD_DO(td_set_batch_size(td, TD_SIZES(4, 3)));
  CHECK_NAMES(td, "x,-");
}

TD_TEST(operations_on_every_tensor) {
  td_tensordict *td = named();
  const int64_t first[] = {0};
  td_reduce_options options = TD_REDUCE_OPTIONS_INIT;
  options.over = TD_REDUCE_OVER_DIMS;
  options.dims = first;
  options.dims_len = 1;
  CHECK_RESULT(td_reduce(td, TD_REDUCE_SUM, &options, &result), "y");
  options.keepdim = 1;
  CHECK_RESULT(td_reduce(td, TD_REDUCE_SUM, &options, &result), "x,y");
  CHECK_RESULT(td_unary(td, TD_UNARY_NEG, &result), "x,y");
  CHECK_RESULT(td_contiguous(td, &result), "x,y");
  CHECK_RESULT(td_clone(td, TD_CLONE_SHALLOW, &result), "x,y");
  CHECK_RESULT(td_empty_like(td, TD_EMPTY_LIKE_RECURSE, &result), "x,y");
}

TD_TEST(rows) {
  td_tensordict *td = named();
  CHECK_RESULT(td_flip(td, TD_SIZES(0), &result), "x,y");
  CHECK_RESULT(td_roll(td, (const int64_t[]){1}, TD_SIZES(1), &result), "x,y");
  CHECK_RESULT(td_repeat(td, TD_SIZES(2, 2), 0, &result), "x,y");
  CHECK_RESULT(td_rot90(td, 1, 0, 1, &result), "y,x");
  CHECK_RESULT(td_narrow(td, 1, 0, 2, &result), "x,y");
  CHECK_RESULT(td_movedim(td, (const int64_t[]){0}, TD_SIZES(1), &result), "y,x");
  td_tensor *repeats = td_filled(TD_DTYPE_INT64, 2, TD_NO_SIZES);
  CHECK_RESULT(td_repeat_interleave(td, repeats, 0, &result), "x,y");
  td_tensor *index = td_filled(TD_DTYPE_INT64, 1, TD_SIZES(4, 2));
  CHECK_RESULT(td_gather(td, 1, index, &result), "x,y");
  td_tensor *truths = td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(4, 3));
  CHECK_RESULT(td_masked_select(td, truths, &result), "-");
}

TD_TEST(lazy_stacks) {
  td_tensordict *one = named(), *two = named(), *lazy = NULL, *part = NULL;
  const td_tensordict *both[] = {one, two};
  TD_DO(td_lazy_stack(both, 2, 1, &lazy));
  CHECK_NAMES(lazy, "x,-,y");
  TD_DO(td_set_names(lazy, NAMES("a", "s", "b")));
  CHECK_NAMES(lazy, "a,s,b");
  CHECK_NAMES(one, "a,b"); /* its element */
  check_nested(two, "a,b");
  CHECK_RESULT(td_index(lazy, TD_AT(TD_I_ALL, TD_I_SLICE(0, 1)), &result), "a,s,b");
  CHECK_RESULT(td_index(lazy, TD_AT(TD_I_INT(0)), &result), "s,b");
  CHECK_RESULT(td_index(lazy, TD_AT(TD_I_ALL, TD_I_INT(0)), &result), "a,b");
  CHECK_RESULT(td_transpose(lazy, 0, 1, &result), "s,a,b");
  CHECK_RESULT(td_clone(lazy, 0, &result), "a,s,b");
  CHECK_RESULT(td_unary(lazy, TD_UNARY_NEG, &result), "a,s,b");
  check_nested(lazy, "a,s,b");
  TD_DO(td_set_names(lazy, NO_NAMES));
  CHECK_NAMES(two, "-,-");
  TD_DO(td_set_names(one, NAMES("x", "y")));
  TD_DO(td_set_names(two, NAMES("x", "z")));
  TD_EXPECT_NULL(td_lazy_stack(both, 2, 0, &part), TD_ERR_INVALID_ARGUMENT, part);
}

/* Its first element was named after it was made. Stored, all of it has the names that its new place gets. */
TD_TEST(a_lazy_stack_of_elements_with_other_names) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *one = td_empty(TD_SIZES(4)),
                *two = td_empty(TD_SIZES(4));
  td_tensordict *lazy = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, 1, &lazy));
  TD_DO(td_set_names(one, NAMES("x")));
  TD_DO(td_set_dict(td, TD_KEY("b"), lazy));
  CHECK_NAMES(td, "x");
  CHECK_NAMES(two, "-");
  td_tensordict *stored = td_take_dict(td, TD_KEY("b"));
  CHECK_NAMES(stored, "x,-");
  CHECK_RESULT(td_index(stored, TD_AT(TD_I_ALL, TD_I_INT(1)), &result), "x");
  /* Stored a second time, where it is already. */
  TD_DO(td_set_dict(td, TD_KEY("b"), stored));
  CHECK_RESULT(td_index(stored, TD_AT(TD_I_ALL, TD_I_INT(1)), &result), "x");
}

/* An element that has lost dimensions has lost their names: those of the stack were looked for behind them. */
TD_TEST(an_element_with_another_batch_size) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3)), *lazy = NULL, *sub = NULL;
  const td_tensordict *const two[] = {td, td};
  TD_DO(td_lazy_stack(two, 2, 2, &lazy));
  TD_DO(td_sub_tensordict(lazy, TD_AT(TD_I_INT(0)), &sub));
  TD_DO(td_set_names(td, NAMES("x", "y")));
  CHECK_NAMES(lazy, "x,y,-");
  TD_DO(td_set_batch_size(td, TD_SIZES(2)));
  CHECK_NAMES(lazy, "x,-,-");
  CHECK_NAMES(sub, "-,-");
  TD_DO(td_set_batch_size(td, TD_SIZES(2, 1, 1, 1)));
  TD_DO(td_set_names(td, NAMES("x", "y", "z", "w")));
  CHECK_NAMES(lazy, "x,y,-");
}

TD_TEST(sub_tensordicts_have_the_names_of_their_part) {
  td_tensordict *td = named(), *sub_tensordict = NULL;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_INT(0)), &sub_tensordict));
  CHECK_NAMES(sub_tensordict, "y");
  TD_EXPECT(td_set_names(sub_tensordict, NAMES("z")), TD_ERR_UNSUPPORTED);
  TD_EXPECT(td_refine_names(sub_tensordict, NAMES("y")), TD_ERR_UNSUPPORTED);
  CHECK_NAMES(sub_tensordict, "y");
  CHECK_RESULT(td_clone(sub_tensordict, 0, &result), "y");
}

TD_TEST(pad_keeps_names_and_tile_does_not) {
  td_tensordict *td = named(), *lazy = NULL;
  CHECK_RESULT(td_pad(td, TD_SIZES(1, 0, 0, 2), 0, &result), "x,y");
  CHECK_RESULT(td_repeat(td, TD_SIZES(1, 2), 0, &result), "x,y");
  CHECK_RESULT(td_repeat(td, TD_SIZES(1, 2), TD_REPEAT_TILE, &result), "-,-");
  CHECK_RESULT(td_repeat(td, TD_SIZES(1, 1), TD_REPEAT_TILE, &result), "-,-");
  TD_DO(td_lazy_stack((const td_tensordict *const[]){td, td}, 2, 0, &lazy));
  TD_DO(td_set_names(lazy, NAMES("s", "x", "y")));
  CHECK_RESULT(td_index(lazy, TD_AT(TD_I_UNTIL(0)), &result), "s,x,y");
  CHECK_RESULT(td_pad(lazy, TD_SIZES(0, 1), 0, &result), "s,x,y");
  TD_DO(td_lazy_stack((const td_tensordict *const[]){td_sample(), td_sample()}, 2, 0, &lazy));
  TD_DO(td_set_names(lazy, NAMES("s", NULL, NULL)));
  CHECK_RESULT(td_pad(lazy, TD_SIZES(0, 1), 0, &result), "-,-,-"); /* its name alone */
}

TD_TEST(updates_and_new_entries) {
  td_tensordict *td = td_sample(), *source = named();
  TD_DO(td_update(td, source, NULL));
  check_nested(td, "-,-"); /* it was there before */
  source = td_empty(TD_SIZES(4, 3));
  td_put_dict(source, TD_KEY("new"), td_empty(TD_SIZES(4, 3)));
  TD_DO(td_set_names(td, NAMES("x", "y")));
  TD_DO(td_update(td, source, NULL));
  td_tensordict *made = td_take_dict(td, TD_KEY("new"));
  CHECK_NAMES(made, "x,y");
}

TD_TEST(a_deep_tree) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  const char *path[5000];
  for (size_t i = 0; i < 5000; i++) path[i] = "n";
  td_put(td, path, 5000, td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  TD_DO(td_set_names(td, NAMES("x")));
  td_tensordict *inner = td_take_dict(td, path, 4999);
  CHECK_NAMES(inner, "x");
}
