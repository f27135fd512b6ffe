/* Sums, means and their like. */
#include <string.h>

#include "td_values.h"

static td_reduce_options over(const int64_t *dims, size_t dims_len) {
  td_reduce_options options = TD_REDUCE_OPTIONS_INIT;
  options.over = TD_REDUCE_OVER_DIMS;
  options.dims = dims;
  options.dims_len = dims_len;
  return options;
}

/* {"x": [1, 2, 4]} of batch [3]. */
static td_tensordict *three(td_dtype dtype) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  const double values[] = {1, 2, 4};
  td_tensor *tensor = NULL, *as = NULL;
  TD_DO(td_tensor_from_data(values, sizeof values, TD_SIZES(3), TD_DTYPE_FLOAT64, &tensor));
  TD_DO(td_tensor_to(tensor, dtype, TD_DEVICE_NONE, -1, &as));
  td_tensor_free(tensor);
  td_put(td, TD_KEY("x"), as);
  return td;
}

TD_TEST(every_reduction) {
  static const struct {
    td_reduce_op op;
    double wanted;
  } cases[] = {
      {TD_REDUCE_SUM, 7},    {TD_REDUCE_MEAN, 7.0 / 3},    {TD_REDUCE_PROD, 8},
      {TD_REDUCE_NANSUM, 7}, {TD_REDUCE_NANMEAN, 7.0 / 3}, {TD_REDUCE_MIN, 1},
      {TD_REDUCE_MAX, 4},    {TD_REDUCE_AMIN, 1},          {TD_REDUCE_AMAX, 4},
      {TD_REDUCE_ALL, 1},    {TD_REDUCE_ANY, 1},           {TD_REDUCE_QUANTILE, 2},
  };
  const int64_t dim = -1;
  td_tensordict *td = three(TD_DTYPE_FLOAT64), *result = NULL;
  const td_reduce_options along = over(&dim, 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double y = cases[i].wanted;
    TD_DO(td_reduce(td, cases[i].op, NULL, &result));
    TD_CHECK_NO_BATCH(result);
    TD_CHECK_ENTRY(result, TD_KEY("x"), NULL, 0, TD_VALUES(y));
    td_free(result);
    TD_DO(td_reduce(td, cases[i].op, &along, &result));
    TD_CHECK_NO_BATCH(result);
    TD_CHECK_ENTRY(result, TD_KEY("x"), NULL, 0, TD_VALUES(y));
    td_free(result);
    td_tensor *one = NULL;
    TD_DO(td_reduce_leaves(td, cases[i].op, NULL, &one));
    TD_CHECK_VALUES(one, y);
  }
  TD_EXPECT_NULL(td_reduce(td, 0, NULL, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_reduce(td, 99, NULL, &result), TD_ERR_INVALID_ARGUMENT, result);
}

TD_TEST(spread) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *result = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(4)));
  td_reduce_options options = TD_REDUCE_OPTIONS_INIT;
  static const struct {
    int64_t correction;
    double variance;
  } cases[] = {{0, 1.25}, {1, 5.0 / 3}, {2, 2.5}};
  for (size_t i = 0; i < 3; i++) {
    options.correction = cases[i].correction;
    TD_DO(td_reduce(td, TD_REDUCE_VAR, &options, &result));
    TD_CHECK_ENTRY(result, TD_KEY("x"), NULL, 0, TD_VALUES(cases[i].variance));
  }
  TD_DO(td_remove(td, TD_KEY("x")));
  const double values[] = {3, 4, 0, 0};
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_data(values, sizeof values, TD_SIZES(4), TD_DTYPE_FLOAT64, &tensor));
  td_put(td, TD_KEY("x"), tensor);
  TD_DO(td_reduce(td, TD_REDUCE_NORM, NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("x"), NULL, 0, TD_VALUES(5));
  options.correction = 2;
  TD_DO(td_fill(td, TD_KEY("x"), TD_BY(TD_O_INT(2))));
  TD_DO(td_reduce(td, TD_REDUCE_STD, &options, &result));
  TD_CHECK_ENTRY(result, TD_KEY("x"), NULL, 0, TD_VALUES(0));
}

TD_TEST(features_stay_unless_asked_for) {
  td_tensordict *td = td_sample(), *result = NULL;
  int64_t dims[] = {0, 1};
  td_reduce_options options = over(dims, 1);
  TD_DO(td_lock(td));
  TD_DO(td_reduce(td, TD_REDUCE_SUM, &options, &result));
  TD_CHECK_BATCH(result, 3);
  TD_CHECK_FLAG(td_is_locked, result, 0);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(36, 40, 44, 48, 52, 56));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(18, 22, 26));
  dims[0] = -1;
  options.keepdim = 1;
  TD_DO(td_reduce(td, TD_REDUCE_SUM, &options, &result));
  TD_CHECK_BATCH(result, 4, 1);
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(4, 1), TD_VALUES(3, 12, 21, 30));
  dims[0] = 0;
  options = over(dims, 2);
  TD_DO(td_reduce(td, TD_REDUCE_SUM, &options, &result));
  TD_CHECK_NO_BATCH(result);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(132, 144));
  options = (td_reduce_options)TD_REDUCE_OPTIONS_INIT;
  options.over = TD_REDUCE_OVER_FEATURES;
  TD_DO(td_reduce(td, TD_REDUCE_SUM, &options, &result));
  TD_CHECK_BATCH(result, 4, 3);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(4, 3),
                 TD_VALUES(1, 5, 9, 13, 17, 21, 25, 29, 33, 37, 41, 45));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  options.keepdim = 1;
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_SUM, &options, &result), TD_ERR_INVALID_ARGUMENT, result);
  options.over = TD_REDUCE_OVER_ALL;
  TD_DO(td_reduce(td, TD_REDUCE_SUM, &options, &result));
  TD_CHECK_BATCH(result, 1, 1);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(1, 1, 1), TD_VALUES(276));
}

TD_TEST(over_all_tensors) {
  td_tensordict *td = td_sample();
  td_tensor *result = NULL;
  TD_DO(td_reduce_leaves(td, TD_REDUCE_SUM, NULL, &result));
  TD_CHECK_VALUES(result, 276 + 66);
  td_reduce_options options = TD_REDUCE_OPTIONS_INIT;
  options.over = TD_REDUCE_OVER_FEATURES;
  TD_DO(td_reduce_leaves(td, TD_REDUCE_SUM, &options, &result));
  TD_CHECK_SIZES(result, 4, 3);
  TD_CHECK_VALUES(result, 1, 6, 11, 16, 21, 26, 31, 36, 41, 46, 51, 56);
  const int64_t dim = 0;
  options = over(&dim, 1);
  TD_EXPECT_NULL(td_reduce_leaves(td, TD_REDUCE_SUM, &options, &result), TD_ERR_SHAPE, result);
  TD_DO(td_remove(td, TD_KEY("a")));
  td_put(td, TD_KEY("c"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4, 3)));
  TD_DO(td_reduce_leaves(td, TD_REDUCE_SUM, &options, &result));
  TD_CHECK_SIZES(result, 3);
  TD_CHECK_VALUES(result, 36, 44, 52);
  td = td_empty(TD_SIZES(2));
  TD_EXPECT_NULL(td_reduce_leaves(td, TD_REDUCE_SUM, NULL, &result), TD_ERR_INVALID_ARGUMENT,
                 result);
}

TD_TEST(values_and_positions) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *values = NULL, *positions = NULL;
  const float numbers[] = {3, 1, 2};
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_data(numbers, sizeof numbers, TD_SIZES(3), TD_DTYPE_FLOAT32, &tensor));
  td_put(td, TD_KEY("n", "x"), tensor);
  const int64_t dim = 0;
  const td_reduce_options options = over(&dim, 1);
  TD_DO(td_reduce_pair(td, TD_REDUCE_MIN, &options, &values, &positions));
  TD_CHECK_NO_BATCH(positions);
  TD_CHECK_ENTRY(values, TD_KEY("n", "x"), NULL, 0, TD_VALUES(1));
  TD_CHECK_ENTRY(positions, TD_KEY("n", "x"), NULL, 0, TD_VALUES(1));
  TD_DO(td_reduce_pair(td, TD_REDUCE_CUMMAX, &options, &values, &positions));
  TD_CHECK_BATCH(values, 3);
  TD_CHECK_ENTRY(values, TD_KEY("n", "x"), TD_SIZES(3), TD_VALUES(3, 3, 3));
  TD_CHECK_ENTRY(positions, TD_KEY("n", "x"), TD_SIZES(3), TD_VALUES(0, 0, 0));
  TD_DO(td_reduce(td, TD_REDUCE_CUMMIN, &options, &values));
  TD_CHECK_ENTRY(values, TD_KEY("n", "x"), TD_SIZES(3), TD_VALUES(3, 1, 1));
  TD_EXPECT_NULL(td_reduce_pair(td, TD_REDUCE_SUM, &options, &values, &positions),
                 TD_ERR_INVALID_ARGUMENT, values);
  TD_EXPECT_NULL(td_reduce_pair(td, TD_REDUCE_MIN, NULL, &values, &positions),
                 TD_ERR_INVALID_ARGUMENT, positions);
  TD_EXPECT_NULL(td_reduce_pair(td, TD_REDUCE_MIN, &options, &values, NULL), TD_ERR_NULL_ARGUMENT,
                 values);
  TD_EXPECT_NULL(td_reduce_pair(td, TD_REDUCE_MIN, &options, NULL, &positions),
                 TD_ERR_NULL_ARGUMENT, positions);
}

TD_TEST(exponentials) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
  td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(2, 3)));
  const int64_t dim = 0;
  td_reduce_options options = over(&dim, 1);
  TD_DO(td_reduce(td, TD_REDUCE_SOFTMAX, &options, &result));
  TD_CHECK_BATCH(result, 2);
  TD_CHECK_ENTRY(result, TD_KEY("x"), TD_SIZES(2, 3), TD_VALUES(0.5, 0.5, 0.5, 0.5, 0.5, 0.5));
  TD_DO(td_reduce(td, TD_REDUCE_LOGSUMEXP, NULL, &result)); /* the batch, not the features */
  TD_CHECK_NO_BATCH(result);
  td_tensor *x = td_take(result, TD_KEY("x"));
  TD_CHECK_SIZES(x, 3);
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_SOFTMAX, NULL, &result), TD_ERR_INVALID_ARGUMENT, result);
}

TD_TEST(quantiles) {
  td_tensordict *td = three(TD_DTYPE_FLOAT64), *result = NULL;
  static const double wanted[] = {3, 2, 4, 3, 4};
  td_reduce_options options = TD_REDUCE_OPTIONS_INIT;
  options.q = 0.75;
  for (int32_t i = 0; i < 5; i++) {
    options.interpolation = i;
    if (i == TD_INTERPOLATION_NEAREST) options.q = 0.8;
    TD_DO(td_reduce(td, TD_REDUCE_QUANTILE, &options, &result));
    TD_CHECK_ENTRY(result, TD_KEY("x"), NULL, 0, TD_VALUES(wanted[i]));
  }
  options.interpolation = 5;
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_QUANTILE, &options, &result), TD_ERR_INVALID_ARGUMENT,
                 result);
  options.interpolation = 0;
  options.q = 1.5;
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_QUANTILE, &options, &result), TD_ERR_TORCH, result);
}

TD_TEST(dtypes) {
  td_tensordict *td = three(TD_DTYPE_INT32), *result = NULL;
  td_dtype dtype = TD_DTYPE_OTHER;
  td_reduce_options options = TD_REDUCE_OPTIONS_INIT;
  TD_DO(td_reduce(td, TD_REDUCE_SUM, NULL, &result));
  td_tensor *x = td_take(result, TD_KEY("x"));
  TD_DO(td_tensor_dtype(x, &dtype));
  TD_CHECK_INT(dtype, TD_DTYPE_INT64);
  td_tensor_free(x);
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_MEAN, NULL, &result), TD_ERR_DTYPE, result);
  TD_CHECK_TEXT(td_last_error_message(), "\"x\"");
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_NORM, NULL, &result), TD_ERR_DTYPE, result);
  options.dtype = TD_DTYPE_FLOAT64;
  TD_DO(td_reduce(td, TD_REDUCE_MEAN, &options, &result));
  TD_CHECK_ENTRY(result, TD_KEY("x"), NULL, 0, TD_VALUES(7.0 / 3));
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_MIN, &options, &result), TD_ERR_INVALID_ARGUMENT, result);
  options.dtype = 999;
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_SUM, &options, &result), TD_ERR_DTYPE, result);
}

TD_TEST(dimensions_that_do_not_fit) {
  td_tensordict *td = td_sample(), *result = NULL;
  int64_t dims[] = {2, 2};
  td_reduce_options options = over(dims, 1);
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_SUM, &options, &result), TD_ERR_INDEX, result);
  dims[0] = -3;
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_SUM, &options, &result), TD_ERR_INDEX, result);
  dims[0] = 1;
  dims[1] = -1;
  options = over(dims, 2);
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_SUM, &options, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_MIN, &options, &result), TD_ERR_INVALID_ARGUMENT, result);
  options = over(NULL, 0);
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_SUM, &options, &result), TD_ERR_INVALID_ARGUMENT, result);
  options.over = 3;
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_SUM, &options, &result), TD_ERR_INVALID_ARGUMENT, result);
  options.over = TD_REDUCE_OVER_FEATURES;
  TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_MAX, &options, &result), TD_ERR_INVALID_ARGUMENT, result);
}

TD_TEST(values_that_are_no_tensors_stay) {
  td_tensordict *td = td_sample(), *result = NULL;
  TD_DO(td_set_non_tensor_json(td, TD_KEY("n", "text"), "\"x\""));
  TD_DO(td_reduce(td, TD_REDUCE_SUM, NULL, &result));
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(result, TD_KEY("n", "text"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NON_TENSOR);
}

/* Sums and products so far, and sums from each place on: along rows and along columns; gradients go through. */
TD_TEST(cumulative) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3)), *result = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT32, 1, TD_SIZES(2, 3)));
  const int64_t dims[] = {-1, 0};
  static const double want[3][2][6] = {{{1, 3, 6, 4, 9, 15}, {1, 2, 3, 5, 7, 9}},
                                       {{1, 2, 6, 4, 20, 120}, {1, 2, 3, 4, 10, 18}},
                                       {{6, 5, 3, 15, 11, 6}, {5, 7, 9, 4, 5, 6}}};
  for (int op = 0; op < 3; op++) {
    for (int i = 0; i < 2; i++) {
      td_reduce_options options = over(&dims[i], 1);
      TD_DO(td_reduce(td, TD_REDUCE_CUMSUM + op, &options, &result));
      TD_CHECK_BATCH(result, 2, 3);
      TD_CHECK_ENTRY(result, TD_KEY("x"), TD_SIZES(2, 3), want[op][i], 6);
      TD_CHECK_DTYPE(result, TD_KEY("x"), TD_DTYPE_INT64);
      td_free(result);
      options.dtype = TD_DTYPE_FLOAT32;
      TD_DO(td_reduce(td, TD_REDUCE_CUMSUM + op, &options, &result));
      TD_CHECK_ENTRY(result, TD_KEY("x"), TD_SIZES(2, 3), want[op][i], 6);
      TD_CHECK_DTYPE(result, TD_KEY("x"), TD_DTYPE_FLOAT32);
    }
    TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_CUMSUM + op, NULL, &result), TD_ERR_INVALID_ARGUMENT,
                   result);
    const td_reduce_options both = over(dims, 2);
    TD_EXPECT_NULL(td_reduce(td, TD_REDUCE_CUMSUM + op, &both, &result), TD_ERR_INVALID_ARGUMENT,
                   result);
  }
}
