/* Operators of libtorch by their name: arguments, results, and what is refused. */
#include <math.h>
#include <string.h>

#include "td_values.h"

/* {"a": float32 [2,3], "n": {"b": float32 [2]}} of batch [2]. */
static td_tensordict *numbers(void) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, -2, TD_SIZES(2, 3)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 4, TD_SIZES(2)));
  return td;
}

static void check(const td_tensordict *td, const double *a, const double *b) {
  td_tensor *at = td_take(td, TD_KEY("a"));
  td_check_values(__FILE__, __LINE__, at, a, 6);
  td_tensor_free(at);
  at = td_take(td, TD_KEY("n", "b"));
  td_check_values(__FILE__, __LINE__, at, b, 2);
}
#define CHECK(td, ...) \
  check((td), (const double[]){__VA_ARGS__}, ((const double[]){__VA_ARGS__}) + 6)

#define ARGS(...)                          \
  (const td_call_argument[]){__VA_ARGS__}, \
      (sizeof((const td_call_argument[]){__VA_ARGS__}) / sizeof(td_call_argument))
#define NO_ARGS NULL, 0

/* One result. */
static td_tensordict *called(const td_tensordict *td, const char *name,
                             const td_call_argument *arguments, size_t n) {
  td_tensordict *result = NULL;
  size_t count = 0;
  TD_DO(td_call(td, name, arguments, n, NULL, &result, 1, &count));
  TD_CHECK_INT(count, 1);
  return result;
}

static void refused(const td_tensordict *td, const char *name, const td_call_argument *arguments,
                    size_t n, td_status status, const char *text) {
  td_tensordict *results[2] = {TD_POISON, TD_POISON};
  size_t count = 99;
  TD_EXPECT(td_call(td, name, arguments, n, NULL, results, 2, &count), status);
  TD_CHECK(results[0] == NULL && results[1] == NULL);
  TD_CHECK_TEXT(td_last_error_message(), text);
}

static void refused_inplace(td_tensordict *td, const char *name, const td_call_argument *arguments,
                            size_t n, td_status status, const char *text) {
  TD_EXPECT(td_call_inplace(td, name, arguments, n), status);
  TD_CHECK_TEXT(td_last_error_message(), text);
}

TD_TEST(an_operator_without_arguments) {
  td_tensordict *td = numbers(), *result = called(td, "aten::neg", NO_ARGS);
  CHECK(result, 2, 1, 0, -1, -2, -3, -4, -5);
  CHECK(td, -2, -1, 0, 1, 2, 3, 4, 5);
  TD_CHECK_BATCH(result, 2);
  result = called(td, "neg", NO_ARGS); /* of "aten" */
  CHECK(result, 2, 1, 0, -1, -2, -3, -4, -5);
}

TD_TEST(numbers_by_position_and_by_name) {
  td_tensordict *td = numbers(), *result;
  result = called(td, "aten::clamp",
                  ARGS(TD_ARG_LEAF(NULL), TD_ARG_DOUBLE(NULL, -1), TD_ARG_INT(NULL, 2)));
  CHECK(result, -1, -1, 0, 1, 2, 2, 2, 2);
  result = called(td, "aten::clamp", ARGS(TD_ARG_DOUBLE(NULL, 0))); /* the leaf comes first */
  CHECK(result, 0, 0, 0, 1, 2, 3, 4, 5);
  result = called(td, "aten::clamp", ARGS(TD_ARG_NONE("min"), TD_ARG_INT("max", 1)));
  CHECK(result, -2, -1, 0, 1, 1, 1, 1, 1);
  result = called(td, "aten::pow", ARGS(TD_ARG_INT("self", 2), TD_ARG_LEAF("exponent")));
  CHECK(result, 0.25, 0.5, 1, 2, 4, 8, 16, 32);
}

TD_TEST(the_overload_is_found_by_the_arguments) {
  td_tensordict *td = numbers(), *result;
  result = called(td, "aten::add", ARGS(TD_ARG_INT(NULL, 10)));
  CHECK(result, 8, 9, 10, 11, 12, 13, 14, 15);
  result = called(td, "aten::add", ARGS(TD_ARG_DICT(NULL, td), TD_ARG_INT("alpha", 2)));
  CHECK(result, -6, -3, 0, 3, 6, 9, 12, 15);
  td_tensor *one = td_filled(TD_DTYPE_FLOAT32, 0.5, TD_NO_SIZES);
  result = called(td, "aten::add.Tensor", ARGS(TD_ARG_LEAF("self"), TD_ARG_TENSOR("other", one)));
  CHECK(result, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5);
  refused(td, "aten::add.Tensor", ARGS(TD_ARG_INT(NULL, 1)), TD_ERR_INVALID_ARGUMENT,
          "\"other\" is an integer, not Tensor: aten::add.Tensor(Tensor self, Tensor other");
}

TD_TEST(every_kind_of_argument) {
  td_tensordict *td = numbers(), *result;
  const int64_t dims[] = {-1};
  td_call_options options = TD_CALL_OPTIONS_INIT;
  result = called(td, "aten::to", ARGS(TD_ARG_DTYPE(NULL, TD_DTYPE_FLOAT64)));
  td_tensor *a = td_take(result, TD_KEY("a"));
  td_dtype dtype = 0;
  TD_DO(td_tensor_dtype(a, &dtype));
  TD_CHECK_INT(dtype, TD_DTYPE_FLOAT64);
  td_tensor_free(a);

  result =
      called(td, "aten::div", ARGS(TD_ARG_INT(NULL, 2), TD_ARG_TEXT("rounding_mode", "floor")));
  CHECK(result, -1, -1, 0, 0, 1, 1, 2, 2);

  td_tensordict *flat = td_empty(TD_SIZES(2));
  td_put(flat, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  result = called(flat, "aten::sum", ARGS(TD_ARG_INTS("dim", dims, 1), TD_ARG_BOOL("keepdim", 1)));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 1), TD_VALUES(3, 12));
  result = called(flat, "aten::sum", ARGS(TD_ARG_INT("dim", 1))); /* one number for a list */
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(3, 12));

  result =
      called(flat, "aten::nan_to_num", ARGS(TD_ARG_INT("nan", 1))); /* an integer for a number */
  result = called(
      flat, "aten::to",
      ARGS(TD_ARG_DEVICE("device", TD_DEVICE_META, -1), TD_ARG_DTYPE("dtype", TD_DTYPE_INT32)));
  a = td_take(result, TD_KEY("a"));
  td_device_type type = 0;
  int32_t index = 0;
  TD_DO(td_tensor_device(a, &type, &index));
  TD_CHECK_INT(type, TD_DEVICE_META);
  td_tensor_free(a);

  td_tensordict *image = td_empty(TD_SIZES(1));
  td_put(image, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(1, 1, 2, 2)));
  const double scales[] = {2, 2};
  result = called(image, "aten::upsample_nearest2d",
                  ARGS(TD_ARG_NONE("output_size"), TD_ARG_DOUBLES("scale_factors", scales, 2)));
  result = called(image, "aten::clone", ARGS(TD_ARG_TEXT("memory_format", "channels_last")));

  options.has_batch_size = 1;
  size_t count = 0;
  TD_DO(td_call(flat, "aten::sum", NO_ARGS, &options, &result, 1, &count));
  TD_CHECK_NO_BATCH(result);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_NO_SIZES, TD_VALUES(15));
}

TD_TEST(several_results) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *results[2] = {NULL, NULL};
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 2)));
  size_t count = 0;
  const td_call_argument dim[] = {TD_ARG_INT("dim", 1)};
  TD_DO(td_call(td, "aten::max", dim, 1, NULL, NULL, 0, &count));
  TD_CHECK_INT(count, 2);
  TD_EXPECT_NULL(td_call(td, "aten::max", dim, 1, NULL, results, 1, &count),
                 TD_ERR_BUFFER_TOO_SMALL, results[0]);
  TD_DO(td_call(td, "aten::max", dim, 1, NULL, results, 2, &count));
  TD_CHECK_ENTRY(results[0], TD_KEY("a"), TD_SIZES(2), TD_VALUES(2, 5));
  TD_CHECK_ENTRY(results[1], TD_KEY("a"), TD_SIZES(2), TD_VALUES(2, 2));
  TD_CHECK_ENTRY(results[0], TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(1, 3));
  TD_CHECK_ENTRY(results[1], TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(1, 1));
}

TD_TEST(in_place_writes_into_the_tensors_of_a_locked_dictionary) {
  td_tensordict *td = numbers();
  td_tensor *a = td_take(td, TD_KEY("a"));
  TD_DO(td_lock(td));
  TD_DO(td_call_inplace(td, "aten::mul_", ARGS(TD_ARG_INT(NULL, 3))));
  TD_CHECK_VALUES(a, -6, -3, 0, 3, 6, 9);
  CHECK(td, -6, -3, 0, 3, 6, 9, 12, 15);
}

TD_TEST(an_operator_that_fails_writes_nothing) {
  td_tensordict *td = numbers(), *other = numbers();
  td_put(other, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 2)));
  refused_inplace(td, "aten::add_", ARGS(TD_ARG_DICT(NULL, other)), TD_ERR_TORCH,
                  "called for \"n\"/\"b\"");
  CHECK(td, -2, -1, 0, 1, 2, 3, 4, 5);
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 4, TD_SIZES(2)));
  refused_inplace(td, "aten::div_", ARGS(TD_ARG_INT(NULL, 2)), TD_ERR_TORCH, "can't be cast");
  CHECK(td, -2, -1, 0, 1, 2, 3, 4, 5);
}

TD_TEST(what_writes_is_called_in_place_and_nothing_else) {
  td_tensordict *td = numbers();
  refused(td, "aten::mul_", ARGS(TD_ARG_INT(NULL, 3)), TD_ERR_INVALID_ARGUMENT,
          "aten::mul_ writes into its tensor");
  refused_inplace(td, "aten::mul", ARGS(TD_ARG_INT(NULL, 3)), TD_ERR_INVALID_ARGUMENT,
                  "aten::mul does not write into its tensor");
  CHECK(td, -2, -1, 0, 1, 2, 3, 4, 5);
}

TD_TEST(what_is_no_operator_for_tensors) {
  td_tensordict *td = numbers();
  refused(td, "aten::clmap", NO_ARGS, TD_ERR_UNSUPPORTED, "near it are aten::clamp");
  refused(td, "aten::add.Tenser", NO_ARGS, TD_ERR_UNSUPPORTED, "no operator");
  refused(td, "", NO_ARGS, TD_ERR_UNSUPPORTED, "no operator");
  refused(td, "aten::from_file", ARGS(TD_ARG_TEXT(NULL, "/etc/passwd")), TD_ERR_INVALID_ARGUMENT,
          "aten::from_file(str filename");
  refused(td, "aten::ones", NO_ARGS, TD_ERR_INVALID_ARGUMENT, "cannot be called like this");
  refused(td, "aten::resize_", ARGS(TD_ARG_INTS(NULL, (const int64_t[]){1000}, 1)),
          TD_ERR_UNSUPPORTED, "is not supported");
  refused(td, "aten::unsqueeze_", ARGS(TD_ARG_INT(NULL, 0)), TD_ERR_UNSUPPORTED,
          "is not supported");
  refused(td, "aten::_reshape_alias", NO_ARGS, TD_ERR_INVALID_ARGUMENT, "size");
  refused(td, "aten::_neg_view", NO_ARGS, TD_ERR_UNSUPPORTED, "is not supported");
  refused(td, "aten::chunk", ARGS(TD_ARG_INT(NULL, 2)), TD_ERR_UNSUPPORTED, "not a tensor");
  refused(td, "aten::equal", ARGS(TD_ARG_DICT(NULL, td)), TD_ERR_UNSUPPORTED, "not a tensor");
  refused(td, "aten::abs.out", ARGS(TD_ARG_LEAF("out"), TD_ARG_LEAF(NULL)), TD_ERR_UNSUPPORTED,
          "writes into another");
  refused(td, "aten::copy_", ARGS(TD_ARG_DICT(NULL, td), TD_ARG_LEAF(NULL)), TD_ERR_UNSUPPORTED,
          "would write into an argument");
  CHECK(td, -2, -1, 0, 1, 2, 3, 4, 5);
}

TD_TEST(arguments_that_do_not_fit) {
  td_tensordict *td = numbers();
  refused(td, "aten::neg", ARGS(TD_ARG_INT(NULL, 1)), TD_ERR_INVALID_ARGUMENT,
          "more than 1 arguments without a name: aten::neg(Tensor self) -> Tensor");
  refused(td, "aten::clamp", ARGS(TD_ARG_INT("mni", 1)), TD_ERR_INVALID_ARGUMENT,
          "no argument is called \"mni\"");
  refused(td, "aten::clamp", ARGS(TD_ARG_LEAF(NULL), TD_ARG_LEAF("self")), TD_ERR_INVALID_ARGUMENT,
          "\"self\" is given twice");
  refused(td, "aten::lerp.Scalar", ARGS(TD_ARG_DICT(NULL, td)), TD_ERR_INVALID_ARGUMENT,
          "\"weight\" is missing");
  refused(td, "aten::to.dtype", ARGS(TD_ARG_INT(NULL, 3)), TD_ERR_INVALID_ARGUMENT,
          "\"dtype\" is an integer, not ScalarType");
  refused(td, "aten::sum", ARGS(TD_ARG_TEXT("dim", "x")), TD_ERR_INVALID_ARGUMENT,
          "\"dim\" is a text");
  td_call_argument bad = TD_ARG_INT(NULL, 1);
  bad.kind = 99;
  refused(td, "aten::add", &bad, 1, TD_ERR_UNSUPPORTED, "unknown kind");
  bad.kind = TD_ARGUMENT_INT;
  bad.reserved[1] = 1;
  refused(td, "aten::add", &bad, 1, TD_ERR_INVALID_ARGUMENT, "reserved");
  bad.reserved[1] = 0;
  for (td_argument_kind kind = 1; kind <= TD_ARGUMENT_BOOLS; kind++) {
    bad.kind = kind;
    bad.count = 1;
    if (kind == TD_ARGUMENT_DICT || kind == TD_ARGUMENT_TENSOR || kind == TD_ARGUMENT_TEXT ||
        kind >= TD_ARGUMENT_INTS)
      refused(td, "aten::add", &bad, 1, TD_ERR_NULL_ARGUMENT, "NULL");
  }
  bad.kind = TD_ARGUMENT_DICT;
  bad.dict = (const td_tensordict *)(const void *)&bad;
  refused(td, "aten::add", &bad, 1, TD_ERR_BAD_HANDLE, "");
  bad.kind = TD_ARGUMENT_DTYPE;
  bad.integer = 1000;
  refused(td, "aten::to", &bad, 1, TD_ERR_DTYPE, "");
}

TD_TEST(results_must_fit_the_batch_size_and_keys_the_dictionary) {
  td_tensordict *td = numbers(), *other = td_empty(TD_SIZES(2));
  refused(td, "aten::sum", NO_ARGS, TD_ERR_SHAPE, "\"a\" has shape [], which does not begin with");
  refused(td, "aten::add", ARGS(TD_ARG_DICT(NULL, other)), TD_ERR_KEY_NOT_FOUND, "\"a\"");
}

TD_TEST(an_empty_dictionary) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = called(td, "aten::exp", NO_ARGS);
  TD_CHECK_FLAG(td_is_empty, result, 1);
  TD_CHECK_BATCH(result, 2);
}

TD_TEST(gradients_flow_when_they_are_asked_for) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_tensor *a = td_take(td, TD_KEY("a"));
  TD_DO(td_tensor_set_requires_grad(a, 1));
  for (int32_t on = 0; on < 2; on++) {
    td_set_grad_enabled(on);
    td_tensordict *result = called(td, "aten::exp", NO_ARGS);
    td_tensor *made = td_take(result, TD_KEY("a"));
    TD_CHECK_FLAG(td_tensor_requires_grad, made, on);
  }
  refused_inplace(td, "aten::add_", ARGS(TD_ARG_INT(NULL, 1)), TD_ERR_TORCH,
                  "\"a\" requires a gradient");
  td_set_grad_enabled(0);
}
