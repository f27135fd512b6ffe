/* Arithmetic, comparison and logic, tensor by tensor. */
#include <math.h>
#include <string.h>

#include "td_values.h"

/* {"a": float32 [2,2], "n": {"b": float32 [2]}} of batch [2]: 1, 2, 3, 4 and 5, 6. */
static td_tensordict *numbers(void) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2, 2)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 5, TD_SIZES(2)));
  return td;
}

#define CHECK_AB(td, a0, a1, a2, a3, b0, b1)                                    \
  do {                                                                          \
    TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(a0, a1, a2, a3)); \
    TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(b0, b1));       \
  } while (0)

static td_dtype dtype_of(const td_tensordict *td, const char *const *path, size_t path_len) {
  td_tensor *tensor = td_take(td, path, path_len);
  td_dtype dtype = TD_DTYPE_OTHER;
  TD_DO(td_tensor_dtype(tensor, &dtype));
  return dtype;
}

TD_TEST(every_unary_operation) {
  static const struct {
    td_unary_op op;
    double of, wanted;
  } cases[] = {
      {TD_UNARY_ABS, -2, 2},
      {TD_UNARY_ACOS, 1, 0},
      {TD_UNARY_ASIN, 0, 0},
      {TD_UNARY_ATAN, 0, 0},
      {TD_UNARY_CEIL, 1.25, 2},
      {TD_UNARY_COS, 0, 1},
      {TD_UNARY_COSH, 0, 1},
      {TD_UNARY_ERF, 0, 0},
      {TD_UNARY_ERFC, 0, 1},
      {TD_UNARY_EXP, 0, 1},
      {TD_UNARY_EXPM1, 0, 0},
      {TD_UNARY_FLOOR, 1.75, 1},
      {TD_UNARY_FRAC, 1.25, 0.25},
      {TD_UNARY_LGAMMA, 1, 0},
      {TD_UNARY_LOG, 1, 0},
      {TD_UNARY_LOG10, 100, 2},
      {TD_UNARY_LOG1P, 0, 0},
      {TD_UNARY_LOG2, 8, 3},
      {TD_UNARY_NEG, 3, -3},
      {TD_UNARY_RECIPROCAL, 4, 0.25},
      {TD_UNARY_ROUND, 2.5, 2},
      {TD_UNARY_SIGMOID, 0, 0.5},
      {TD_UNARY_SIGN, -7, -1},
      {TD_UNARY_SIN, 0, 0},
      {TD_UNARY_SINH, 0, 0},
      {TD_UNARY_SQRT, 9, 3},
      {TD_UNARY_TAN, 0, 0},
      {TD_UNARY_TANH, 0, 0},
      {TD_UNARY_TRUNC, -1.75, -1},
      {TD_UNARY_LOGICAL_NOT, 3, 0},
      {TD_UNARY_ISFINITE, 1, 1},
      {TD_UNARY_ISNAN, 1, 0},
      {TD_UNARY_ISNEGINF, -INFINITY, 1},
      {TD_UNARY_ISPOSINF, -1, 0},
      {TD_UNARY_ISREAL, 1, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
    const double x = cases[i].of, y = cases[i].wanted;
    td_put(td, TD_KEY("n", "x"), td_filled(TD_DTYPE_FLOAT64, x, TD_SIZES(2, 1)));
    TD_DO(td_unary(td, cases[i].op, &result));
    TD_CHECK_ENTRY(result, TD_KEY("n", "x"), TD_SIZES(2, 1), TD_VALUES(y, y));
    TD_CHECK_ENTRY(td, TD_KEY("n", "x"), TD_SIZES(2, 1), TD_VALUES(x, x));
    td_free(result);
    if (cases[i].op < TD_UNARY_ISFINITE) {
      TD_DO(td_unary_inplace(td, cases[i].op));
      TD_CHECK_ENTRY(td, TD_KEY("n", "x"), TD_SIZES(2, 1), TD_VALUES(y, y));
    } else {
      TD_EXPECT(td_unary_inplace(td, cases[i].op), TD_ERR_INVALID_ARGUMENT);
    }
  }
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
  td_put(td, TD_KEY("i"), td_arange(TD_DTYPE_INT32, 0, TD_SIZES(2)));
  TD_DO(td_unary(td, TD_UNARY_BITWISE_NOT, &result));
  TD_CHECK_ENTRY(result, TD_KEY("i"), TD_SIZES(2), TD_VALUES(-1, -2));
  TD_DO(td_unary(td, TD_UNARY_EXP, &result)); /* integers give floats */
  TD_CHECK_INT(dtype_of(result, TD_KEY("i")), TD_DTYPE_FLOAT32);
  TD_EXPECT_NULL(td_unary(td, 0, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_unary(td, 1000, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT(td_unary_inplace(td, -1), TD_ERR_INVALID_ARGUMENT);
}

/* 25 / 7 is another float. */
TD_TEST(what_is_divided_by_a_dictionary_is_multiplied_by_its_reciprocal_as_in_python) {
  td_tensordict *td = td_empty(TD_SIZES(1)), *result = NULL;
  td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_FLOAT32, 7, TD_SIZES(1)));
  const td_operand number = TD_O_DOUBLE(25);
  TD_DO(td_binary(td, TD_BINARY_RDIV, &number, NULL, &result));
  const volatile float reciprocal = 1.0F / 7.0F;
  const float wanted = reciprocal * 25.0F;
  TD_CHECK(wanted != 25.0F / 7.0F);
  TD_CHECK_ENTRY(result, TD_KEY("x"), TD_SIZES(1), TD_VALUES(wanted));
  td_free(result);
  td_free(td);
}

TD_TEST(every_binary_operation) {
  static const struct {
    td_binary_op op;
    double a, b, wanted;
    int inplace;
  } cases[] = {
      {TD_BINARY_ADD, 7, 2, 9, 1},         {TD_BINARY_SUB, 7, 2, 5, 1},
      {TD_BINARY_RSUB, 7, 2, -5, 0},       {TD_BINARY_MUL, 7, 2, 14, 1},
      {TD_BINARY_DIV, 7, 2, 3.5, 1},       {TD_BINARY_RDIV, 2, 7, 3.5, 0},
      {TD_BINARY_POW, 7, 2, 49, 1},        {TD_BINARY_MOD, -7, 2, 1, 1},
      {TD_BINARY_MAXIMUM, 7, 2, 7, 1},     {TD_BINARY_MINIMUM, 7, 2, 2, 1},
      {TD_BINARY_CLAMP_MAX, 7, 2, 2, 1},   {TD_BINARY_CLAMP_MIN, 7, 2, 7, 1},
      {TD_BINARY_LOGICAL_AND, 7, 2, 1, 0}, {TD_BINARY_EQ, 7, 2, 0, 0},
      {TD_BINARY_NE, 7, 2, 1, 0},          {TD_BINARY_LT, 7, 2, 0, 0},
      {TD_BINARY_LE, 2, 2, 1, 0},          {TD_BINARY_GT, 7, 2, 1, 0},
      {TD_BINARY_GE, 1, 2, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double y = cases[i].wanted;
    td_tensordict *other = td_empty(TD_SIZES(2));
    td_put(other, TD_KEY("n", "x"), td_filled(TD_DTYPE_FLOAT32, cases[i].b, TD_SIZES(2, 2)));
    td_tensor *vector = td_filled(TD_DTYPE_FLOAT32, cases[i].b, TD_SIZES(2));
    td_tensor *single = td_filled(TD_DTYPE_FLOAT32, cases[i].b, NULL, 0);
    const td_operand operands[] = {TD_O_DICT(other), TD_O_TENSOR(vector), TD_O_TENSOR(single),
                                   TD_O_DOUBLE(cases[i].b), TD_O_INT((int64_t)cases[i].b)};
    for (size_t k = 0; k < 5; k++) {
      td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
      td_put(td, TD_KEY("n", "x"), td_filled(TD_DTYPE_FLOAT32, cases[i].a, TD_SIZES(2, 2)));
      TD_DO(td_binary(td, cases[i].op, &operands[k], NULL, &result));
      TD_CHECK_ENTRY(result, TD_KEY("n", "x"), TD_SIZES(2, 2), TD_VALUES(y, y, y, y));
      TD_CHECK_INT(dtype_of(result, TD_KEY("n", "x")),
                   cases[i].op >= TD_BINARY_LOGICAL_AND ? TD_DTYPE_BOOL : TD_DTYPE_FLOAT32);
      td_free(result);
      if (cases[i].inplace) {
        TD_DO(td_lock(td));
        TD_DO(td_binary_inplace(td, cases[i].op, &operands[k], NULL));
        TD_CHECK_ENTRY(td, TD_KEY("n", "x"), TD_SIZES(2, 2), TD_VALUES(y, y, y, y));
      } else {
        TD_EXPECT(td_binary_inplace(td, cases[i].op, &operands[k], NULL), TD_ERR_INVALID_ARGUMENT);
      }
    }
  }
}

TD_TEST(bits) {
  static const struct {
    td_binary_op op;
    double wanted;
  } cases[] = {{TD_BINARY_BITWISE_AND, 8}, {TD_BINARY_BITWISE_OR, 14}, {TD_BINARY_BITWISE_XOR, 6}};
  for (size_t i = 0; i < 3; i++) {
    td_tensordict *td = td_empty(TD_SIZES(1)), *result = NULL;
    td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_INT32, 12, TD_SIZES(1)));
    TD_DO(td_binary(td, cases[i].op, TD_BY(TD_O_INT(10)), NULL, &result));
    TD_CHECK_ENTRY(result, TD_KEY("x"), TD_SIZES(1), TD_VALUES(cases[i].wanted));
    td_free(result);
    TD_DO(td_binary_inplace(td, cases[i].op, TD_BY(TD_O_INT(10)), NULL));
    TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(1), TD_VALUES(cases[i].wanted));
    td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_FLOAT32, 12, TD_SIZES(1)));
    TD_EXPECT_NULL(td_binary(td, cases[i].op, TD_BY(TD_O_INT(10)), NULL, &result),
                   TD_ERR_UNSUPPORTED, result);
    TD_EXPECT(td_binary_inplace(td, cases[i].op, TD_BY(TD_O_INT(10)), NULL), TD_ERR_UNSUPPORTED);
    td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(1)));
    TD_DO(td_binary(td, cases[i].op, TD_BY(TD_O_BOOL(1)), NULL, &result));
    TD_CHECK_ENTRY(result, TD_KEY("x"), TD_SIZES(1), TD_VALUES(i == 2 ? 0 : 1));
  }
}

TD_TEST(a_tensor_is_broadcast_against_the_batch) {
  td_tensordict *td = td_sample(), *result = NULL;
  td_tensor *columns = td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(3));
  TD_DO(td_binary(td, TD_BINARY_MUL, TD_BY(TD_O_TENSOR(columns)), NULL, &result));
  td_tensor *a = td_take(result, TD_KEY("a"));
  TD_CHECK_VALUES(a, 0, 1, 4, 6, 12, 15, 6, 7, 16, 18, 30, 33, 12, 13, 28, 30, 48, 51, 18, 19, 40,
                  42, 66, 69);
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 2, 6, 3, 8, 15, 6, 14, 24, 9, 20, 33));
  td_tensor *rows = td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(4, 1));
  /* int64 times float32 cannot be written into int64, and nothing else is */
  TD_EXPECT(td_binary_inplace(td, TD_BINARY_MUL, TD_BY(TD_O_TENSOR(rows)), NULL), TD_ERR_DTYPE);
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  a = td_take(td, TD_KEY("a"));
  TD_CHECK_VALUES(a, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                  22, 23);
  td_tensor *more = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 4, 3));
  TD_DO(td_binary(td, TD_BINARY_ADD, TD_BY(TD_O_TENSOR(more)), NULL, &result));
  TD_CHECK_BATCH(result, 2, 4, 3);
  TD_EXPECT(td_binary_inplace(td, TD_BINARY_ADD, TD_BY(TD_O_TENSOR(more)), NULL), TD_ERR_SHAPE);
  td_tensor *feature = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2));
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_ADD, TD_BY(TD_O_TENSOR(feature)), NULL, &result),
                 TD_ERR_SHAPE, result);
}

TD_TEST(batch_sizes_are_broadcast) {
  td_tensordict *td = numbers(), *row = td_empty(TD_SIZES(1)), *result = NULL;
  td_put(row, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 10, TD_SIZES(1, 2)));
  td_put(row, TD_KEY("n", "b"), td_filled(TD_DTYPE_FLOAT32, 20, TD_SIZES(1)));
  TD_DO(td_binary(td, TD_BINARY_ADD, TD_BY(TD_O_DICT(row)), NULL, &result));
  TD_CHECK_BATCH(result, 2);
  CHECK_AB(result, 11, 12, 13, 14, 25, 26);
  TD_DO(td_binary(row, TD_BINARY_SUB, TD_BY(TD_O_DICT(td)), NULL, &result));
  TD_CHECK_BATCH(result, 2);
  CHECK_AB(result, 9, 8, 7, 6, 15, 14);
  TD_DO(td_binary_inplace(td, TD_BINARY_ADD, TD_BY(TD_O_DICT(row)), NULL));
  CHECK_AB(td, 11, 12, 13, 14, 25, 26);
  TD_EXPECT(td_binary_inplace(row, TD_BINARY_ADD, TD_BY(TD_O_DICT(td)), NULL), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "[2]");
}

TD_TEST(keys_that_only_one_has) {
  td_tensordict *td = numbers(), *other = numbers(), *result = NULL;
  TD_DO(td_remove(other, TD_KEY("a")));
  td_put(other, TD_KEY("z"), td_filled(TD_DTYPE_FLOAT32, 7, TD_SIZES(2)));
  const td_operand operand = TD_O_DICT(other);
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_ADD, &operand, NULL, &result), TD_ERR_KEY_NOT_FOUND,
                 result);
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_EQ, &operand, NULL, &result), TD_ERR_KEY_NOT_FOUND,
                 result);
  TD_EXPECT(td_binary_inplace(td, TD_BINARY_ADD, &operand, NULL), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_TEXT(td_last_error_message(), "\"a\"");
  CHECK_AB(td, 1, 2, 3, 4, 5, 6);
  td_binary_options options = TD_BINARY_OPTIONS_INIT;
  options.missing = TD_MISSING_INTERSECT;
  TD_DO(td_binary(td, TD_BINARY_ADD, &operand, &options, &result));
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(result, TD_KEY("a"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(10, 12));
  options.missing = TD_MISSING_DEFAULT;
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_ADD, &operand, &options, &result), TD_ERR_INVALID_ARGUMENT,
                 result);
  td_tensor *hundred = td_filled(TD_DTYPE_FLOAT32, 100, NULL, 0);
  options.fallback = hundred;
  TD_DO(td_binary(td, TD_BINARY_SUB, &operand, &options, &result));
  CHECK_AB(result, -99, -98, -97, -96, 0, 0);
  TD_CHECK_ENTRY(result, TD_KEY("z"), TD_SIZES(2), TD_VALUES(93, 93));
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_EQ, &operand, &options, &result), TD_ERR_INVALID_ARGUMENT,
                 result);
  options.fallback = NULL;
  options.missing = 3;
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_ADD, &operand, &options, &result), TD_ERR_INVALID_ARGUMENT,
                 result);
  td_put(other, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2, 2)));
  TD_DO(td_binary_inplace(td, TD_BINARY_ADD, &operand, NULL)); /* "z" is passed over */
  CHECK_AB(td, 2, 3, 4, 5, 10, 12);
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_ADD, &operand, NULL, &result), TD_ERR_KEY_NOT_FOUND,
                 result);
  td_put(td, TD_KEY("z", "inner"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_ADD, &operand, NULL, &result), TD_ERR_WRONG_ENTRY, result);
}

TD_TEST(alpha) {
  td_tensordict *td = numbers(), *result = NULL;
  td_binary_options options = TD_BINARY_OPTIONS_INIT;
  options.alpha = 2;
  TD_DO(td_binary(td, TD_BINARY_ADD, TD_BY(TD_O_INT(10)), &options, &result));
  CHECK_AB(result, 21, 22, 23, 24, 25, 26);
  TD_DO(td_binary(td, TD_BINARY_RSUB, TD_BY(TD_O_INT(10)), &options, &result));
  CHECK_AB(result, 8, 6, 4, 2, 0, -2);
  options.alpha = 0.5;
  TD_DO(td_binary_inplace(td, TD_BINARY_SUB, TD_BY(TD_O_INT(2)), &options));
  CHECK_AB(td, 0, 1, 2, 3, 4, 5);
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_MUL, TD_BY(TD_O_INT(2)), &options, &result),
                 TD_ERR_INVALID_ARGUMENT, result);
}

TD_TEST(nothing_is_written_when_one_tensor_cannot_be) {
  td_tensordict *td = numbers(), *other = numbers();
  td_put(td, TD_KEY("z"), td_filled(TD_DTYPE_INT64, 3, TD_SIZES(2)));
  TD_EXPECT(td_unary_inplace(td, TD_UNARY_SQRT), TD_ERR_DTYPE);
  TD_EXPECT(td_binary_inplace(td, TD_BINARY_DIV, TD_BY(TD_O_INT(2)), NULL), TD_ERR_DTYPE);
  TD_EXPECT(td_binary_inplace(td, TD_BINARY_ADD, TD_BY(TD_O_DOUBLE(0.5)), NULL), TD_ERR_DTYPE);
  td_put(other, TD_KEY("z"), td_filled(TD_DTYPE_INT64, 3, TD_SIZES(2, 5)));
  TD_EXPECT(td_binary_inplace(td, TD_BINARY_ADD, TD_BY(TD_O_DICT(other)), NULL), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "\"z\"");
  CHECK_AB(td, 1, 2, 3, 4, 5, 6);
  TD_DO(td_binary_inplace(td, TD_BINARY_ADD, TD_BY(TD_O_INT(1)), NULL));
  TD_CHECK_ENTRY(td, TD_KEY("z"), TD_SIZES(2), TD_VALUES(4, 4));
}

TD_TEST(the_same_tensors_are_written) {
  td_tensordict *td = numbers(), *half = NULL;
  td_tensor *before = td_take(td, TD_KEY("n", "b"));
  TD_DO(td_index(td, TD_AT(TD_I_INT(1)), &half)); /* a view */
  TD_DO(td_lock(td));
  TD_DO(td_binary_inplace(td, TD_BINARY_MUL, TD_BY(TD_O_DICT(td)), NULL));
  CHECK_AB(td, 1, 4, 9, 16, 25, 36);
  TD_DO(td_unary_inplace(half, TD_UNARY_NEG));
  CHECK_AB(td, 1, 4, -9, -16, 25, -36);
  td_tensor *after = td_take(td, TD_KEY("n", "b"));
  TD_CHECK(td_same_memory(before, after));
}

TD_TEST(the_lock_goes_along_but_not_to_comparisons) {
  td_tensordict *td = numbers(), *result = NULL;
  TD_DO(td_lock(td));
  TD_DO(td_unary(td, TD_UNARY_NEG, &result));
  TD_CHECK_FLAG(td_is_locked, result, 1);
  TD_DO(td_binary(td, TD_BINARY_ADD, TD_BY(TD_O_INT(1)), NULL, &result));
  TD_CHECK_FLAG(td_is_locked, result, 1);
  TD_DO(td_binary(td, TD_BINARY_EQ, TD_BY(TD_O_DICT(td)), NULL, &result));
  TD_CHECK_FLAG(td_is_locked, result, 0);
  TD_DO(td_unary(td, TD_UNARY_ISNAN, &result));
  TD_CHECK_FLAG(td_is_locked, result, 0);
}

TD_TEST(values_that_are_no_tensors) {
  td_tensordict *td = numbers(), *other = numbers(), *result = NULL;
  TD_DO(td_set_non_tensor_json(td, TD_KEY("text"), "\"x\""));
  TD_DO(td_set_non_tensor_json(other, TD_KEY("text"), "\"y\""));
  TD_DO(td_binary(td, TD_BINARY_ADD, TD_BY(TD_O_DICT(other)), NULL, &result));
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(result, TD_KEY("text"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NON_TENSOR);
  TD_DO(td_binary(td, TD_BINARY_EQ, TD_BY(TD_O_DICT(other)), NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("text"), TD_SIZES(2), TD_VALUES(0, 0));
  TD_CHECK_FLAG(td_all, result, 0);
  TD_DO(td_binary(td, TD_BINARY_EQ, TD_BY(TD_O_DICT(td)), NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("text"), TD_SIZES(2), TD_VALUES(1, 1));
  TD_CHECK_FLAG(td_all, result, 1);
  TD_DO(td_binary(td, TD_BINARY_NE, TD_BY(TD_O_INT(1)), NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("text"), TD_SIZES(2), TD_VALUES(1, 1));
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_LT, TD_BY(TD_O_DICT(td)), NULL, &result), TD_ERR_DTYPE,
                 result);
  TD_DO(td_binary_inplace(td, TD_BINARY_ADD, TD_BY(TD_O_DICT(other)), NULL));
  TD_DO(td_zero(td));
  TD_DO(td_get_kind(td, TD_KEY("text"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NON_TENSOR);
}

TD_TEST(three_operands) {
  td_tensordict *td = numbers(), *ten = NULL, *result = NULL;
  td_tensor *weight = td_filled(TD_DTYPE_FLOAT32, 0.5, TD_SIZES(2));
  TD_DO(td_unary(td, TD_UNARY_NEG, &ten));
  TD_DO(
      td_ternary(td, TD_TERNARY_LERP, TD_BY(TD_O_DICT(ten)), TD_BY(TD_O_DOUBLE(0.5)), 1, &result));
  CHECK_AB(result, 0, 0, 0, 0, 0, 0);
  TD_DO(
      td_ternary(td, TD_TERNARY_LERP, TD_BY(TD_O_INT(9)), TD_BY(TD_O_TENSOR(weight)), 1, &result));
  CHECK_AB(result, 5, 5.5, 6, 6.5, 7, 7.5);
  TD_DO(td_ternary(td, TD_TERNARY_ADDCMUL, TD_BY(TD_O_DICT(td)), TD_BY(TD_O_INT(2)), 3, &result));
  CHECK_AB(result, 7, 14, 21, 28, 35, 42);
  TD_DO(td_ternary(td, TD_TERNARY_ADDCDIV, TD_BY(TD_O_DICT(td)), TD_BY(TD_O_TENSOR(weight)), 1,
                   &result));
  CHECK_AB(result, 3, 6, 9, 12, 15, 18);
  TD_DO(td_ternary(td, TD_TERNARY_CLAMP, TD_BY(TD_O_INT(2)), TD_BY(TD_O_DOUBLE(4.5)), 1, &result));
  CHECK_AB(result, 2, 2, 3, 4, 4.5, 4.5);
  TD_DO(td_ternary(td, TD_TERNARY_CLAMP, NULL, TD_BY(TD_O_INT(3)), 1, &result));
  CHECK_AB(result, 1, 2, 3, 3, 3, 3);
  TD_DO(td_ternary_inplace(td, TD_TERNARY_CLAMP, TD_BY(TD_O_DICT(td)), NULL, 1));
  CHECK_AB(td, 1, 2, 3, 4, 5, 6);
  TD_DO(td_ternary_inplace(td, TD_TERNARY_LERP, TD_BY(TD_O_DICT(ten)), TD_BY(TD_O_DOUBLE(1)), 1));
  CHECK_AB(td, -1, -2, -3, -4, -5, -6);
  TD_DO(td_ternary_inplace(td, TD_TERNARY_ADDCMUL, TD_BY(TD_O_INT(2)), TD_BY(TD_O_INT(3)), 1));
  CHECK_AB(td, 5, 4, 3, 2, 1, 0);
  TD_EXPECT_NULL(td_ternary(td, TD_TERNARY_CLAMP, NULL, NULL, 1, &result), TD_ERR_NULL_ARGUMENT,
                 result);
  TD_EXPECT_NULL(td_ternary(td, TD_TERNARY_LERP, NULL, TD_BY(TD_O_INT(1)), 1, &result),
                 TD_ERR_NULL_ARGUMENT, result);
  TD_EXPECT_NULL(td_ternary(td, 99, TD_BY(TD_O_INT(1)), TD_BY(TD_O_INT(1)), 1, &result),
                 TD_ERR_INVALID_ARGUMENT, result);
}

TD_TEST(operands_that_are_none) {
  td_tensordict *td = numbers(), *result = NULL;
  td_operand bad = TD_O_INT(1);
  bad.kind = 0;
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_ADD, &bad, NULL, &result), TD_ERR_UNSUPPORTED, result);
  bad = (td_operand)TD_O_INT(1);
  bad.zero = 1;
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_ADD, &bad, NULL, &result), TD_ERR_INVALID_ARGUMENT,
                 result);
  bad = (td_operand)TD_O_INT(1);
  bad.reserved[2] = 1;
  TD_EXPECT(td_binary_inplace(td, TD_BINARY_ADD, &bad, NULL), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_ADD, TD_BY(TD_O_DICT(NULL)), NULL, &result),
                 TD_ERR_NULL_ARGUMENT, result);
  TD_EXPECT_NULL(td_binary(td, TD_BINARY_ADD, NULL, NULL, &result), TD_ERR_NULL_ARGUMENT, result);
  CHECK_AB(td, 1, 2, 3, 4, 5, 6);
}

TD_TEST(truth_of_all_and_any) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  TD_CHECK_FLAG(td_all, td, 1);
  TD_CHECK_FLAG(td_any, td, 0);
  td_put(td, TD_KEY("n", "x"), td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(2, 3)));
  TD_CHECK_FLAG(td_all, td, 1);
  TD_CHECK_FLAG(td_any, td, 1);
  td_put(td, TD_KEY("y"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_CHECK_FLAG(td_all, td, 0);
  TD_DO(td_zero(td));
  TD_CHECK_FLAG(td_any, td, 0);
}

TD_TEST(zero_and_fill) {
  td_tensordict *td = td_sample(), *turned = NULL;
  td_put(td, TD_KEY("n", "flag"), td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(4, 3)));
  TD_DO(td_lock(td));
  TD_DO(td_permute(td, TD_SIZES(1, 0), &turned));
  TD_DO(td_fill(td, TD_KEY("n", "b"), TD_BY(TD_O_INT(7))));
  TD_CHECK_ENTRY(turned, TD_KEY("n", "b"), TD_SIZES(3, 4),
                 TD_VALUES(7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7));
  TD_DO(td_fill(td, TD_KEY("n"), TD_BY(TD_O_DOUBLE(0))));
  TD_CHECK_ENTRY(td, TD_KEY("n", "flag"), TD_SIZES(4, 3),
                 TD_VALUES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  TD_DO(td_fill(td, TD_KEY("a"), TD_BY(TD_O_INT(1))));
  TD_CHECK_FLAG(td_any, td, 1);
  TD_DO(td_zero(turned));
  TD_CHECK_FLAG(td_any, td, 0);
  TD_EXPECT(td_fill(td, TD_KEY("no"), TD_BY(TD_O_INT(1))), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_fill(td, TD_KEY("a", "no"), TD_BY(TD_O_INT(1))), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_fill(td, NULL, 0, TD_BY(TD_O_INT(1))), TD_ERR_NULL_ARGUMENT);
  TD_EXPECT(td_fill(td, TD_KEY("a"), TD_BY(TD_O_DICT(td))), TD_ERR_INVALID_ARGUMENT);
  td = td_empty(TD_SIZES(1));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("text"), "\"x\""));
  TD_EXPECT(td_fill(td, TD_KEY("text"), TD_BY(TD_O_INT(1))), TD_ERR_WRONG_ENTRY);
}

/* What depends on the elements cannot be written to several of them in one place; zeros can. */
TD_TEST(an_expanded_dictionary_is_not_written) {
  td_tensordict *td = numbers(), *wide = NULL;
  TD_DO(td_expand(td, TD_SIZES(3, 2), &wide));
  TD_EXPECT(td_binary_inplace(wide, TD_BINARY_ADD, TD_BY(TD_O_INT(1)), NULL), TD_ERR_TORCH);
  CHECK_AB(td, 1, 2, 3, 4, 5, 6);
  TD_DO(td_zero(wide));
  CHECK_AB(td, 0, 0, 0, 0, 0, 0);
}

TD_TEST(an_empty_dictionary) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *result = NULL;
  TD_DO(td_binary(td, TD_BINARY_ADD, TD_BY(TD_O_INT(1)), NULL, &result));
  TD_CHECK_BATCH(result, 3);
  TD_CHECK_FLAG(td_is_empty, result, 1);
  TD_DO(td_unary_inplace(td, TD_UNARY_EXP));
}
