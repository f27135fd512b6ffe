/* The same structure with other values, and how near two dictionaries are. */
#include <math.h>

#include "td_values.h"

/* td_sample() with a non-tensor value, locked. */
static td_tensordict *sample(void) {
  td_tensordict *td = td_sample();
  TD_DO(td_set_non_tensor_json(td, TD_KEY("s"), "\"x\""));
  TD_DO(td_lock(td));
  return td;
}

TD_TEST(like_keeps_structure_and_lock) {
  td_tensordict *td = sample(), *result = NULL;
  td_like_options options = TD_LIKE_OPTIONS_INIT;
  td_dtype dtype = TD_DTYPE_OTHER;
  char text[16];
  size_t length = 0;
  TD_DO(td_like(td, TD_LIKE_ZEROS, NULL, &result));
  TD_CHECK_BATCH(result, 4, 3);
  TD_CHECK_FLAG(td_is_locked, result, 1);
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  TD_DO(td_get_non_tensor_json(result, TD_KEY("s"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "\"x\"");
  td_free(result);
  options.value = 2.5;
  options.dtype = TD_DTYPE_FLOAT64;
  TD_DO(td_like(td, TD_LIKE_FULL, &options, &result));
  td_tensor *b = td_take(result, TD_KEY("n", "b"));
  TD_DO(td_tensor_dtype(b, &dtype));
  TD_CHECK_INT(dtype, TD_DTYPE_FLOAT64);
  TD_CHECK_VALUES(b, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5);
  td_tensor_free(b);
  td_free(result);
  for (td_like_kind kind = TD_LIKE_EMPTY; kind <= TD_LIKE_RANDN; kind++) {
    TD_DO(td_like(td, kind, &options, &result));
    TD_CHECK_BATCH(result, 4, 3);
    td_free(result);
  }
  TD_EXPECT_NULL(td_like(td, TD_LIKE_RAND, NULL, &result), TD_ERR_UNSUPPORTED,
                 result); /* of int64 */
  TD_EXPECT_NULL(td_like(td, 6, NULL, &result), TD_ERR_INVALID_ARGUMENT, result);
  options.device_type = 99;
  TD_EXPECT_NULL(td_like(td, TD_LIKE_ONES, &options, &result), TD_ERR_DEVICE, result);
  options.device_type = TD_DEVICE_META;
  td_device_type device = TD_DEVICE_NONE;
  int32_t index = 0;
  TD_DO(td_like(td, TD_LIKE_ONES, &options, &result));
  TD_DO(td_device(result, &device, &index));
  TD_CHECK_INT(device, TD_DEVICE_META);
}

TD_TEST(new_takes_another_batch_size) {
  td_tensordict *td = sample(), *result = NULL, *n = NULL;
  TD_DO(td_like_sized(td, TD_LIKE_ONES, TD_SIZES(2), NULL, &result));
  TD_CHECK_BATCH(result, 2);
  TD_CHECK_FLAG(td_is_locked, result, 0);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(1, 1, 1, 1));
  n = td_take_dict(result, TD_KEY("n"));
  TD_CHECK_BATCH(n, 2);
  td_free(result);
  TD_DO(td_like_sized(td, TD_LIKE_ZEROS, TD_NO_SIZES, NULL, &result));
  TD_CHECK_NO_BATCH(result);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 0));
  TD_EXPECT_NULL(td_like_sized(td, TD_LIKE_ZEROS, TD_SIZES(-1), NULL, &result), TD_ERR_SHAPE,
                 result);
  TD_EXPECT_NULL(td_like_sized(td, -1, TD_SIZES(1), NULL, &result), TD_ERR_INVALID_ARGUMENT,
                 result);
}

/* The first difference between two dictionaries. */
static void check_close(const td_tensordict *td, const td_tensordict *other,
                        const td_allclose_options *options, const char *part) {
  int32_t close = -1;
  char text[256];
  size_t length = 0;
  TD_DO(td_allclose(td, other, options, &close, text, sizeof text, &length));
  TD_CHECK_INT(close, part[0] == '\0');
  TD_CHECK_TEXT(text, part);
}

TD_TEST(what_is_nearly_equal_is_close) {
  td_tensordict *td = sample(), *other = NULL;
  td_allclose_options options = TD_ALLCLOSE_OPTIONS_INIT;
  td_tensor *value = NULL;
  TD_DO(td_clone(td, 0, &other));
  check_close(td, other, NULL, "");
  value = td_filled(TD_DTYPE_FLOAT32, 23.00001, TD_NO_SIZES);
  TD_DO(td_fill_at(other, TD_AT(TD_I_INT(3), TD_I_INT(2)), value));
  check_close(td, other, NULL, "\"a\" differs: root mean square difference");
  options.has_tolerance = 1;
  options.absolute = 100;
  check_close(td, other, &options, "");
  options.absolute = -1;
  int32_t close = -1;
  size_t length = 0;
  TD_EXPECT(td_allclose(td, other, &options, &close, NULL, 0, &length), TD_ERR_INVALID_ARGUMENT);
  TD_DO(td_allclose(td, other, NULL, &close, NULL, 0, &length));
  TD_CHECK_INT(close, 0);
  TD_CHECK(length > 10);
  char text[4];
  TD_EXPECT(td_allclose(td, other, NULL, &close, text, sizeof text, &length),
            TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(close, 0);
}

TD_TEST(structure_counts_too) {
  td_tensordict *td = sample(), *other = NULL;
  td_allclose_options options = TD_ALLCLOSE_OPTIONS_INIT;
  TD_DO(td_clone(td, 0, &other));
  td_put(other, TD_KEY("n", "more"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  check_close(td, other, NULL, "\"n\"/\"more\" is in one of the dictionaries only");
  check_close(other, td, NULL, "\"n\"/\"more\" is in one of the dictionaries only");
  options.common_keys = 1;
  check_close(td, other, &options, "");
  TD_DO(td_remove(other, TD_KEY("n", "more")));
  TD_DO(td_set_non_tensor_json(other, TD_KEY("s"), "\"y\""));
  check_close(td, other, NULL, "\"s\" differs: [[");
  TD_DO(td_remove(other, TD_KEY("s")));
  check_close(td, other, NULL, "\"s\"");
  TD_DO(td_set_non_tensor_json(other, TD_KEY("s"), "\"x\""));
  td_put(other, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(4, 3, 2)));
  check_close(td, other, NULL, "\"a\" differs in dtype");
  td_put(other, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 3)));
  check_close(td, other, NULL, "\"a\" differs in shape: [4, 3, 2] and [4, 3]");
  TD_DO(td_set_batch_size(other, TD_SIZES(4)));
  check_close(td, other, NULL, "batch sizes differ");
}

TD_TEST(nan_is_close_to_nan_if_wanted) {
  td_tensordict *td = td_empty(TD_SIZES(1));
  td_allclose_options options = TD_ALLCLOSE_OPTIONS_INIT;
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, (double)NAN, TD_SIZES(1)));
  check_close(td, td, NULL, "");
  options.nan_differs = 1;
  check_close(td, td, &options, "\"a\" differs");
}
