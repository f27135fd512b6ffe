/* Lazy stacks whose elements differ: in size, in the shapes of their tensors, in their keys. */
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

#define LIST(...)                                \
  ((const td_tensordict *const[]){__VA_ARGS__}), \
      sizeof((const td_tensordict *const[]){__VA_ARGS__}) / sizeof(void *)

/* {"a": float32 [rows], "n": {"b": int64 [rows, 2]}} of batch size [rows], counting from `first`. */
static td_tensordict *rows_from(int64_t rows, int64_t first) {
  td_tensordict *td = td_empty(TD_SIZES(rows));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(rows)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(rows, 2)));
  return td;
}

/* Takes both. */
static td_tensordict *lazy_of(td_tensordict *one, td_tensordict *two, int64_t dim) {
  td_tensordict *lazy = NULL;
  TD_DO(td_lazy_stack(LIST(one, two), dim, &lazy));
  return lazy;
}

/* Batch size [2, -1]: 2 and 3 rows. */
static td_tensordict *uneven(void) { return lazy_of(rows_from(2, 0), rows_from(3, 10), 0); }

static td_tensordict *element(const td_tensordict *lazy, int64_t position) {
  td_tensordict *result = NULL;
  TD_DO(td_index(lazy, TD_AT(TD_I_INT(position)), &result));
  return result;
}

/* One element of a lazy stack, checked and given back. */
#define CHECK_ELEMENT(lazy, position, ...)                   \
  do {                                                       \
    td_tensordict *td_element = element((lazy), (position)); \
    TD_CHECK_ENTRY(td_element, __VA_ARGS__);                 \
    td_free(td_element);                                     \
  } while (0)

TD_TEST(the_same_structure_is_lazy_too) {
  const td_like_kind kinds[] = {TD_LIKE_EMPTY, TD_LIKE_ZEROS, TD_LIKE_ONES, TD_LIKE_FULL};
  for (size_t i = 0; i < 4; i++) {
    for (int form = 0; form < 3; form++) {
      td_tensordict *td =
          form == 1 ? uneven() : lazy_of(rows_from(2, 0), rows_from(2, 5), form / 2);
      td_tensordict *outer =
          td_empty(form == 1 ? (int64_t[]){2} : (int64_t[]){2, 2}, form == 1 ? 1 : 2);
      td_tensordict *result = NULL, *inner = NULL;
      td_like_options options = TD_LIKE_OPTIONS_INIT;
      options.value = 7;
      TD_DO(td_like(td, kinds[i], &options, &result));
      if (form == 1) {
        TD_CHECK_BATCH(result, 2, -1);
      } else {
        TD_CHECK_BATCH(result, 2, 2);
      }
      inner = element(result, 1);
      TD_CHECK_BATCH(inner, form == 1 ? 3 : 2);
      td_free(inner);
      TD_DO(td_get_dict(result, TD_KEY("n"), &inner));
      td_free(inner);
      td_free(result);
      TD_DO(td_set_dict(outer, TD_KEY("lazy"), td)); /* nested: batch sizes were wrong in silence */
      TD_DO(td_like(outer, kinds[i], &options, &result));
      TD_DO(td_get_dict(result, TD_KEY("lazy"), &inner));
      td_free(result);
      result = element(inner, 0);
      TD_CHECK_BATCH(result, 2);
      if (kinds[i] == TD_LIKE_FULL) {
        TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(7, 7));
      }
    }
  }
}

#define TOLD(call)                                                                                 \
  do {                                                                                             \
    TD_EXPECT(call, TD_ERR_SHAPE);                                                                 \
    TD_CHECK_TEXT(td_last_error_message(), "batch size [2, -1]");                                  \
    TD_CHECK_TEXT(td_last_error_message(), "elements of the lazy stack differ along dimension 1"); \
  } while (0)

TD_TEST(a_size_that_is_none_is_told) {
  td_tensordict *td = uneven(), *result = NULL, *many[4] = {NULL};
  td_tensor *two = td_filled(TD_DTYPE_INT64, 2, TD_NO_SIZES), *tensor = NULL;
  td_tensor *index = td_filled(TD_DTYPE_INT64, 0, TD_SIZES(2, 1));
  const int64_t one_of[] = {1};
  size_t count = 9;
  TOLD(td_unbind(td, 1, NULL, 0, &count));
  TOLD(td_split(td, 1, TD_SPLIT_LENGTH, TD_SIZES(1), many, 4, &count));
  TOLD(td_split(td, -1, TD_SPLIT_PARTS, TD_SIZES(2), NULL, 0, &count));
  TOLD(td_view(td, TD_SIZES(-1), &result));
  TOLD(td_reshape(td, TD_SIZES(5), &result));
  TOLD(td_flatten(td, 0, 1, &result));
  TOLD(td_unflatten(td, 1, TD_SIZES(1, -1), &result));
  TOLD(td_narrow(td, 1, 0, 1, &result));
  TOLD(td_expand(td, TD_SIZES(4, 2, 3), &result));
  TOLD(td_roll(td, one_of, one_of, 1, &result));
  TOLD(td_flip(td, TD_SIZES(1), &result));
  TOLD(td_rot90(td, 1, 0, 1, &result));
  TOLD(td_repeat_interleave(td, two, 1, &result));
  TOLD(td_gather(td, 1, index, &result));
  TOLD(td_pad(td, TD_SIZES(0, 0, 1, 0), 0, &result));
  TOLD(td_to_lazy_stack(td, 1, &result));
  TOLD(td_contiguous(td, &result));
  TOLD(td_densify(td, NULL, &result));
  TOLD(td_join_into(td, TD_JOIN_CAT, LIST(td, td), 1, 0));
  td_writer *writer = NULL;
  TOLD(td_writer_open(td, NULL, &writer));
  TD_CHECK(result == NULL && many[0] == NULL && tensor == NULL && writer == NULL);
}

/* Sizes of -1 whose product is a positive number were counted as if they were sizes. */
TD_TEST(values_of_stacks_with_several_unequal_sizes) {
  td_tensordict *a = td_empty(TD_SIZES(3, 1)), *b = td_empty(TD_SIZES(1, 3)), *lazy = NULL;
  char text[64];
  size_t length = 0;
  TD_DO(td_set_non_tensor_json(a, TD_KEY("i"), "true"));
  TD_DO(td_set_non_tensor_json(b, TD_KEY("i"), "true"));
  TD_DO(td_lazy_stack(LIST(b, a), 1, &lazy)); /* batch [-1, 2, -1] */
  TD_EXPECT(td_get_non_tensor_stack_json(lazy, TD_KEY("i"), text, sizeof text, &length),
            TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "elements of the lazy stack differ along dimension 0");
  TD_EXPECT(td_get_non_tensor_bytes(lazy, TD_KEY("i"), text, sizeof text, &length),
            TD_ERR_WRONG_ENTRY);
}

TD_TEST(what_needs_no_size_goes_on) {
  td_tensordict *td = uneven(), *result = NULL, *again = NULL;
  TD_DO(td_transpose(td, 0, 1, &result));
  TD_CHECK_BATCH(result, -1, 2);
  TD_DO(td_unsqueeze(td, 0, &result));
  TD_CHECK_BATCH(result, 1, 2, -1);
  TD_DO(td_squeeze(result, 0, &again));
  TD_CHECK_BATCH(again, 2, -1);
  TD_DO(td_expand(td, TD_SIZES(3, 2, -1), &result));
  TD_CHECK_BATCH(result, 3, 2, -1);
  TD_DO(td_index(td, TD_AT(TD_I_ALL, TD_I_INT(-1)), &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(1, 12));
}

TD_TEST(indices_keep_the_names_of_unequal_elements) {
  td_tensordict *td = uneven(), *result = NULL;
  TD_DO(td_set_names(td, (const char *const[]){"stack", "time"}, 2));
  TD_DO(td_index(td, TD_AT(TD_I_ALL, TD_I_SLICE(0, 2)), &result));
  TD_CHECK_BATCH(result, 2, 2);
  char *text = td_printed(result);
  free(text);
}

TD_TEST(values_reach_unequal_elements) {
  td_tensordict *td = uneven(), *part = NULL;
  char text[64];
  size_t length = 0;
  TD_DO(td_set_non_tensor_json(td, TD_KEY("note"), "7"));
  TD_DO(td_get_non_tensor_value_json(td, TD_KEY("note"), text, sizeof text, &length));
  TD_CHECK_TEXT(text, "7");
  TD_DO(td_get_non_tensor_stack_json(td, TD_KEY("note"), text, sizeof text, &length));
  TD_CHECK_TEXT(text, "[[7, 7], [7, 7, 7]]");
  TD_CHECK_JSON(td, TD_KEY("note"), "[[7, 7], [7, 7, 7]]");
  part = element(td, 1);
  TD_DO(td_set_non_tensor_json(part, TD_KEY("note"), "8"));
  TD_EXPECT(td_get_non_tensor_value_json(td, TD_KEY("note"), text, sizeof text, &length),
            TD_ERR_WRONG_ENTRY);
  TD_CHECK_JSON(td, TD_KEY("note"), "[[7, 7], [8, 8, 8]]");
  char *printed = td_printed(td);
  free(printed);
}

TD_TEST(rows_of_unequal_elements_are_repeated) {
  td_tensordict *td = uneven(), *result = NULL;
  TD_DO(td_repeat(td, TD_SIZES(2, 2), 0, &result));
  TD_CHECK_BATCH(result, 4, -1);
  CHECK_ELEMENT(result, 0, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 1, 0, 1));
  CHECK_ELEMENT(result, 3, TD_KEY("a"), TD_SIZES(6), TD_VALUES(10, 11, 12, 10, 11, 12));
  TD_DO(td_flip(td, TD_SIZES(0), &result));
  TD_CHECK_BATCH(result, 2, -1);
  CHECK_ELEMENT(result, 1, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_DO(td_roll(td, (const int64_t[]){1}, (const int64_t[]){0}, 1, &result));
  td_free(result);
  /* Copies, also of an element that stands in the result twice. */
  TD_DO(td_repeat(td, TD_SIZES(2, 1), 0, &result));
  td_tensordict *first = element(result, 0), *source = element(td, 0);
  TD_DO(td_zero(first));
  CHECK_ELEMENT(result, 2, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_CHECK_ENTRY(source, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
}

TD_TEST(a_mask_fills_what_single_elements_have) {
  td_tensordict *one = rows_from(2, 0), *two = rows_from(2, 10), *td = NULL, *result = NULL;
  td_put(one, TD_KEY("own"), td_arange(TD_DTYPE_INT64, 1, TD_SIZES(2, 2)));
  td_put(two, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  td_put(one, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 1)));
  td = lazy_of(one, two, 1); /* batch [2, 2]; the stack is the second dimension */
  td_tensor *mask = td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(2, 2)); /* 1, 0, 0, 1 */
  td_tensor *value = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES);
  TD_DO(td_masked_fill(td, mask, value, &result));
  td_tensordict *part = NULL;
  TD_DO(td_index(result, TD_AT(TD_I_ALL, TD_I_INT(0)), &part));
  TD_CHECK_ENTRY(part, TD_KEY("own"), TD_SIZES(2, 2), TD_VALUES(9, 9, 3, 4));
  TD_CHECK_ENTRY(part, TD_KEY("x"), TD_SIZES(2, 1), TD_VALUES(9, 1));
  TD_DO(td_masked_fill_inplace(td, mask, value));
  TD_DO(td_index(td, TD_AT(TD_I_ALL, TD_I_INT(1)), &part));
  TD_CHECK_ENTRY(part, TD_KEY("x"), TD_SIZES(2, 3), TD_VALUES(0, 1, 2, 9, 9, 9));
  TD_CHECK_ENTRY(part, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(10, 11, 9, 9));
  mask = td_mask((const int64_t[]){1, 0, 1}, 3);
  TD_EXPECT(td_masked_fill_inplace(td, mask, value), TD_ERR_SHAPE);
}

TD_TEST(a_masked_part_of_a_locked_stack_is_its_own) {
  td_tensordict *td = lazy_of(rows_from(2, 0), rows_from(2, 10), 0), *result = NULL;
  td_tensor *mask = td_mask((const int64_t[]){1, 0}, 2);
  TD_DO(td_lock(td));
  TD_DO(td_masked_select(td, mask, &result));
  TD_CHECK_FLAG(td_is_locked, result, 0);
  TD_DO(td_zero(result));
  CHECK_ELEMENT(td, 0, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
  td_free(result);
  /* A stack inside a dictionary, and a sub-tensordict. */
  td_tensordict *outer = td_empty(TD_SIZES(2)), *sub_tensordict = NULL;
  TD_DO(td_set_dict(outer, TD_KEY("lazy"), td));
  TD_DO(td_masked_select(outer, mask, &result));
  TD_DO(td_zero(result));
  td_free(result);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_ALL), &sub_tensordict));
  TD_DO(td_masked_select(sub_tensordict, mask, &result));
  TD_DO(td_zero(result));
  CHECK_ELEMENT(td, 0, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
}

TD_TEST(another_dtype_leaves_values_alone) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("v"), "[\"x\", \"y\"]"));
  TD_DO(td_view_dtype(td, TD_DTYPE_INT32, 0, TD_NO_SIZES, &result));
  TD_CHECK_JSON(result, TD_KEY("v"), "[\"x\", \"y\"]");
  TD_CHECK_DTYPE(result, TD_KEY("a"), TD_DTYPE_INT32);
  TD_EXPECT_NULL(td_view_dtype(td, TD_DTYPE_UINT8, TD_VIEW_DTYPE_HAS_SIZES, TD_SIZES(8), &result),
                 TD_ERR_UNSUPPORTED, result);
  TD_CHECK_TEXT(td_last_error_message(), "batch size [2]");
  td = uneven();
  TD_DO(td_remove(td, TD_KEY("n")));
  TD_DO(td_view_dtype(td, TD_DTYPE_INT32, 0, TD_NO_SIZES, &result));
  TD_CHECK_BATCH(result, 2, -1);
}

TD_TEST(nan_equals_nothing) {
  const float nan = (float)strtod("nan", NULL);
  td_tensordict *td = td_empty(TD_NO_SIZES), *outer = td_empty(TD_NO_SIZES), *copy = NULL;
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, nan, TD_SIZES(2)));
  TD_DO(td_set_dict(outer, TD_KEY("n"), td));
  TD_DO(td_clone(outer, TD_CLONE_SHALLOW, &copy));
  const td_tensordict *others[] = {outer, copy, td};
  TD_CHECK(!td_equals(td, td));
  for (size_t i = 0; i < 2; i++) TD_CHECK(!td_equals(outer, others[i]));
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  TD_CHECK_EQUAL(outer, outer);
}

TD_TEST(names_of_elements_are_loaded) {
  td_tensordict *td = lazy_of(rows_from(2, 0), rows_from(2, 10), 0), *loaded = NULL;
  td_keys *names = NULL;
  const char *const *name = NULL;
  size_t length = 0;
  TD_DO(td_set_names(td, (const char *const[]){"stack", "time"}, 2));
  const char *file = td_path(td_test_folder(), "named.bin");
  td_tensordict *made = NULL;
  TD_DO(td_consolidate(td, file, NULL, &made));
  TD_DO(td_consolidated_load(file, NULL, &loaded));
  TD_DO(td_names(loaded, &names));
  TD_DO(td_keys_at(names, 0, &name, &length));
  TD_CHECK_TEXT(name[0], "stack");
  TD_DO(td_keys_at(names, 1, &name, &length));
  TD_CHECK_TEXT(name[0], "time");
}

TD_TEST(stacks_of_unequal_stacks_are_described) {
  td_tensordict *td = lazy_of(uneven(), lazy_of(rows_from(2, 0), rows_from(4, 0), 0), 0);
  td_tensordict *result = NULL;
  char text[2048];
  size_t length = 0, count = 0;
  int64_t addresses[8];
  TD_CHECK_BATCH(td, 2, 2, -1);
  td_print_options options = TD_PRINT_OPTIONS_INIT;
  options.form = TD_PRINT_DETAILED;
  TD_DO(td_print(td, &options, text, sizeof text, &length));
  TD_CHECK_TEXT(text, "a: Tensor(shape=torch.Size([2, 2, -1])");
  TD_DO(td_schema(td, text, sizeof text, &length));
  TD_CHECK_TEXT(text, "\"batch_size\": [2, 2, -1]");
  TD_CHECK_TEXT(text, "\"shape\": [2, 2, -1, 2]");
  TD_DO(td_data_pointers(td, 0, addresses, 8, &count));
  TD_CHECK_INT(count, 8); /* those that are stored, of each element */
  td_tensordict *inner = element(td, 0), *first = element(inner, 0);
  td_tensor *leaf = td_take(first, TD_KEY("a"));
  void *data = NULL;
  TD_DO(td_tensor_data(leaf, &data));
  TD_CHECK(addresses[0] == (int64_t)(intptr_t)data);
  TD_DO(td_empty_like(td, TD_EMPTY_LIKE_RECURSE, &result));
  TD_CHECK_BATCH(result, 2, 2, -1);
  TD_CHECK_FLAG(td_is_empty, result, 1);
}

/* It said that it was done, and the dictionary was locked as before. */
TD_TEST(what_a_locked_stack_reads_as_stays_locked) {
  td_tensordict *one = rows_from(2, 0), *td = NULL, *inner = NULL;
  TD_DO(td_dup(one, &inner));
  td = lazy_of(one, rows_from(2, 10), 0);
  one = inner;
  TD_DO(td_lock(td));
  TD_DO(td_get_dict(td, TD_KEY("n"), &inner));
  TD_CHECK_FLAG(td_is_locked, inner, 1);
  TD_EXPECT(td_unlock(inner), TD_ERR_LOCKED);
  TD_CHECK_FLAG(td_is_locked, inner, 1);
  TD_DO(td_unlock(td));
  TD_CHECK_FLAG(td_is_locked, inner, 0);
  td_free(inner);
  td_free(td);
  /* Elements that were locked one by one, and are held by nobody else. */
  td_tensordict *two = rows_from(2, 10);
  TD_DO(td_lock(one));
  TD_DO(td_lock(two));
  TD_DO(td_lazy_stack(LIST(one, two), 0, &td));
  TD_CHECK_FLAG(td_is_locked, td, 1);
  TD_DO(td_unlock(td));
  TD_CHECK_FLAG(td_is_locked, td, 0);
  TD_CHECK_FLAG(td_is_locked, one, 0);
}

TD_TEST(whatever_is_uneven_prints) {
  td_tensordict *td = uneven(), *turned = NULL, *sub_tensordict = NULL;
  TD_DO(td_set_non_tensor_json(td, TD_KEY("note"), "7"));
  TD_DO(td_transpose(td, 0, 1, &turned));
  char *text = td_printed(turned);
  TD_CHECK_TEXT(text, "[[7, 7], [7, 7, 7]]");
  free(text);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_ALL), &sub_tensordict));
  text = td_printed(sub_tensordict);
  TD_CHECK_TEXT(text, "SubTensorDict");
  TD_CHECK_TEXT(text, "a: Tensor(shape=torch.Size([2, -1])");
  free(text);
}

TD_TEST(rows_that_were_picked_lie_densely) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3)), *turned = NULL, *result = NULL, *flat = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)));
  td_tensor *two = td_filled(TD_DTYPE_INT64, 2, TD_NO_SIZES);
  TD_DO(td_permute(td, TD_SIZES(1, 0), &turned));
  for (int i = 0; i < 4; i++) {
    if (i == 0) TD_DO(td_repeat(turned, TD_SIZES(1, 2), 0, &result));
    if (i == 1) TD_DO(td_repeat_interleave(turned, two, 0, &result));
    if (i == 2) TD_DO(td_roll(turned, (const int64_t[]){1}, NULL, 1, &result));
    if (i == 3) TD_DO(td_repeat(turned, TD_SIZES(1, 1), 0, &result));
    TD_CHECK_FLAG(td_is_contiguous, result, 1);
    TD_DO(td_view(result, TD_SIZES(-1), &flat));
  }
}

TD_TEST(some_dimensions_are_permuted) {
  td_tensordict *td = td_sample(), *result = NULL; /* batch [4, 3] */
  TD_DO(td_permute(td, TD_SIZES(-2), &result));
  TD_CHECK_BATCH(result, 4, 3);
  TD_EXPECT_NULL(td_permute(td, TD_SIZES(-1), &result), TD_ERR_SHAPE, result);
  TD_CHECK_TEXT(td_last_error_message(), "dimension -1");
  TD_EXPECT_NULL(td_permute(td, TD_SIZES(1), &result), TD_ERR_SHAPE, result);
  TD_DO(td_permute(td, TD_SIZES(-1, -2), &result));
  TD_CHECK_BATCH(result, 3, 4);
  td_tensordict *three = NULL;
  TD_DO(td_unsqueeze(td, 2, &three)); /* [4, 3, 1] */
  TD_DO(td_permute(three, TD_SIZES(-2, -3), &result));
  TD_CHECK_BATCH(result, 3, 4, 1);
}

TD_TEST(an_index_shorter_than_the_batch_gathers) {
  td_tensordict *td = td_empty(TD_SIZES(3, 2)), *result = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3, 2)));
  td_put(td, TD_KEY("f"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3, 2, 2)));
  td_tensor *index = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 1));
  TD_DO(td_gather(td, 1, index, &result));
  TD_CHECK_BATCH(result, 2, 1);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 1), TD_VALUES(0, 3));
  TD_CHECK_ENTRY(result, TD_KEY("f"), TD_SIZES(2, 1, 2), TD_VALUES(0, 1, 6, 7));
  index = td_filled(TD_DTYPE_INT64, 0, TD_SIZES(4, 1));
  TD_EXPECT_NULL(td_gather(td, 1, index, &result), TD_ERR_SHAPE, result);
}
