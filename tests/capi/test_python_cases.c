/* Minimal cases that random calls beside Python's tensordict have found. The values are Python's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

#define ARGS(...)                          \
  (const td_call_argument[]){__VA_ARGS__}, \
      (sizeof((const td_call_argument[]){__VA_ARGS__}) / sizeof(td_call_argument))

/* A lazy stack along `dim`. */
static td_tensordict *stack_of(td_tensordict *one, td_tensordict *two, int64_t dim) {
  td_tensordict *result = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, dim, &result));
  return result;
}

/* {"k": `count` numbers from `first` on} of batch size [count]. */
static td_tensordict *row(int64_t first, int64_t count) {
  td_tensordict *td = td_empty(TD_SIZES(count));
  td_put(td, TD_KEY("k"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(count)));
  return td;
}

/* ---- numbers that a dtype cannot hold */

static void refused(td_dtype dtype, td_binary_op op, td_operand bound, const char *number) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *result = NULL;
  td_put(td, TD_KEY("u"), td_filled(dtype, 1, TD_SIZES(1)));
  TD_EXPECT_NULL(td_binary(td, op, &bound, NULL, &result), TD_ERR_DTYPE, result);
  TD_CHECK_TEXT(td_last_error_message(), number);
  TD_EXPECT(td_binary_inplace(td, op, &bound, NULL), TD_ERR_DTYPE);
  TD_CHECK_TEXT(td_last_error_message(), number);
  TD_CHECK_ENTRY(td, TD_KEY("u"), TD_SIZES(1), TD_VALUES(1));
}

/* The values stay as they are. */
static void unbounded(td_dtype dtype, td_binary_op op, td_operand bound) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *result = NULL;
  td_put(td, TD_KEY("u"), td_filled(dtype, 1, TD_SIZES(1)));
  TD_DO(td_binary(td, op, &bound, NULL, &result));
  TD_CHECK_DTYPE(result, TD_KEY("u"), dtype);
  TD_CHECK_ENTRY(result, TD_KEY("u"), TD_SIZES(1), TD_VALUES(1));
  TD_DO(td_binary_inplace(td, op, &bound, NULL));
  TD_CHECK_ENTRY(td, TD_KEY("u"), TD_SIZES(1), TD_VALUES(1));
}

TD_TEST(a_bound_beyond_the_dtype_restricts_nothing_or_is_refused) {
  const td_binary_op lower[] = {TD_BINARY_MAXIMUM, TD_BINARY_CLAMP_MIN},
                     upper[] = {TD_BINARY_MINIMUM, TD_BINARY_CLAMP_MAX};
  td_tensor *large = td_filled(TD_DTYPE_INT64, 200, TD_NO_SIZES);
  td_tensor *small = td_filled(TD_DTYPE_INT16, -3, TD_NO_SIZES);
  const td_operand far = TD_O_INT(INT64_C(1) << 40);
  for (size_t i = 0; i < 2; i++) {
    refused(TD_DTYPE_INT8, lower[i], (td_operand)TD_O_INT(200), "200");
    refused(TD_DTYPE_INT8, upper[i], (td_operand)TD_O_INT(-129), "-129");
    refused(TD_DTYPE_INT8, lower[i], (td_operand)TD_O_TENSOR(large), "200");
    refused(TD_DTYPE_UINT8, lower[i], (td_operand)TD_O_INT(300), "300");
    refused(TD_DTYPE_UINT8, upper[i], (td_operand)TD_O_INT(-3), "-3");
    refused(TD_DTYPE_INT32, lower[i], far, "1099511627776");
    unbounded(TD_DTYPE_INT8, upper[i], (td_operand)TD_O_INT(200));
    unbounded(TD_DTYPE_INT8, lower[i], (td_operand)TD_O_INT(-129));
    unbounded(TD_DTYPE_INT8, upper[i], (td_operand)TD_O_TENSOR(large));
    unbounded(TD_DTYPE_UINT8, lower[i], (td_operand)TD_O_TENSOR(small));
    unbounded(TD_DTYPE_UINT8, upper[i], (td_operand)TD_O_INT(300));
    unbounded(TD_DTYPE_UINT8, lower[i], (td_operand)TD_O_INT(-3));
    unbounded(TD_DTYPE_INT16, upper[i], far);
    unbounded(TD_DTYPE_INT32, upper[i], far);
    refused(TD_DTYPE_FLOAT32, lower[i], (td_operand)TD_O_DOUBLE(1e300), "1e+300");
    refused(TD_DTYPE_FLOAT32, upper[i], (td_operand)TD_O_DOUBLE(1e300), "1e+300");
  }
}

TD_TEST(a_clamp_of_which_one_bound_restricts) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *result = NULL;
  td_put(td, TD_KEY("u"), td_arange(TD_DTYPE_INT8, 1, TD_SIZES(3)));
  TD_DO(td_ternary(td, TD_TERNARY_CLAMP, TD_BY(TD_O_INT(-200)), TD_BY(TD_O_INT(2)), 1, &result));
  TD_CHECK_ENTRY(result, TD_KEY("u"), TD_SIZES(3), TD_VALUES(1, 2, 2));
  TD_DO(td_ternary(td, TD_TERNARY_CLAMP, NULL, TD_BY(TD_O_INT(200)), 1, &result));
  TD_CHECK_ENTRY(result, TD_KEY("u"), TD_SIZES(3), TD_VALUES(1, 2, 3));
  TD_EXPECT_NULL(td_ternary(td, TD_TERNARY_CLAMP, TD_BY(TD_O_INT(200)), NULL, 1, &result),
                 TD_ERR_DTYPE, result);
  TD_EXPECT(td_ternary_inplace(td, TD_TERNARY_CLAMP, TD_BY(TD_O_INT(0)), TD_BY(TD_O_INT(-200)), 1),
            TD_ERR_DTYPE);
  TD_CHECK_ENTRY(td, TD_KEY("u"), TD_SIZES(3), TD_VALUES(1, 2, 3));
  TD_DO(td_ternary(td, TD_TERNARY_CLAMP, TD_BY(TD_O_INT(-128)), TD_BY(TD_O_INT(2)), 1, &result));
  TD_CHECK_ENTRY(result, TD_KEY("u"), TD_SIZES(3), TD_VALUES(1, 2, 2));
}

TD_TEST(a_bound_of_another_kind_makes_a_float) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *result = NULL;
  td_put(td, TD_KEY("u"), td_filled(TD_DTYPE_INT8, 1, TD_SIZES(1)));
  TD_DO(td_binary(td, TD_BINARY_CLAMP_MIN, TD_BY(TD_O_DOUBLE(1000.5)), NULL, &result));
  TD_CHECK_DTYPE(result, TD_KEY("u"), TD_DTYPE_FLOAT32);
  TD_CHECK_ENTRY(result, TD_KEY("u"), TD_SIZES(1), TD_VALUES(1000.5));
}

/* ---- the smallest integer divided by -1 */

/* {"i": int32 [2], "l": int64 [2]}: the smallest number, and 7. */
static td_tensordict *smallest(void) {
  const int32_t narrow[] = {INT32_MIN, 7};
  const int64_t wide[] = {INT64_MIN, 7};
  td_tensor *tensor = NULL;
  td_tensordict *td = td_empty(TD_SIZES(2));
  TD_DO(td_tensor_from_data(narrow, sizeof narrow, TD_SIZES(2), TD_DTYPE_INT32, &tensor));
  td_put(td, TD_KEY("i"), tensor);
  TD_DO(td_tensor_from_data(wide, sizeof wide, TD_SIZES(2), TD_DTYPE_INT64, &tensor));
  td_put(td, TD_KEY("l"), tensor);
  return td;
}

static void check_both(td_tensordict *td, int64_t narrow, int64_t wide, int64_t other) {
  td_tensor *tensor = td_take(td, TD_KEY("i"));
  int32_t i[2];
  int64_t l[2];
  TD_DO(td_tensor_copy_to(tensor, i, sizeof i));
  td_tensor_free(tensor);
  tensor = td_take(td, TD_KEY("l"));
  TD_DO(td_tensor_copy_to(tensor, l, sizeof l));
  td_tensor_free(tensor);
  TD_CHECK_INT(i[0], narrow);
  TD_CHECK_INT(l[0], wide);
  TD_CHECK_INT(i[1], other);
  TD_CHECK_INT(l[1], other);
}

TD_TEST(a_remainder_of_minus_one_is_zero) {
  td_tensor *scalar = td_filled(TD_DTYPE_INT64, -1, TD_NO_SIZES);
  td_tensor *each = td_filled(TD_DTYPE_INT32, -1, TD_SIZES(2));
  td_tensordict *by = smallest(), *td = smallest(), *result = NULL;
  TD_DO(td_fill(by, TD_KEY("i"), TD_BY(TD_O_INT(-1))));
  TD_DO(td_fill(by, TD_KEY("l"), TD_BY(TD_O_INT(-1))));
  const td_operand operands[] = {TD_O_INT(-1), TD_O_TENSOR(scalar), TD_O_TENSOR(each),
                                 TD_O_DICT(by)};
  for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
    TD_DO(td_binary(td, TD_BINARY_MOD, &operands[i], NULL, &result));
    check_both(result, 0, 0, 0);
    td_tensordict *changed = smallest();
    TD_DO(td_binary_inplace(changed, TD_BINARY_MOD, &operands[i], NULL));
    check_both(changed, 0, 0, 0);
  }
}

/* By name, with a number, a tensor and a dictionary; `mode` may be NULL. */
static void divide(const char *name, const char *mode, int remainder) {
  char in_place[64];
  td_tensor *scalar = td_filled(TD_DTYPE_INT64, -1, TD_NO_SIZES);
  td_tensordict *by = smallest(), *td = smallest(), *result = NULL;
  TD_DO(td_fill(by, TD_KEY("i"), TD_BY(TD_O_INT(-1))));
  TD_DO(td_fill(by, TD_KEY("l"), TD_BY(TD_O_INT(-1))));
  td_call_argument arguments[2] = {TD_ARG_INT(NULL, -1), TD_ARG_TEXT("rounding_mode", mode)};
  strcat(strcpy(in_place, name), "_");
  for (int kind = 0; kind < 3; kind++) {
    size_t count = 0;
    const size_t n = mode == NULL ? 1 : 2;
    if (kind == 1) arguments[0] = (td_call_argument)TD_ARG_TENSOR(NULL, scalar);
    if (kind == 2) arguments[0] = (td_call_argument)TD_ARG_DICT(NULL, by);
    TD_DO(td_call(td, name, arguments, n, NULL, &result, 1, &count));
    check_both(result, remainder ? 0 : INT32_MIN, remainder ? 0 : INT64_MIN, remainder ? 0 : -7);
    td_tensordict *changed = smallest();
    TD_DO(td_call_inplace(changed, in_place, arguments, n));
    check_both(changed, remainder ? 0 : INT32_MIN, remainder ? 0 : INT64_MIN, remainder ? 0 : -7);
  }
}

TD_TEST(divisions_by_name_do_not_end_the_process) {
  divide("aten::remainder", NULL, 1);
  divide("fmod", NULL, 1);
  divide("aten::floor_divide", NULL, 0);
  divide("aten::div", "floor", 0);
  divide("aten::div", "trunc", 0);
  divide("divide", "trunc", 0);
}

/* The common divisor of the smallest number and an odd one is -1 in libtorch. */
TD_TEST(a_least_common_multiple_does_not_end_the_process) {
  td_tensor *five = td_filled(TD_DTYPE_INT64, 5, TD_NO_SIZES);
  td_tensor *each = td_filled(TD_DTYPE_INT32, 5, TD_SIZES(2));
  td_tensordict *by = smallest(), *td = smallest(), *result = NULL;
  TD_DO(td_fill(by, TD_KEY("i"), TD_BY(TD_O_INT(5))));
  TD_DO(td_fill(by, TD_KEY("l"), TD_BY(TD_O_INT(5))));
  const td_call_argument others[] = {TD_ARG_TENSOR(NULL, five), TD_ARG_TENSOR(NULL, each),
                                     TD_ARG_DICT(NULL, by)};
  for (size_t i = 0; i < 3; i++) {
    size_t count = 0;
    TD_DO(td_call(td, "lcm", &others[i], 1, NULL, &result, 1, &count));
    TD_CHECK_DTYPE(result, TD_KEY("i"), TD_DTYPE_INT32);
    check_both(result, INT32_MIN, INT64_MIN, 35);
    td_tensordict *changed = smallest();
    TD_DO(td_call_inplace(changed, "lcm_", &others[i], 1));
    check_both(changed, INT32_MIN, INT64_MIN, 35);
  }
  td_tensor *zero = td_filled(TD_DTYPE_INT64, 0, TD_NO_SIZES);
  size_t count = 0;
  TD_DO(td_call(td, "lcm", ARGS(TD_ARG_TENSOR(NULL, zero)), NULL, &result, 1, &count));
  check_both(result, 0, 0, 0);
}

TD_TEST(a_remainder_by_255_is_not_one_by_minus_1) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *result = NULL;
  td_tensor *by = td_filled(TD_DTYPE_UINT8, 255, TD_SIZES(1));
  td_put(td, TD_KEY("i"), td_filled(TD_DTYPE_INT32, 7, TD_SIZES(1)));
  td_tensordict *other = td_empty(TD_NO_SIZES);
  td_put(other, TD_KEY("i"), by);
  TD_DO(td_binary(td, TD_BINARY_MOD, TD_BY(TD_O_DICT(other)), NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("i"), TD_SIZES(1), TD_VALUES(7));
}

/* ---- pad_sequence */

TD_TEST(pad_sequence_reads_every_element_of_a_lazy_stack) {
  td_tensordict *lazy = stack_of(row(1, 2), row(5, 2), 0), *result = NULL;
  TD_DO(td_pad_sequence((const td_tensordict *const[]){lazy, lazy}, 2, NULL, &result));
  TD_CHECK_BATCH(result, 2, 2, 2);
  TD_CHECK_ENTRY(result, TD_KEY("k"), TD_SIZES(2, 2, 2), TD_VALUES(1, 2, 5, 6, 1, 2, 5, 6));
  td_tensordict *outer = td_empty(TD_SIZES(2)); /* below a dictionary, too */
  TD_DO(td_set_dict(outer, TD_KEY("n"), lazy));
  TD_DO(td_pad_sequence((const td_tensordict *const[]){outer}, 1, NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "k"), TD_SIZES(1, 2, 2), TD_VALUES(1, 2, 5, 6));
}

TD_TEST(pad_sequence_leaves_out_what_only_some_elements_have) {
  td_tensordict *more = row(5, 2), *result = NULL;
  td_put(more, TD_KEY("only"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  td_tensordict *lazy = stack_of(row(1, 2), more, 0);
  td_entry_kind kind = -1;
  TD_DO(td_pad_sequence((const td_tensordict *const[]){lazy, lazy}, 2, NULL, &result));
  TD_DO(td_get_kind(result, TD_KEY("only"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

/* {"n": {"z": float32 `sizes`} of batch size `sizes`} of batch size [2]. */
static td_tensordict *longer_below(int64_t more) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *inner = td_empty(TD_SIZES(2, more));
  td_put(inner, TD_KEY("z"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2, more)));
  td_put_dict(td, TD_KEY("n"), inner);
  return td;
}

TD_TEST(pad_sequence_keeps_further_batch_dimensions) {
  td_tensordict *one = longer_below(3), *two = longer_below(4), *result = NULL;
  td_tensordict *inner = NULL;
  td_pad_sequence_options options = TD_PAD_SEQUENCE_OPTIONS_INIT;
  TD_DO(td_pad_sequence((const td_tensordict *const[]){one, one}, 2, &options, &result));
  inner = td_take_dict(result, TD_KEY("n"));
  TD_CHECK_BATCH(inner, 2, 2, 3);
  td_free(result);
  options.dim = 1; /* one of them */
  TD_DO(td_pad_sequence((const td_tensordict *const[]){one, two}, 2, &options, &result));
  TD_CHECK_BATCH(result, 2, 2);
  inner = td_take_dict(result, TD_KEY("n"));
  TD_CHECK_BATCH(inner, 2, 2, 4);
  TD_CHECK_ENTRY(inner, TD_KEY("z"), TD_SIZES(2, 2, 4),
                 TD_VALUES(1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1));
}

TD_TEST(pad_sequence_where_a_nested_batch_size_is_shorter) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3)), *nested = NULL, *result = NULL;
  td_put(td, TD_KEY("n", "a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)));
  TD_DO(td_get_dict(td, TD_KEY("n"), &nested));
  TD_DO(td_set_batch_size(nested, TD_SIZES(2)));
  TD_DO(td_pad_sequence((const td_tensordict *const[]){td, td}, 2, NULL, &result));
  TD_CHECK_BATCH(result, 2, 2, 3);
  TD_CHECK_ENTRY(result, TD_KEY("n", "a"), TD_SIZES(2, 2, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5));
}

TD_TEST(pad_sequence_counts_from_the_end) {
  td_tensordict *one = row(1, 2), *two = row(5, 3), *result = NULL;
  td_pad_sequence_options options = TD_PAD_SEQUENCE_OPTIONS_INIT;
  options.dim = -1;
  options.masks = (const char *const[]){"m"};
  options.masks_len = 1;
  TD_DO(td_pad_sequence((const td_tensordict *const[]){one, two}, 2, &options, &result));
  TD_CHECK_BATCH(result, 2, 3);
  TD_CHECK_ENTRY(result, TD_KEY("k"), TD_SIZES(2, 3), TD_VALUES(1, 2, 0, 5, 6, 7));
  TD_CHECK_ENTRY(result, TD_KEY("m", "k"), TD_SIZES(2, 3), TD_VALUES(1, 1, 0, 1, 1, 1));
}

TD_TEST(a_mask_has_the_batch_size_and_the_padded_dimension) {
  td_tensordict *one = td_empty(TD_SIZES(1)), *two = td_empty(TD_SIZES(1)), *result = NULL;
  td_put(one, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(1, 3, 2)));
  td_put(two, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(1, 3, 4)));
  td_pad_sequence_options options = TD_PAD_SEQUENCE_OPTIONS_INIT;
  options.dim = -1;
  options.masks = (const char *const[]){"m"};
  options.masks_len = 1;
  TD_DO(td_pad_sequence((const td_tensordict *const[]){one, two}, 2, &options, &result));
  TD_CHECK_ENTRY(result, TD_KEY("m", "a"), TD_SIZES(2, 1, 4), TD_VALUES(1, 1, 0, 0, 1, 1, 1, 1));
}

TD_TEST(pad_sequence_of_unequal_batches_is_refused) {
  td_tensordict *one = td_empty(TD_SIZES(2, 3)), *two = td_empty(TD_SIZES(2, 4)), *result = NULL;
  const td_tensordict *const both[] = {one, two};
  TD_EXPECT_NULL(td_pad_sequence(both, 2, NULL, &result), TD_ERR_SHAPE, result);
  td_pad_sequence_options options = TD_PAD_SEQUENCE_OPTIONS_INIT;
  options.dim = -1;
  TD_DO(td_pad_sequence(both, 2, &options, &result));
  TD_CHECK_BATCH(result, 2, 2, 4);
}

/* ---- keys that only some elements of a lazy stack have */

/* Elements {"e": 1, 2} and {"e": 3, 5; "f": 100, 200} of batch size [2]. */
static td_tensordict *unequal(int64_t dim) {
  td_tensordict *one = td_empty(TD_SIZES(2)), *two = td_empty(TD_SIZES(2));
  td_put(one, TD_KEY("e"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_put(two, TD_KEY("e"), td_arange(TD_DTYPE_FLOAT32, 3, TD_SIZES(2)));
  td_put(two, TD_KEY("f"), td_filled(TD_DTYPE_FLOAT32, 100, TD_SIZES(2)));
  return stack_of(one, two, dim);
}

static void check_reduced(const td_tensordict *td, td_reduce_over over, double want) {
  td_reduce_options options = TD_REDUCE_OPTIONS_INIT;
  td_tensor *result = NULL;
  options.over = over;
  options.dims = (const int64_t[]){0, 1};
  options.dims_len = over == TD_REDUCE_OVER_DIMS ? 2 : 0;
  TD_DO(td_reduce_leaves(td, TD_REDUCE_SUM, &options, &result));
  TD_CHECK_VALUES(result, want);
}

TD_TEST(reduce_leaves_counts_exclusive_keys) {
  td_tensordict *lazy = unequal(0), *outer = td_empty(TD_NO_SIZES), *part = NULL;
  check_reduced(lazy, TD_REDUCE_OVER_ALL, 210);
  check_reduced(lazy, TD_REDUCE_OVER_DIMS, 10); /* of what the stack shows */
  TD_DO(td_set_dict(outer, TD_KEY("n"), lazy));
  check_reduced(outer, TD_REDUCE_OVER_ALL, 210);
  TD_DO(td_sub_tensordict(lazy, TD_AT(TD_I_SLICE(1, 2)), &part));
  check_reduced(part, TD_REDUCE_OVER_ALL, 207);
}

TD_TEST(reduce_leaves_takes_elements_of_different_shapes) {
  td_tensordict *one = td_empty(TD_NO_SIZES), *two = td_empty(TD_NO_SIZES);
  td_put(one, TD_KEY("e"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_put(two, TD_KEY("e"), td_arange(TD_DTYPE_FLOAT32, 4, TD_SIZES(3)));
  td_tensordict *lazy = stack_of(one, two, 0);
  check_reduced(lazy, TD_REDUCE_OVER_ALL, 18);
}

TD_TEST(files_of_one_dictionary_refuse_exclusive_keys) {
  const char *const names[] = {"x.npz", "x.safetensors", "x.npy"};
  td_tensordict *lazy = unequal(0), *outer = td_empty(TD_NO_SIZES);
  TD_DO(td_set_dict(outer, TD_KEY("n"), lazy));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", td_test_folder(), names[i]);
    TD_EXPECT(td_file_save(lazy, path, NULL), TD_ERR_UNSUPPORTED);
    TD_CHECK_TEXT(td_last_error_message(), "\"f\"");
    TD_EXPECT(td_file_save(outer, path, NULL), TD_ERR_UNSUPPORTED);
    TD_DO(td_remove(lazy, TD_KEY("f")));
    TD_DO(td_file_save(lazy, path, NULL));
    td_free(outer);
    td_free(lazy);
    lazy = unequal(0);
    outer = td_empty(TD_NO_SIZES);
    TD_DO(td_set_dict(outer, TD_KEY("n"), lazy));
  }
}

/* ---- sub-tensordicts of lazy stacks */

/* Three elements {"o": 2 numbers} of batch size [2]. */
static td_tensordict *three(void) {
  td_tensordict *elements[3], *result = NULL;
  for (int64_t k = 0; k < 3; k++) elements[k] = row(2 * k, 2);
  TD_DO(td_lazy_stack((const td_tensordict *const *)elements, 3, 0, &result));
  for (int64_t k = 0; k < 3; k++) td_free(elements[k]);
  return result;
}

static void set_new(const td_index_item *items, size_t n, const int64_t *sizes, size_t dims,
                    const double *want) {
  td_tensordict *lazy = three(), *part = NULL;
  td_tensor *seven = td_filled(TD_DTYPE_FLOAT32, 7, sizes, dims);
  TD_DO(td_sub_tensordict(lazy, items, n, &part));
  TD_DO(td_set(part, TD_KEY("new"), seven));
  TD_DO(td_set(part, TD_KEY("n", "new"), seven));
  td_tensordict *update = td_empty(sizes, dims);
  TD_DO(td_set(update, TD_KEY("updated"), seven));
  TD_DO(td_update(part, update, NULL));
  td_check_entry(__FILE__, __LINE__, lazy, TD_KEY("new"), TD_SIZES(3, 2), want, 6);
  td_check_entry(__FILE__, __LINE__, lazy, TD_KEY("n", "new"), TD_SIZES(3, 2), want, 6);
  td_check_entry(__FILE__, __LINE__, lazy, TD_KEY("updated"), TD_SIZES(3, 2), want, 6);
  TD_CHECK_ENTRY(lazy, TD_KEY("k"), TD_SIZES(3, 2), TD_VALUES(0, 1, 2, 3, 4, 5));
  td_free(update);
  td_free(part);
  td_tensor_free(seven);
  td_free(lazy);
}

TD_TEST(a_new_key_through_a_part_comes_to_every_element) {
  td_tensor *both = td_positions((const int64_t[]){0, 2}, 2);
  td_tensor *rows = td_positions((const int64_t[]){0, 1}, 2);
  td_tensor *columns = td_positions((const int64_t[]){1, 0}, 2);
  set_new(TD_AT(TD_I_INT(1)), TD_SIZES(2), (const double[]){0, 0, 7, 7, 0, 0});
  set_new(TD_AT(TD_I_SLICE(0, 2)), TD_SIZES(2, 2), (const double[]){7, 7, 7, 7, 0, 0});
  set_new(TD_AT(TD_I_TENSOR(both)), TD_SIZES(2, 2), (const double[]){7, 7, 0, 0, 7, 7});
  set_new(TD_AT(TD_I_ALL, TD_I_INT(0)), TD_SIZES(3), (const double[]){7, 0, 7, 0, 7, 0});
  set_new(TD_AT(TD_I_SLICE(0, 2), TD_I_INT(1)), TD_SIZES(2), (const double[]){0, 7, 0, 7, 0, 0});
  set_new(TD_AT(TD_I_TENSOR(rows), TD_I_TENSOR(columns)), TD_SIZES(2),
          (const double[]){0, 7, 7, 0, 0, 0});
}

TD_TEST(an_indexed_write_makes_new_keys_where_it_writes) {
  td_tensordict *lazy = three(), *value = td_empty(TD_SIZES(2)), *element = NULL;
  td_entry_kind kind = -1;
  td_put(value, TD_KEY("new"), td_filled(TD_DTYPE_FLOAT32, 7, TD_SIZES(2)));
  TD_DO(td_set_at(lazy, TD_AT(TD_I_INT(1)), value));
  for (int64_t k = 0; k < 3; k++) {
    TD_DO(td_index(lazy, TD_AT(TD_I_INT(k)), &element));
    TD_DO(td_get_kind(element, TD_KEY("new"), &kind));
    TD_CHECK_INT(kind, k == 1 ? TD_ENTRY_TENSOR : TD_ENTRY_NONE);
  }
}

TD_TEST(a_new_key_through_a_part_of_stacks_in_stacks) {
  for (int64_t inner = 0; inner < 2; inner++) {
    td_tensordict *lazy =
        stack_of(stack_of(row(0, 2), row(2, 2), inner), stack_of(row(4, 2), row(6, 2), inner), 0);
    td_tensordict *part = NULL, *locked = NULL;
    td_tensor *seven = td_filled(TD_DTYPE_FLOAT32, 7, TD_SIZES(2, 2, 3));
    TD_DO(td_sub_tensordict(lazy, TD_AT(TD_I_INT(1)), &part));
    TD_DO(td_set(part, TD_KEY("new"), seven));
    TD_CHECK_ENTRY(
        lazy, TD_KEY("new"), TD_SIZES(2, 2, 2, 3),
        TD_VALUES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7));
    TD_DO(td_index(lazy, TD_AT(TD_I_INT(0)), &locked));
    TD_DO(td_lock(locked));
    TD_EXPECT(td_set(part, TD_KEY("other"), seven), TD_ERR_LOCKED); /* nothing is made */
    td_entry_kind kind = -1;
    TD_DO(td_get_kind(part, TD_KEY("other"), &kind));
    TD_CHECK_INT(kind, TD_ENTRY_NONE);
  }
}

/* ---- calls in place of lazy stacks */

TD_TEST(a_call_in_place_counts_the_dimensions_of_the_stack) {
  td_tensordict *lazy = stack_of(row(1, 2), row(10, 2), 0), *result = NULL;
  size_t count = 0;
  TD_DO(td_call(lazy, "cumsum", ARGS(TD_ARG_INT(NULL, 0)), NULL, &result, 1, &count));
  TD_DO(td_call_inplace(lazy, "cumsum_", ARGS(TD_ARG_INT(NULL, 0))));
  TD_CHECK_ENTRY(result, TD_KEY("k"), TD_SIZES(2, 2), TD_VALUES(1, 2, 11, 13));
  TD_CHECK_ENTRY(lazy, TD_KEY("k"), TD_SIZES(2, 2), TD_VALUES(1, 2, 11, 13));
  TD_DO(td_call_inplace(lazy, "cumsum_", ARGS(TD_ARG_INT(NULL, 1))));
  TD_CHECK_ENTRY(lazy, TD_KEY("k"), TD_SIZES(2, 2), TD_VALUES(1, 3, 11, 24));
}

TD_TEST(a_call_in_place_that_fails_leaves_a_lazy_stack) {
  td_tensordict *lazy = stack_of(row(1, 2), row(10, 2), 0), *outer = td_empty(TD_SIZES(2));
  td_put(outer, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_DO(td_set_dict(outer, TD_KEY("n"), lazy));
  TD_EXPECT(td_call_inplace(outer, "cumsum_", ARGS(TD_ARG_INT(NULL, 1))), TD_ERR_INDEX);
  TD_CHECK_ENTRY(lazy, TD_KEY("k"), TD_SIZES(2, 2), TD_VALUES(1, 2, 10, 11));
}

/* A shape that only the second leaf refuses. */
TD_TEST(a_division_in_place_that_fails_leaves_all_leaves) {
  static const char *const names[] = {"floor_divide_", "div_", "remainder_", "fmod_"};
  td_tensor *divisor = td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2, 3));
  for (int i = 0; i < 4; i++) {
    td_tensordict *td = td_empty(TD_SIZES(2));
    td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_FLOAT32, 5, TD_SIZES(2, 3)));
    td_put(td, TD_KEY("i"), td_arange(TD_DTYPE_FLOAT32, 5, TD_SIZES(2, 3, 2)));
    TD_EXPECT(td_call_inplace(td, names[i], ARGS(TD_ARG_TENSOR(NULL, divisor))), TD_ERR_TORCH);
    TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(2, 3), TD_VALUES(5, 6, 7, 8, 9, 10));
  }
}

/* Checks a float entry of the second of two elements. */
static void check_second(const td_tensordict *lazy, int64_t dim, const char *key, int64_t first,
                         int64_t second) {
  td_tensordict *element = NULL;
  TD_DO(dim == 0 ? td_index(lazy, TD_AT(TD_I_INT(1)), &element)
                 : td_index(lazy, TD_AT(TD_I_ALL, TD_I_INT(1)), &element));
  TD_CHECK_ENTRY(element, &key, 1, TD_SIZES(2), TD_VALUES((double)first, (double)second));
  td_free(element);
}

TD_TEST(a_call_in_place_reaches_keys_of_single_elements) {
  for (int64_t dim = 0; dim < 2; dim++) {
    td_tensordict *lazy = unequal(dim), *outer = td_empty(TD_SIZES(2));
    TD_DO(td_set_dict(outer, TD_KEY("n"), lazy));
    TD_DO(td_call_inplace(outer, "add_", ARGS(TD_ARG_INT(NULL, 10))));
    check_second(lazy, dim, "e", 13, 14);
    check_second(lazy, dim, "f", 110, 110);
    TD_DO(td_call_inplace(lazy, "cumsum_", ARGS(TD_ARG_INT(NULL, 0))));
    check_second(lazy, dim, "e", dim == 0 ? 24 : 13, dim == 0 ? 26 : 27);
    check_second(lazy, dim, "f", 110, 220);
    TD_EXPECT(td_call_inplace(lazy, "cumsum_", ARGS(TD_ARG_INT(NULL, 1))), TD_ERR_INDEX); /* "f" */
    check_second(lazy, dim, "e", dim == 0 ? 24 : 13, dim == 0 ? 26 : 27);
  }
}

TD_TEST(a_call_in_place_takes_elements_of_different_shapes) {
  td_tensordict *one = td_empty(TD_NO_SIZES), *two = td_empty(TD_NO_SIZES);
  td_put(one, TD_KEY("e"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_put(two, TD_KEY("e"), td_arange(TD_DTYPE_FLOAT32, 4, TD_SIZES(3)));
  td_put(one, TD_KEY("k"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_put(two, TD_KEY("k"), td_arange(TD_DTYPE_FLOAT32, 5, TD_SIZES(2)));
  td_tensordict *lazy = NULL, *copy = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, 0, &lazy));
  TD_DO(td_call_inplace(lazy, "cumsum_", ARGS(TD_ARG_INT(NULL, 0))));
  TD_CHECK_ENTRY(one, TD_KEY("e"), TD_SIZES(2), TD_VALUES(1, 3));
  TD_CHECK_ENTRY(two, TD_KEY("e"), TD_SIZES(3), TD_VALUES(4, 9, 15));
  TD_CHECK_ENTRY(lazy, TD_KEY("k"), TD_SIZES(2, 2), TD_VALUES(1, 2, 6, 8));
  TD_DO(td_clone(lazy, 1, &copy));
  /* beside a dictionary like it, whose "e" cannot be read either */
  TD_DO(td_call_inplace(lazy, "add_", ARGS(TD_ARG_DICT(NULL, copy))));
  TD_CHECK_ENTRY(two, TD_KEY("e"), TD_SIZES(3), TD_VALUES(8, 18, 30));
  TD_CHECK_ENTRY(lazy, TD_KEY("k"), TD_SIZES(2, 2), TD_VALUES(2, 4, 12, 16));
  TD_DO(td_remove(copy, TD_KEY("k")));
  TD_EXPECT(td_call_inplace(lazy, "add_", ARGS(TD_ARG_DICT(NULL, copy))), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_call_inplace(lazy, "cumsum_", ARGS(TD_ARG_INT(NULL, 1))), TD_ERR_INDEX);
  TD_CHECK_ENTRY(one, TD_KEY("e"), TD_SIZES(2), TD_VALUES(2, 6)); /* and nothing was written */
  TD_CHECK_ENTRY(lazy, TD_KEY("k"), TD_SIZES(2, 2), TD_VALUES(2, 4, 12, 16));
}

TD_TEST(a_call_in_place_takes_elements_of_different_batch_sizes) {
  for (int deep = 0; deep < 2; deep++) {
    td_tensordict *one = row(1, 2), *two = row(5, 3), *lazy = NULL, *top = NULL;
    TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, 0, &lazy));
    if (deep) {
      TD_DO(td_lazy_stack((const td_tensordict *const[]){lazy, lazy}, 2, 0, &top));
    } else {
      top = td_empty(TD_SIZES(2));
      TD_DO(td_set_dict(top, TD_KEY("n"), lazy));
      td_put(top, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
    }
    TD_DO(td_call_inplace(top, "add_", ARGS(TD_ARG_INT(NULL, 1))));
    TD_CHECK_ENTRY(one, TD_KEY("k"), TD_SIZES(2), TD_VALUES(2, 3)); /* once */
    TD_CHECK_ENTRY(two, TD_KEY("k"), TD_SIZES(3), TD_VALUES(6, 7, 8));
    if (!deep) TD_CHECK_ENTRY(top, TD_KEY("a"), TD_SIZES(2), TD_VALUES(1, 2));
  }
}

/* ---- whole dictionaries, in place */

TD_TEST(an_update_in_place_writes_into_whole_dictionaries) {
  for (td_update_mode mode = TD_UPDATE_INPLACE; mode <= TD_UPDATE_STRICT; mode++) {
    td_tensordict *td = td_empty(TD_SIZES(2)), *source = td_empty(TD_SIZES(2));
    td_put(td, TD_KEY("x", "b"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
    td_put(td, TD_KEY("x", "c"), td_filled(TD_DTYPE_FLOAT32, 3, TD_SIZES(2)));
    td_put(source, TD_KEY("x", "b"), td_filled(TD_DTYPE_FLOAT64, 1, TD_SIZES(2)));
    td_tensor *before = td_take(td, TD_KEY("x", "b"));
    td_update_options options = TD_UPDATE_OPTIONS_INIT;
    options.mode = mode;
    options.whole_dicts = 1;
    TD_DO(td_update(td, source, &options));
    TD_CHECK_VALUES(before, 1, 1);
    TD_CHECK_DTYPE(td, TD_KEY("x", "b"), TD_DTYPE_FLOAT32);
    TD_CHECK_ENTRY(td, TD_KEY("x", "c"), TD_SIZES(2), TD_VALUES(3, 3));
    td_tensor_free(before);
    td_free(source);
    td_free(td);
  }
}

/* ---- apply into another dictionary */

static td_status same(void *user, const char *const *path, size_t path_len, const td_tensor *leaf,
                      td_tensor **result) {
  (void)user, (void)path, (void)path_len;
  return td_tensor_dup(leaf, result);
}

TD_TEST(apply_makes_nested_dictionaries_of_their_own_batch_size) {
  td_tensordict *td = longer_below(3), *out = td_empty(TD_SIZES(2)), *inner = NULL, *result = NULL;
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  options.out = out;
  TD_DO(td_apply(td, &options, same, NULL, &result));
  inner = td_take_dict(out, TD_KEY("n"));
  TD_CHECK_BATCH(inner, 2, 3);
  td_free(out);
  out = td_empty(TD_SIZES(2)); /* one that is there keeps its own */
  td_put_dict(out, TD_KEY("n"), td_empty(TD_SIZES(2)));
  options.out = out;
  TD_DO(td_apply(td, &options, same, NULL, &result));
  inner = td_take_dict(out, TD_KEY("n"));
  TD_CHECK_BATCH(inner, 2);
  TD_CHECK_ENTRY(inner, TD_KEY("z"), TD_SIZES(2, 3), TD_VALUES(1, 1, 1, 1, 1, 1));
}

/* ---- leading dimensions of 1 */

static td_tensordict *ones(const int64_t *sizes, size_t dims, const int64_t *batch,
                           size_t batch_dims) {
  td_tensordict *td = td_empty(batch, batch_dims);
  td_put(td, TD_KEY("c"), td_filled(TD_DTYPE_FLOAT32, 1, sizes, dims));
  return td;
}

/* td[0] = value, by all three functions; `whole` is what td_set_at() gives. */
static void write_first(const int64_t *batch, size_t batch_dims, td_tensordict *value,
                        td_status whole) {
  for (int way = 0; way < 3; way++) {
    td_tensordict *td = td_empty(batch, batch_dims);
    td_put(td, TD_KEY("c"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(3, 2)));
    td_tensor *tensor = td_take(value, TD_KEY("c"));
    if (way == 0) TD_EXPECT(td_set_at(td, TD_AT(TD_I_INT(0)), value), whole);
    if (way == 1) TD_DO(td_update_at(td, TD_AT(TD_I_INT(0)), value, 0));
    if (way == 2) TD_DO(td_set_entry_at(td, TD_KEY("c"), TD_AT(TD_I_INT(0)), tensor));
    const int written = way != 0 || whole == TD_OK;
    TD_CHECK_ENTRY(td, TD_KEY("c"), TD_SIZES(3, 2), TD_VALUES(written, written, 0, 0, 0, 0));
    td_tensor_free(tensor);
    td_free(td);
  }
  td_free(value);
}

TD_TEST(leading_ones_of_a_value_count_for_nothing) {
  write_first(TD_SIZES(3), ones(TD_SIZES(1, 2), TD_SIZES(1)), TD_OK);
  write_first(TD_SIZES(3), ones(TD_SIZES(1, 1, 2), TD_NO_SIZES), TD_OK);
  write_first(TD_SIZES(3), ones(TD_SIZES(2), TD_NO_SIZES), TD_OK);
  write_first(TD_SIZES(3, 2), ones(TD_SIZES(2), TD_SIZES(2)), TD_OK);
  /* A dictionary must have the batch size of the part. */
  write_first(TD_SIZES(3, 2), ones(TD_SIZES(1, 2), TD_SIZES(1, 2)), TD_ERR_SHAPE);
  write_first(TD_SIZES(3, 2), ones(TD_SIZES(1), TD_SIZES(1)), TD_ERR_SHAPE);
}

TD_TEST(leading_ones_are_dropped_with_an_index_tensor) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *value = ones(TD_SIZES(1, 2, 2), TD_NO_SIZES);
  td_put(td, TD_KEY("c"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(3, 2)));
  td_tensor *index = td_positions((const int64_t[]){0, 2}, 2);
  TD_DO(td_update_at(td, TD_AT(TD_I_TENSOR(index)), value, 0));
  TD_CHECK_ENTRY(td, TD_KEY("c"), TD_SIZES(3, 2), TD_VALUES(1, 1, 0, 0, 1, 1));
}

/* ---- nested tensors */

TD_TEST(nested_tensors_are_leaves) {
  td_tensor *one = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2));
  td_tensor *two = td_arange(TD_DTYPE_FLOAT32, 5, TD_SIZES(3));
  td_tensordict *td = td_empty(TD_SIZES(2)), *nested = NULL, *part = NULL;
  td_keys *keys = NULL;
  td_entry_kind kind = -1;
  TD_DO(td_nested_tensor_from_tensors((const td_tensor *const[]){one, two}, 2, &nested));
  TD_DO(td_set_dict(td, TD_KEY("p"), nested));
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  options.leaves_only = 1;
  TD_DO(td_keys_of(td, &options, &keys));
  TD_CHECK_INT(td_keys_len(keys), 1);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_INT(1)), &part));
  TD_DO(td_get_kind(part, TD_KEY("p"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
  TD_CHECK_ENTRY(part, TD_KEY("p"), TD_SIZES(3), TD_VALUES(5, 6, 7));
  td_free(part);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_ALL), &part));
  TD_DO(td_get_kind(part, TD_KEY("p"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NESTED_TENSOR);
}

/* ---- nested dictionaries of fewer batch dimensions */

TD_TEST(unbind_refuses_an_entry_without_the_dimension) {
  for (int64_t dim = -1; dim < 1; dim++) {
    td_tensordict *td = td_empty(TD_SIZES(2)), *nested = NULL, *parts[2] = {NULL, NULL};
    size_t count = 0;
    td_put(td, TD_KEY("n", "a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
    TD_DO(td_get_dict(td, TD_KEY("n"), &nested));
    TD_DO(td_set_batch_size(nested, TD_NO_SIZES));
    TD_EXPECT(td_unbind(td, dim, parts, 2, &count), TD_ERR_SHAPE);
    TD_CHECK(parts[0] == NULL && parts[1] == NULL);
  }
}

/* ---- lazy stacks beside dense dictionaries */

TD_TEST(cat_with_a_lazy_stack_wants_one_number_of_dimensions) {
  for (int64_t n = 0; n < 3; n++) { /* without rows there is nothing else that could differ */
    td_tensordict *dense = td_empty(TD_SIZES(1, n)), *other = td_empty(TD_SIZES(1, n));
    td_tensordict *result = NULL, *lazy = stack_of(td_empty(TD_SIZES(1, n)), other, 1);
    const td_tensordict *const both[] = {dense, lazy};
    TD_EXPECT(td_cat(both, 2, 1, &result), TD_ERR_SHAPE);
    TD_CHECK_TEXT(td_last_error_message(), "cat needs batch sizes that agree");
  }
}

/* ---- states and schemas of lazy stacks */

TD_TEST(a_lazy_stack_with_an_empty_key_loads_its_own_state) {
  for (int32_t nested = 0; nested < 2; nested++) {
    td_tensordict *one = td_empty(TD_SIZES(2)), *two = td_empty(TD_SIZES(2)), *state = NULL;
    td_put(one, TD_KEY(""), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
    td_put(two, TD_KEY(""), td_arange(TD_DTYPE_FLOAT32, 2, TD_SIZES(2)));
    td_tensordict *lazy = stack_of(one, two, 0), *outer = td_empty(TD_SIZES(2));
    TD_DO(td_set_dict(outer, TD_KEY("l"), lazy));
    td_state_dict_options options = TD_STATE_DICT_OPTIONS_INIT;
    options.nested = nested;
    TD_DO(td_state_dict(lazy, &options, &state));
    TD_DO(td_zero(lazy));
    TD_DO(td_load_state_dict(lazy, state, NULL));
    TD_CHECK_ENTRY(lazy, TD_KEY(""), TD_SIZES(2, 2), TD_VALUES(0, 1, 2, 3));
    td_free(state);
    TD_DO(td_state_dict(outer, &options, &state));
    TD_DO(td_zero(lazy));
    TD_DO(td_load_state_dict(outer, state, NULL));
    TD_CHECK_ENTRY(outer, TD_KEY("l", ""), TD_SIZES(2, 2), TD_VALUES(0, 1, 2, 3));
  }
}

/* Loads the state of a dictionary into itself, in both forms, after all values became 0. */
static void load_own_state(td_tensordict *td, int32_t nested) {
  td_tensordict *state = NULL, *copy = NULL;
  td_state_dict_options options = TD_STATE_DICT_OPTIONS_INIT;
  options.nested = nested;
  TD_DO(td_state_dict(td, &options, &state));
  TD_DO(td_clone(state, 0, &copy)); /* the state shares memory with the dictionary */
  TD_DO(td_zero(td));
  TD_DO(td_load_state_dict(td, copy, NULL));
}

/* Python gives no state for such a stack. */
TD_TEST(a_lazy_stack_of_different_keys_loads_its_own_state) {
  for (int32_t nested = 0; nested < 2; nested++) {
    td_tensordict *lazy = unequal(0), *outer = td_empty(TD_NO_SIZES), *second = NULL;
    TD_DO(td_set_dict(outer, TD_KEY("n"), lazy));
    load_own_state(nested ? outer : lazy, nested);
    TD_CHECK_ENTRY(lazy, TD_KEY("e"), TD_SIZES(2, 2), TD_VALUES(1, 2, 3, 4));
    TD_DO(td_index(lazy, TD_AT(TD_I_INT(1)), &second));
    TD_CHECK_ENTRY(second, TD_KEY("f"), TD_SIZES(2), TD_VALUES(100, 100));
  }
}

TD_TEST(a_lazy_stack_of_uneven_nested_entries_loads_its_own_state) {
  for (int32_t nested = 0; nested < 2; nested++) {
    td_tensordict *one = td_empty(TD_SIZES(2)), *two = td_empty(TD_SIZES(2)), *second = NULL;
    td_put(one, TD_KEY("n", "a"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2, 1)));
    td_put(two, TD_KEY("n", "a"), td_arange(TD_DTYPE_FLOAT32, 3, TD_SIZES(2, 2)));
    td_put(two, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 7, TD_SIZES(2)));
    td_tensordict *lazy = stack_of(one, two, 0);
    load_own_state(lazy, nested);
    TD_DO(td_index(lazy, TD_AT(TD_I_INT(1)), &second));
    TD_CHECK_ENTRY(second, TD_KEY("n", "a"), TD_SIZES(2, 2), TD_VALUES(3, 4, 5, 6));
    TD_CHECK_ENTRY(second, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(7, 8));
  }
}

static td_tensordict *from_own_schema(const td_tensordict *td) {
  size_t length = 0;
  td_tensordict *result = NULL;
  TD_DO(td_schema(td, NULL, 0, &length));
  char *text = malloc(length + 1);
  TD_DO(td_schema(td, text, length + 1, &length));
  TD_CHECK_TEXT(text, "-1");
  TD_DO(td_from_schema(text, NULL, &result));
  free(text);
  return result;
}

TD_TEST(from_schema_takes_sizes_that_differ) {
  td_tensordict *lazy = stack_of(row(0, 2), row(0, 3), 0), *made = from_own_schema(lazy);
  TD_CHECK_BATCH(made, 2, 0);
  TD_CHECK_ENTRY(made, TD_KEY("k"), TD_SIZES(2, 0), NULL, 0);
  td_tensordict *one = row(0, 2), *two = row(0, 2); /* of different numbers of dimensions */
  td_put(one, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  td_put(two, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  lazy = stack_of(one, two, 0);
  made = from_own_schema(lazy);
  TD_CHECK_BATCH(made, 2, 2);
  TD_CHECK_ENTRY(made, TD_KEY("k"), TD_SIZES(2, 2), TD_VALUES(0, 0, 0, 0));
}
