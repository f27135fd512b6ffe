/* Samples of different lengths: padded on either side, without padding again, collated. */
#include "td_values.h"

#define TD_MASKS(...) \
  ((td_unpad_sequence_options){sizeof(td_unpad_sequence_options), 0, 0, __VA_ARGS__})

/* "a": int64 of `length` numbers from `first` on, "s": a text; batch [length]. */
static td_tensordict *run_of(int64_t length, double first) {
  td_tensordict *td = td_empty(TD_SIZES(length));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(length)));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("s"), first == 1 ? "\"x\"" : "\"y\""));
  return td;
}

static td_tensordict *padded(int32_t left) {
  const td_tensordict *const both[] = {run_of(1, 1), run_of(2, 5)};
  const char *const masks[] = {"masks"};
  td_pad_sequence_options options = TD_PAD_SEQUENCE_OPTIONS_INIT;
  options.left = left;
  options.value = -1;
  options.masks = masks;
  options.masks_len = 1;
  td_tensordict *result = NULL;
  TD_DO(td_pad_sequence(both, 2, &options, &result));
  td_free((td_tensordict *)both[0]);
  td_free((td_tensordict *)both[1]);
  return result;
}

static void check_texts(const td_tensordict *td, const char *want) {
  char text[64];
  size_t length = 0;
  TD_DO(td_get_non_tensor_stack_json(td, TD_KEY("s"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

TD_TEST(padding_stands_on_either_side) {
  td_tensordict *left = padded(1), *right = padded(0);
  TD_CHECK_ENTRY(left, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(-1, 1, 5, 6));
  TD_CHECK_ENTRY(left, TD_KEY("masks", "a"), TD_SIZES(2, 2), TD_VALUES(0, 1, 1, 1));
  TD_CHECK_ENTRY(right, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(1, -1, 5, 6));
  TD_CHECK_ENTRY(right, TD_KEY("masks", "a"), TD_SIZES(2, 2), TD_VALUES(1, 0, 1, 1));
  check_texts(left, "[[null, \"x\"], [\"y\", \"y\"]]");
  check_texts(right, "[[\"x\", null], [\"y\", \"y\"]]");
}

TD_TEST(tensors_have_paddings_of_their_own) {
  td_tensordict *one = run_of(1, 1), *two = run_of(2, 5), *result = NULL;
  td_put(one, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(1)));
  td_put(two, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 3, TD_SIZES(2)));
  const td_tensordict *const both[] = {one, two};
  const td_key keys[] = {{TD_KEY("n", "b")}};
  const double values[] = {9.5};
  td_pad_sequence_options options = TD_PAD_SEQUENCE_OPTIONS_INIT;
  options.keys = keys;
  options.values = values;
  options.keys_len = 1;
  TD_DO(td_pad_sequence(both, 2, &options, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(1, 0, 5, 6));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(0, 9.5, 3, 4));
  const td_key unknown[] = {{TD_KEY("b")}};
  options.keys = unknown;
  TD_EXPECT_NULL(td_pad_sequence(both, 2, &options, &result), TD_ERR_KEY_NOT_FOUND, result);
  options.values = NULL;
  TD_EXPECT_NULL(td_pad_sequence(both, 2, &options, &result), TD_ERR_NULL_ARGUMENT, result);
}

/* The two samples of padded(), whichever way they came back. */
static void check_samples(td_tensordict *stack) {
  td_tensordict *samples[2];
  size_t count = 0;
  TD_CHECK_BATCH(stack, 2, -1);
  TD_DO(td_unbind(stack, 0, samples, 2, &count));
  TD_CHECK_ENTRY(samples[0], TD_KEY("a"), TD_SIZES(1), TD_VALUES(1));
  TD_CHECK_ENTRY(samples[1], TD_KEY("a"), TD_SIZES(2), TD_VALUES(5, 6));
  for (size_t i = 0; i < 2; ++i) td_free(samples[i]);
}

TD_TEST(padding_is_taken_away) {
  td_tensordict *td = padded(1), *stack = NULL, *masks = NULL;
  TD_DO(td_unpad_sequence(td, NULL, &stack));
  check_samples(stack);
  TD_DO(td_get_dict(td, TD_KEY("masks"), &masks));
  TD_DO(td_remove(td, TD_KEY("masks")));
  TD_EXPECT_NULL(td_unpad_sequence(td, NULL, &stack), TD_ERR_KEY_NOT_FOUND, stack);
  td_unpad_sequence_options options = TD_MASKS(NULL, masks);
  TD_DO(td_unpad_sequence(td, &options, &stack));
  check_samples(stack);
  td_tensor *mask = td_take(masks, TD_KEY("a"));
  options = TD_MASKS(mask, NULL);
  TD_DO(td_unpad_sequence(td, &options, &stack));
  check_samples(stack);
  options = TD_MASKS(mask, masks);
  TD_EXPECT_NULL(td_unpad_sequence(td, &options, &stack), TD_ERR_INVALID_ARGUMENT, stack);
  options = TD_MASKS(mask, NULL);
  options.dim = 1;
  TD_EXPECT_NULL(td_unpad_sequence(td, &options, &stack), TD_ERR_INDEX, stack);
  options.dim = 0;
  options.reserved = 1;
  TD_EXPECT_NULL(td_unpad_sequence(td, &options, &stack), TD_ERR_INVALID_ARGUMENT, stack);
}

/* What a mask of other form gives. */
static void refused(td_tensor *mask, td_status status) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)));
  td_unpad_sequence_options options = TD_MASKS(mask, NULL);
  TD_EXPECT_NULL(td_unpad_sequence(td, &options, &result), status, result);
}

TD_TEST(masks_of_other_forms_are_refused) {
  refused(td_filled(TD_DTYPE_INT64, 1, TD_SIZES(2, 3)), TD_ERR_DTYPE);
  refused(td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(3)), TD_ERR_SHAPE);
  refused(td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(3, 3)), TD_ERR_SHAPE);
  refused(td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(2, 2)), TD_ERR_SHAPE);
  refused(td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(2, 3, 1)), TD_ERR_SHAPE);
  td_tensor *holes = td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(2, 3));
  const td_index_item middle[] = {TD_I_ALL, TD_I_INT(1)};
  td_tensor *off = td_filled(TD_DTYPE_BOOL, 0, TD_NO_SIZES);
  TD_DO(td_tensor_set_at(holes, middle, 2, off));
  refused(holes, TD_ERR_INVALID_ARGUMENT);
}

TD_TEST(samples_are_collated) {
  td_tensordict *one = td_empty(TD_NO_SIZES), *two = td_empty(TD_NO_SIZES), *result = NULL;
  td_put(one, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 1, TD_SIZES(1)));
  td_put(two, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  td_put(one, TD_KEY("n", "r"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  td_put(two, TD_KEY("n", "r"), td_arange(TD_DTYPE_FLOAT32, 2, TD_SIZES(3)));
  const td_tensordict *const both[] = {one, two};
  td_dict_kind kind = -1;
  TD_DO(td_collate(both, 2, NULL, &result));
  TD_DO(td_kind(result, &kind));
  TD_CHECK_INT(kind, TD_DICT_LAZY_STACK);
  const td_key pad[] = {{TD_KEY("a")}}, nested[] = {{TD_KEY("n", "r")}};
  const double values[] = {7};
  const char *const masks[] = {"m"};
  td_collate_options options = TD_COLLATE_OPTIONS_INIT;
  options.pad_keys = pad;
  options.pad_keys_len = 1;
  options.masks = masks;
  options.masks_len = 1;
  TD_DO(td_collate(both, 2, &options, &result)); /* "n" alone is lazy; the padding is zero */
  TD_DO(td_kind(result, &kind));
  TD_CHECK_INT(kind, TD_DICT_DENSE);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(1, 0, 5, 6));
  options.pad_values = values;
  options.nested_keys = nested;
  options.nested_keys_len = 1;
  TD_DO(td_collate(both, 2, &options, &result));
  TD_DO(td_kind(result, &kind));
  TD_CHECK_INT(kind, TD_DICT_DENSE);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(1, 7, 5, 6));
  TD_CHECK_ENTRY(result, TD_KEY("m", "a"), TD_SIZES(2, 2), TD_VALUES(1, 0, 1, 1));
  td_entry_kind entry = -1;
  TD_DO(td_get_kind(result, TD_KEY("n", "r"), &entry));
  TD_CHECK_INT(entry, TD_ENTRY_NESTED_TENSOR);
  options.nested_keys = pad; /* both padded and nested */
  TD_EXPECT_NULL(td_collate(both, 2, &options, &result), TD_ERR_INVALID_ARGUMENT, result);
  options.nested_keys_len = 0;
  const char *const taken[] = {"n"};
  options.masks = taken;
  TD_EXPECT_NULL(td_collate(both, 2, &options, &result), TD_ERR_KEY_EXISTS, result);
  options.masks = masks;
  options.pad_keys_len = 0;
  TD_EXPECT_NULL(td_collate(both, 2, &options, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_collate(both, 0, NULL, &result), TD_ERR_INVALID_ARGUMENT, result);
}
