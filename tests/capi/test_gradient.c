/* Gradients of a whole dictionary: recorded, computed, read, taken away. */
#include "td_values.h"

/* {"w": [2] of 1 and 2, "n": {"v": [] of 3}} of batch []: floats. */
static td_tensordict *parameters(void) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("w"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "v"), td_filled(TD_DTYPE_FLOAT32, 3, TD_NO_SIZES));
  TD_DO(td_set_requires_grad(td, 1));
  return td;
}

static int64_t measured(const td_tensordict *td, td_measure_kind kind) {
  int64_t result = -1;
  TD_DO(td_measure(td, kind, &result));
  return result;
}

/* The same values as float64, recorded: a function of the parameters. */
static td_tensordict *computed(const td_tensordict *td) {
  td_tensordict *result = NULL;
  const int32_t before = td_set_grad_enabled(1);
  TD_DO(td_to_dtype(td, TD_DTYPE_FLOAT64, &result));
  td_set_grad_enabled(before);
  return result;
}

/* Gradients like the parameters, of `dtype`, all of one value. */
static td_tensordict *seeds(td_dtype dtype, double value) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("w"), td_filled(dtype, value, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "v"), td_filled(dtype, value, TD_NO_SIZES));
  return td;
}

TD_TEST(all_tensors_are_switched_at_once) {
  td_tensordict *td = parameters();
  TD_CHECK_INT(measured(td, TD_MEASURE_REQUIRES_GRAD), 1);
  TD_DO(td_lock(td));
  TD_DO(td_set_requires_grad(td, 0)); /* allowed when locked */
  TD_CHECK_INT(measured(td, TD_MEASURE_REQUIRES_GRAD), 0);
  TD_DO(td_set_requires_grad(td, 1));
  td_tensor *v = td_take(td, TD_KEY("n", "v"));
  TD_CHECK_FLAG(td_tensor_requires_grad, v, 1);
}

TD_TEST(an_integer_refuses_and_nothing_is_switched) {
  td_tensordict *td = td_sample(); /* "n", "b" is int64 */
  TD_EXPECT(td_set_requires_grad(td, 1), TD_ERR_DTYPE);
  TD_CHECK_TEXT(td_last_error_message(), "\"n\"/\"b\"");
  TD_CHECK_INT(measured(td, TD_MEASURE_REQUIRES_GRAD), 0);
  TD_DO(td_set_requires_grad(td, 0));
}

TD_TEST(what_was_computed_cannot_be_switched_off) {
  td_tensordict *td = parameters(), *result = computed(td);
  TD_EXPECT(td_set_requires_grad(result, 0), TD_ERR_TORCH);
  TD_CHECK_TEXT(td_last_error_message(), "\"w\"");
}

/* The fast way (nothing is recorded) and that of libtorch (something is) give the same. */
TD_TEST(detached_tensors_share_memory_and_have_no_history) {
  for (int32_t recording = 0; recording <= 1; recording++) {
    for (td_detach_kind kind = TD_DETACH_HISTORY; kind <= TD_DETACH_DATA; kind++) {
      td_tensordict *td = parameters(), *result = NULL;
      TD_DO(td_lock(td));
      td_set_grad_enabled(recording);
      TD_DO(td_detach(td, kind, &result));
      td_set_grad_enabled(0);
      TD_CHECK_INT(measured(result, TD_MEASURE_REQUIRES_GRAD), 0);
      TD_CHECK_INT(measured(td, TD_MEASURE_REQUIRES_GRAD), 1);
      TD_CHECK_FLAG(td_is_locked, result, 1);
      td_tensor *one = td_take(td, TD_KEY("w")), *other = td_take(result, TD_KEY("w"));
      TD_CHECK(td_same_memory(one, other));
      TD_CHECK_VALUES(other, 1, 2);
      td_tensor_free(one);
      td_tensor_free(other);
      td_free(result);
      td_free(td);
    }
  }
  td_tensordict *td = td_sample(), *result;
  TD_EXPECT_NULL(td_detach(td, 2, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_detach(td, -1, &result), TD_ERR_INVALID_ARGUMENT, result);
}

TD_TEST(detached_views_keep_their_strides) {
  td_tensordict *td = td_sample(), *part = NULL, *result = NULL;
  TD_DO(td_index(td, TD_AT(TD_I_SLICE(1, 3)), &part));
  TD_DO(td_detach(part, TD_DETACH_HISTORY, &result));
  TD_CHECK_BATCH(result, 2, 3);
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2, 3), TD_VALUES(3, 4, 5, 6, 7, 8));
}

TD_TEST(history_is_taken_away_in_place) {
  td_tensordict *td = parameters(), *result = computed(td);
  td_tensor *w = td_take(result, TD_KEY("w"));
  TD_CHECK_FLAG(td_tensor_requires_grad, w, 1);
  TD_DO(td_detach_inplace(result));
  TD_CHECK_FLAG(td_tensor_requires_grad, w, 0); /* the very tensor */
  /* A view of a recorded tensor cannot be. */
  td_tensordict *view = NULL;
  td_set_grad_enabled(1);
  TD_DO(td_unsqueeze(td, 0, &view));
  td_set_grad_enabled(0);
  TD_EXPECT(td_detach_inplace(view), TD_ERR_UNSUPPORTED);
}

TD_TEST(gradients_come_under_the_same_keys) {
  td_tensordict *td = parameters(), *result = computed(td), *seed = seeds(TD_DTYPE_FLOAT64, 2);
  td_tensordict *grad = TD_POISON;
  TD_DO(td_grad(td, &grad));
  TD_CHECK(grad == NULL); /* none yet */
  TD_DO(td_backward(result, seed, NULL, NULL));
  TD_DO(td_grad(td, &grad));
  TD_CHECK_ENTRY(grad, TD_KEY("w"), TD_SIZES(2), TD_VALUES(2, 2));
  TD_CHECK_ENTRY(grad, TD_KEY("n", "v"), TD_NO_SIZES, TD_VALUES(2));
}

TD_TEST(gradients_add_up_until_they_are_zeroed) {
  td_tensordict *td = parameters(), *result = computed(td), *seed = seeds(TD_DTYPE_FLOAT64, 2);
  td_backward_options options = TD_BACKWARD_OPTIONS_INIT;
  td_tensordict *grad = NULL;
  options.retain_graph = 1;
  TD_DO(td_backward(result, seed, NULL, &options));
  TD_DO(td_backward(result, seed, NULL, &options));
  TD_DO(td_grad(td, &grad));
  TD_CHECK_ENTRY(grad, TD_KEY("w"), TD_SIZES(2), TD_VALUES(4, 4));
  TD_CHECK_INT(measured(td, TD_MEASURE_BYTES), 24); /* 3 floats and 3 gradients */
  TD_DO(td_zero_grad(td, TD_ZERO_GRAD_KEEP));
  TD_CHECK_ENTRY(grad, TD_KEY("w"), TD_SIZES(2), TD_VALUES(0, 0)); /* the same tensors */
  TD_DO(td_zero_grad(td, 0));
  TD_DO(td_grad(td, &grad));
  TD_CHECK(grad == NULL);
  TD_CHECK_INT(measured(td, TD_MEASURE_BYTES), 12);
}

TD_TEST(only_the_inputs_receive_gradients) {
  td_tensordict *td = parameters(), *result = computed(td), *seed = seeds(TD_DTYPE_FLOAT64, 1);
  td_tensordict *inputs = td_empty(TD_NO_SIZES), *grad = NULL;
  td_put(inputs, TD_KEY("x"), td_take(td, TD_KEY("w")));
  TD_DO(td_backward(result, seed, inputs, NULL));
  TD_DO(td_grad(td, &grad));
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(grad, TD_KEY("n"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE); /* an empty dictionary is not kept */
  TD_CHECK_ENTRY(grad, TD_KEY("w"), TD_SIZES(2), TD_VALUES(1, 1));
  inputs = td_sample();
  TD_EXPECT(td_backward(result, seed, inputs, NULL), TD_ERR_TORCH); /* not recorded */
  inputs = td_empty(TD_NO_SIZES);
  TD_EXPECT(td_backward(result, seed, inputs, NULL), TD_ERR_TORCH); /* nothing */
}

TD_TEST(without_a_gradient_each_tensor_has_one_element) {
  td_tensordict *td = parameters(), *result = computed(td), *grad = NULL;
  TD_EXPECT(td_backward(result, NULL, NULL, NULL), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "\"w\"");
  TD_DO(td_remove(result, TD_KEY("w")));
  td_put(result, TD_KEY("left out"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(7)));
  TD_DO(td_backward(result, NULL, NULL, NULL));
  TD_DO(td_grad(td, &grad));
  TD_CHECK_ENTRY(grad, TD_KEY("n", "v"), TD_NO_SIZES, TD_VALUES(1));
}

TD_TEST(gradients_that_do_not_fit_are_refused) {
  td_tensordict *td = parameters(), *result = computed(td), *seed = seeds(TD_DTYPE_FLOAT64, 1);
  td_tensordict *plain = td_sample();
  TD_EXPECT(td_backward(plain, NULL, NULL, NULL), TD_ERR_TORCH);
  TD_CHECK_TEXT(td_last_error_message(), "no entry requires a gradient");
  TD_DO(td_remove(seed, TD_KEY("n", "v")));
  TD_EXPECT(td_backward(result, seed, NULL, NULL), TD_ERR_KEY_NOT_FOUND);
  td_put(seed, TD_KEY("n", "v"), td_filled(TD_DTYPE_FLOAT64, 1, TD_SIZES(2)));
  TD_EXPECT(td_backward(result, seed, NULL, NULL), TD_ERR_SHAPE);
  td_backward_options options = TD_BACKWARD_OPTIONS_INIT;
  options.reserved = 1;
  TD_EXPECT(td_backward(result, NULL, NULL, &options), TD_ERR_INVALID_ARGUMENT);
  td_tensordict *grad = TD_POISON;
  TD_DO(td_grad(td, &grad));
  TD_CHECK(grad == NULL); /* nothing was computed */
}

TD_TEST(gradients_can_be_recorded_themselves) {
  td_tensordict *td = parameters(), *result = computed(td), *seed = seeds(TD_DTYPE_FLOAT64, 1);
  td_backward_options options = TD_BACKWARD_OPTIONS_INIT;
  td_tensordict *grad = NULL;
  TD_DO(td_set_requires_grad(seed, 1));
  options.create_graph = 1;
  TD_DO(td_backward(result, seed, NULL, &options));
  TD_DO(td_grad(td, &grad));
  TD_CHECK_INT(measured(grad, TD_MEASURE_REQUIRES_GRAD), 1);
  TD_DO(td_zero_grad(td, TD_ZERO_GRAD_KEEP)); /* also of such */
  TD_DO(td_grad(td, &grad));
  TD_CHECK_INT(measured(grad, TD_MEASURE_REQUIRES_GRAD), 0);
  TD_CHECK_ENTRY(grad, TD_KEY("w"), TD_SIZES(2), TD_VALUES(0, 0));
  TD_DO(td_set_grad(td, NULL));
}

TD_TEST(gradients_can_be_set) {
  td_tensordict *td = parameters(), *given = seeds(TD_DTYPE_FLOAT32, 5), *grad = NULL;
  TD_DO(td_remove(given, TD_KEY("n")));
  TD_DO(td_set_grad(td, given));
  TD_DO(td_grad(td, &grad));
  TD_CHECK_ENTRY(grad, TD_KEY("w"), TD_SIZES(2), TD_VALUES(5, 5));
  /* What does not fit leaves all as it is. */
  td_put(given, TD_KEY("w"), td_filled(TD_DTYPE_FLOAT32, 6, TD_SIZES(2)));
  td_put(given, TD_KEY("x"), td_filled(TD_DTYPE_FLOAT32, 6, TD_SIZES(2)));
  TD_EXPECT(td_set_grad(td, given), TD_ERR_KEY_NOT_FOUND);
  TD_DO(td_remove(given, TD_KEY("x")));
  td_put(given, TD_KEY("n", "v"), td_filled(TD_DTYPE_FLOAT32, 6, TD_SIZES(2)));
  TD_EXPECT(td_set_grad(td, given), TD_ERR_SHAPE);
  td_put(given, TD_KEY("n", "v"), td_filled(TD_DTYPE_FLOAT64, 6, TD_NO_SIZES));
  TD_EXPECT(td_set_grad(td, given), TD_ERR_DTYPE);
  td_tensor *meta = NULL;
  TD_DO(td_tensor_zeros(TD_NO_SIZES, TD_DTYPE_FLOAT32, TD_DEVICE_META, -1, &meta));
  td_put(given, TD_KEY("n", "v"), meta);
  TD_EXPECT(td_set_grad(td, given), TD_ERR_DEVICE);
  TD_DO(td_grad(td, &grad));
  TD_CHECK_ENTRY(grad, TD_KEY("w"), TD_SIZES(2), TD_VALUES(5, 5));
  TD_DO(td_set_grad(td, NULL));
  TD_DO(td_grad(td, &grad));
  TD_CHECK(grad == NULL);
}
