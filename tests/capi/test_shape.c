/* Operations on the batch dimensions. */
#include <string.h>

#include "td_values.h"

#define CHECK_LEAF(td, ...)                          \
  do {                                               \
    td_tensor *td_leaf = td_take((td), TD_KEY("a")); \
    TD_CHECK_SIZES(td_leaf, __VA_ARGS__);            \
    td_tensor_free(td_leaf);                         \
  } while (0)

/* The batch size and the sizes of "a" of a result that is freed here. */
#define GIVES(call, batch, ...)                                 \
  do {                                                          \
    TD_DO(call);                                                \
    td_check_batch(__FILE__, __LINE__, result, TD_SIZES batch); \
    CHECK_LEAF(result, __VA_ARGS__);                            \
    td_free(result);                                            \
  } while (0)

TD_TEST(view_and_reshape) {
  td_tensordict *td = td_sample(), *result = NULL, *turned = NULL;
  GIVES(td_view(td, TD_SIZES(12), &result), (12), 12, 2);
  GIVES(td_view(td, TD_SIZES(-1), &result), (12), 12, 2);
  GIVES(td_view(td, TD_SIZES(2, -1, 3), &result), (2, 2, 3), 2, 2, 3, 2);
  GIVES(td_reshape(td, TD_SIZES(3, 4), &result), (3, 4), 3, 4, 2);
  GIVES(td_reshape(td, TD_SIZES(-1, 1), &result), (12, 1), 12, 1, 2);
  TD_EXPECT_NULL(td_view(td, TD_SIZES(5), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_view(td, TD_SIZES(-1, -1), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_view(td, TD_SIZES(5, -1), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_view(td, TD_SIZES(-2, -6), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_reshape(td, TD_SIZES(0, -1), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_reshape(td, TD_NO_SIZES, &result), TD_ERR_SHAPE, result);

  TD_DO(td_transpose(td, 0, 1, &turned));
  TD_EXPECT_NULL(td_view(turned, TD_SIZES(12), &result), TD_ERR_SHAPE, result);
  TD_DO(td_reshape(turned, TD_SIZES(12), &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(12),
                 TD_VALUES(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
}

TD_TEST(views_share_memory) {
  td_tensordict *td = td_sample(), *view = NULL;
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 99, TD_NO_SIZES);
  TD_DO(td_view(td, TD_SIZES(12), &view));
  TD_DO(td_fill_at(view, TD_AT(TD_I_INT(11)), nine));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99));
}

TD_TEST(the_same_sizes_give_the_same_dictionary) {
  td_tensordict *td = td_sample(), *result = NULL;
  td_entry_kind kind = 0;
  TD_DO(td_view(td, TD_SIZES(4, 3), &result));
  td_put(result, TD_KEY("v"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  TD_DO(td_get_kind(td, TD_KEY("v"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
  TD_CHECK(td_is_same_dict(td, result));
  TD_DO(td_view(td, TD_SIZES(12), &result));
  TD_CHECK(!td_is_same_dict(td, result));
  TD_DO(td_permute(td, TD_SIZES(0, 1), &result));
  td_put(result, TD_KEY("p"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  TD_DO(td_get_kind(td, TD_KEY("p"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
}

TD_TEST(permute_and_transpose) {
  td_tensordict *td = td_sample(), *result = NULL;
  TD_DO(td_permute(td, TD_SIZES(1, 0), &result));
  TD_CHECK_BATCH(result, 3, 4);
  CHECK_LEAF(result, 3, 4, 2);
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(3, 4),
                 TD_VALUES(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
  GIVES(td_permute(td, TD_SIZES(-1, -2), &result), (3, 4), 3, 4, 2);
  GIVES(td_permute(td, TD_SIZES(0), &result), (4, 3), 4, 3, 2);
  GIVES(td_permute(td, TD_NO_SIZES, &result), (4, 3), 4, 3, 2);
  GIVES(td_transpose(td, 0, 1, &result), (3, 4), 3, 4, 2);
  GIVES(td_transpose(td, -2, -1, &result), (3, 4), 3, 4, 2);
  GIVES(td_transpose(td, 1, 1, &result), (4, 3), 4, 3, 2);
  TD_EXPECT_NULL(td_permute(td, TD_SIZES(0, 0), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_permute(td, TD_SIZES(0, 2), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_permute(td, TD_SIZES(0, 1, 2), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_permute(td, TD_SIZES(1), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_transpose(td, 0, 2, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_transpose(td, -3, 0, &result), TD_ERR_SHAPE, result);
}

TD_TEST(squeeze_and_unsqueeze) {
  td_tensordict *td = td_sample(), *one = NULL, *result = NULL;
  GIVES(td_unsqueeze(td, 0, &result), (1, 4, 3), 1, 4, 3, 2);
  GIVES(td_unsqueeze(td, 2, &result), (4, 3, 1), 4, 3, 1, 2);
  GIVES(td_unsqueeze(td, -1, &result), (4, 3, 1), 4, 3, 1, 2); /* behind the batch only */
  GIVES(td_unsqueeze(td, -3, &result), (1, 4, 3), 1, 4, 3, 2);
  TD_EXPECT_NULL(td_unsqueeze(td, 3, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_unsqueeze(td, -4, &result), TD_ERR_INDEX, result);
  TD_DO(td_view(td, TD_SIZES(1, 12, 1), &one));
  GIVES(td_squeeze(one, 0, &result), (12, 1), 12, 1, 2);
  GIVES(td_squeeze(one, -1, &result), (1, 12), 1, 12, 2);
  GIVES(td_squeeze(one, 1, &result), (1, 12, 1), 1, 12, 1, 2); /* not of size 1: stays */
  GIVES(td_squeeze_all(one, &result), (12), 12, 2);
  TD_EXPECT_NULL(td_squeeze(one, 3, &result), TD_ERR_INDEX, result);
  TD_EXPECT_NULL(td_squeeze(one, -4, &result), TD_ERR_INDEX, result);
}

TD_TEST(expand_repeats_without_memory) {
  td_tensordict *td = td_empty(TD_SIZES(1, 2)), *result = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1, 2)));
  TD_DO(td_expand(td, TD_SIZES(3, 2), &result));
  TD_CHECK_BATCH(result, 3, 2);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(0, 1, 0, 1, 0, 1));
  TD_DO(td_expand(td, TD_SIZES(2, 1, 2), &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 1, 2), TD_VALUES(0, 1, 0, 1));
  GIVES(td_expand(td, TD_SIZES(1000000000, 1000, 2), &result), (1000000000, 1000, 2), 1000000000,
        1000, 2);
  TD_EXPECT_NULL(td_expand(td, TD_SIZES(2), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_expand(td, TD_SIZES(1, 3), &result), TD_ERR_SHAPE, result);
  TD_DO(td_expand(td, TD_SIZES(3, -1), &result)); /* -1: the size that is there */
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(0, 1, 0, 1, 0, 1));
  TD_EXPECT_NULL(td_expand(td, TD_SIZES(-1, 1, 2), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_expand(td, TD_SIZES(-2, 2), &result), TD_ERR_SHAPE, result);
}

TD_TEST(nested_batches_keep_what_lies_behind) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *result = NULL, *n = NULL;
  td_put_dict(td, TD_KEY("n"), td_sample());
  TD_DO(td_view(td, TD_SIZES(2, 2), &result));
  n = td_take_dict(result, TD_KEY("n"));
  TD_CHECK_BATCH(n, 2, 2, 3);
  CHECK_LEAF(n, 2, 2, 3, 2);
  TD_DO(td_unsqueeze(td, -1, &result));
  n = td_take_dict(result, TD_KEY("n"));
  TD_CHECK_BATCH(n, 4, 1, 3);
  TD_DO(td_expand(td, TD_SIZES(5, 4), &result));
  n = td_take_dict(result, TD_KEY("n"));
  TD_CHECK_BATCH(n, 5, 4, 3);
}

TD_TEST(dictionaries_without_entries_change_their_batch_size) {
  td_tensordict *td = td_empty(TD_SIZES(4, 1)), *result = NULL;
  TD_DO(td_view(td, TD_SIZES(2, 2), &result));
  TD_CHECK_BATCH(result, 2, 2);
  TD_DO(td_transpose(td, 0, 1, &result));
  TD_CHECK_BATCH(result, 1, 4);
  TD_DO(td_squeeze_all(td, &result));
  TD_CHECK_BATCH(result, 4);
}

TD_TEST(unbind_takes_apart) {
  td_tensordict *td = td_sample(), *parts[4] = {TD_POISON, TD_POISON, TD_POISON, TD_POISON};
  size_t count = 0;
  TD_DO(td_unbind(td, 0, NULL, 0, &count));
  TD_CHECK_INT(count, 4);
  TD_DO(td_unbind(td, 0, parts, 4, &count));
  TD_CHECK_INT(count, 4);
  for (int i = 0; i < 4; i++) {
    TD_CHECK_BATCH(parts[i], 3);
    TD_CHECK_ENTRY(parts[i], TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(3 * i, 3 * i + 1, 3 * i + 2));
    td_free(parts[i]);
  }
  TD_DO(td_unbind(td, -1, parts, 4, &count));
  TD_CHECK_INT(count, 3);
  TD_CHECK_ENTRY(parts[2], TD_KEY("n", "b"), TD_SIZES(4), TD_VALUES(2, 5, 8, 11));
  for (int i = 0; i < 3; i++) td_free(parts[i]);

  for (int i = 0; i < 3; i++) parts[i] = TD_POISON;
  TD_EXPECT(td_unbind(td, 0, parts, 3, &count), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(count, 4);
  for (int i = 0; i < 3; i++) TD_CHECK(parts[i] == NULL);
  TD_EXPECT(td_unbind(td, 2, parts, 4, &count), TD_ERR_INDEX);
  TD_EXPECT(td_unbind(td, -3, parts, 4, &count), TD_ERR_INDEX);
}

TD_TEST(no_operation_makes_more_than_64_dimensions) {
  td_tensordict *td = td_empty(TD_SIZES(1)), *more = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(1)));
  for (int dims = 1; dims < 64; dims++) {
    TD_DO(td_unsqueeze(td, 0, &more));
    td_free(td);
    td = more;
  }
  TD_EXPECT_NULL(td_unsqueeze(td, 0, &more), TD_ERR_SHAPE, more);
  TD_CHECK_TEXT(td_last_error_message(), "65 dimensions; at most 64 are supported");
  const td_tensordict *const both[] = {td, td};
  TD_EXPECT_NULL(td_stack(both, 2, 0, &more), TD_ERR_SHAPE, more);
  TD_EXPECT_NULL(td_lazy_stack(both, 2, 0, &more), TD_ERR_SHAPE, more);
}

/* A tensor may have more; the batch size may not. */
TD_TEST(no_batch_size_is_set_to_more_than_64_dimensions) {
  enum { MANY = 70 };
  td_index_item items[MANY];
  int64_t ones[MANY];
  char text[1024] = "{\"\":{\"batch_size\":[1";
  for (int i = 0; i < MANY; i++) {
    items[i] = (td_index_item)TD_I_NONE;
    ones[i] = 1;
    if (i != 0) strcat(text, ",1");
  }
  strcat(text, "],\"device\":null}}");
  td_tensor *wide = NULL, *plain = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(1));
  TD_DO(td_tensor_index(plain, items, MANY, &wide));
  td_tensor_free(plain);
  td_tensordict *td = td_empty(TD_NO_SIZES), *other = NULL, *state = NULL;
  td_put(td, TD_KEY("a"), wide);
  TD_EXPECT(td_auto_batch_size(td, -1, 0), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "dimensions; at most 64 are supported");
  TD_CHECK_NO_BATCH(td);
  TD_EXPECT(td_set_batch_size(td, ones, MANY), TD_ERR_SHAPE);
  TD_EXPECT_NULL(td_create(ones, MANY, TD_DEVICE_NONE, -1, &other), TD_ERR_SHAPE, other);
  TD_DO(td_state_dict(td, NULL, &state));
  TD_DO(td_set_non_tensor_json(state, TD_KEY("_metadata"), text));
  TD_EXPECT(td_load_state_dict(td, state, NULL), TD_ERR_SHAPE);
  TD_CHECK_NO_BATCH(td);
  TD_DO(td_auto_batch_size(td, 64, 0));
}

TD_TEST(contiguous_copies_only_what_is_not) {
  td_tensordict *td = td_sample(), *turned = NULL, *dense = NULL;
  td_put(td, TD_KEY("flat"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  TD_DO(td_contiguous(td, &dense));
  td_tensor *one = td_take(td, TD_KEY("n", "b")), *other = td_take(dense, TD_KEY("n", "b"));
  TD_CHECK(td_same_memory(one, other));
  TD_DO(td_transpose(td, 0, 1, &turned));
  TD_DO(td_contiguous(turned, &dense));
  other = td_take(dense, TD_KEY("n", "b"));
  TD_CHECK_FLAG(td_tensor_is_contiguous, other, 1);
  TD_CHECK_VALUES(other, 0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11);
}
