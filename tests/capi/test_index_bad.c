/* Index expressions that must be refused, and index expressions as text. */
#include <string.h>

#include "td_values.h"

static td_index_item item_of_kind(td_index_kind kind) {
  td_index_item item;
  memset(&item, 0, sizeof item);
  item.kind = kind;
  return item;
}

TD_TEST(out_of_range_and_too_many) {
  td_tensordict *td = td_sample(), *part;
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_INT(4)), &part), TD_ERR_INDEX, part);
  TD_CHECK_TEXT(td_last_error_message(), "4");
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_INT(-5)), &part), TD_ERR_INDEX, part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_ALL, TD_I_INT(3)), &part), TD_ERR_INDEX, part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_INT(INT64_MIN)), &part), TD_ERR_INDEX, part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_INT(0), TD_I_INT(0), TD_I_INT(0)), &part), TD_ERR_INDEX,
                 part); /* "a" has a third dimension, the batch has not */
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_ALL, TD_I_ALL, TD_I_ALL), &part), TD_ERR_INDEX, part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_ELLIPSIS, TD_I_INT(0), TD_I_INT(0), TD_I_INT(0)), &part),
                 TD_ERR_INDEX, part);
}

TD_TEST(negative_step_and_two_ellipses) {
  td_tensordict *td = td_sample(), *part;
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_STEP(3, 0, -1)), &part), TD_ERR_INDEX, part);
  TD_CHECK_TEXT(td_last_error_message(), "-1");
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_STEP(0, 3, 0)), &part), TD_ERR_INDEX, part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_ELLIPSIS, TD_I_ELLIPSIS), &part), TD_ERR_INDEX, part);
  TD_DO(td_index(td, TD_AT(TD_I_STEP(0, 4, INT64_MAX)), &part));
  TD_CHECK_BATCH(part, 1, 3);
}

TD_TEST(tensors_that_are_no_index) {
  td_tensordict *td = td_sample(), *part;
  td_tensor *beyond = td_positions((const int64_t[]){0, 4}, 2);
  td_tensor *before = td_positions((const int64_t[]){0, -5}, 2);
  td_tensor *numbers = td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(2));
  td_tensor *mask = td_mask((const int64_t[]){1, 1, 1}, 3);
  td_tensor *cube = td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(4, 3, 2));
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_TENSOR(beyond)), &part), TD_ERR_INDEX, part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_TENSOR(before)), &part), TD_ERR_INDEX, part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_TENSOR(numbers)), &part), TD_ERR_INDEX, part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_TENSOR(mask)), &part), TD_ERR_INDEX, part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_TENSOR(cube)), &part), TD_ERR_INDEX, part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_TENSOR(NULL)), &part), TD_ERR_NULL_ARGUMENT, part);
  td_tensor_free(mask);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_TENSOR(mask)), &part), TD_ERR_BAD_HANDLE, part);
  TD_EXPECT_NULL(td_index(td, TD_AT(TD_I_TENSOR((const td_tensor *)(const void *)td)), &part),
                 TD_ERR_BAD_HANDLE, part);
}

TD_TEST(an_index_on_the_wrong_device) {
  td_tensordict *td = td_sample(), *part;
  td_tensor *meta = NULL;
  TD_DO(td_tensor_zeros(TD_SIZES(4), TD_DTYPE_BOOL, TD_DEVICE_META, -1, &meta));
  part = TD_POISON;
  const td_status status = td_index(td, TD_AT(TD_I_TENSOR(meta)), &part);
  TD_CHECK(status == TD_ERR_DEVICE || status == TD_ERR_INDEX);
  TD_CHECK(part == NULL);
}

TD_TEST(unknown_kinds_and_reserved_words) {
  td_tensordict *td = td_sample(), *part;
  for (td_index_kind kind = -1; kind <= 7; kind += kind == 0 ? 7 : 1) {
    const td_index_item item = item_of_kind(kind);
    TD_EXPECT_NULL(td_index(td, &item, 1, &part), TD_ERR_UNSUPPORTED, part);
  }
  for (int word = 0; word < 3; word++) {
    td_index_item item = item_of_kind(TD_INDEX_INT);
    item.reserved[word] = 1;
    TD_EXPECT_NULL(td_index(td, &item, 1, &part), TD_ERR_INVALID_ARGUMENT, part);
  }
  td_index_item item = item_of_kind(TD_INDEX_SLICE);
  item.flags = 8;
  TD_CHECK(td_index(td, &item, 1, &part) != TD_OK);
  TD_EXPECT_NULL(td_index(td, NULL, 1, &part), TD_ERR_NULL_ARGUMENT, part);
}

TD_TEST(tensors_are_read_by_the_same_rules) {
  td_tensor *tensor = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)), *part = NULL;
  TD_DO(td_tensor_index(tensor, TD_AT(TD_I_INT(1), TD_I_STEP(0, 3, 2)), &part));
  TD_CHECK_VALUES(part, 3, 5);
  TD_DO(td_tensor_index(tensor, TD_AT(TD_I_ELLIPSIS, TD_I_INT(0), TD_I_NONE), &part));
  TD_CHECK_SIZES(part, 2, 1);
  TD_DO(td_tensor_index(tensor, NULL, 0, &part));
  TD_CHECK(td_same_memory(part, tensor));
  TD_EXPECT_NULL(td_tensor_index(tensor, TD_AT(TD_I_INT(0), TD_I_INT(0), TD_I_INT(0)), &part),
                 TD_ERR_INDEX, part);
  TD_EXPECT_NULL(td_tensor_index(tensor, TD_AT(TD_I_STEP(0, 2, -1)), &part), TD_ERR_INDEX, part);
}

static size_t parse(const char *text, td_index_item *items, size_t cap) {
  size_t count = 99;
  TD_DO(td_index_parse(text, items, cap, &count));
  return count;
}

TD_TEST(text_becomes_items) {
  td_index_item items[8];
  TD_CHECK_INT(parse("..., ::2, None", items, 8), 3);
  TD_CHECK_INT(items[0].kind, TD_INDEX_ELLIPSIS);
  TD_CHECK_INT(items[1].kind, TD_INDEX_SLICE);
  TD_CHECK_INT(items[1].flags, TD_INDEX_HAS_STEP);
  TD_CHECK_INT(items[1].step, 2);
  TD_CHECK_INT(items[2].kind, TD_INDEX_NONE);
  TD_CHECK_INT(parse(" -1 ,1:3, :-2 ,5: , 1:9:3,:", items, 8), 6);
  TD_CHECK_INT(items[0].kind, TD_INDEX_INT);
  TD_CHECK_INT(items[0].start, -1);
  TD_CHECK_INT(items[1].flags, TD_INDEX_HAS_START | TD_INDEX_HAS_STOP);
  TD_CHECK_INT(items[1].start, 1);
  TD_CHECK_INT(items[1].stop, 3);
  TD_CHECK_INT(items[2].flags, TD_INDEX_HAS_STOP);
  TD_CHECK_INT(items[2].stop, -2);
  TD_CHECK_INT(items[3].flags, TD_INDEX_HAS_START);
  TD_CHECK_INT(items[3].start, 5);
  TD_CHECK_INT(items[4].flags, TD_INDEX_HAS_START | TD_INDEX_HAS_STOP | TD_INDEX_HAS_STEP);
  TD_CHECK_INT(items[4].step, 3);
  TD_CHECK_INT(items[5].flags, 0);
  TD_CHECK_INT(parse("True,False", items, 8), 2);
  TD_CHECK_INT(items[0].kind, TD_INDEX_BOOL);
  TD_CHECK_INT(items[0].start, 1);
  TD_CHECK_INT(items[1].start, 0);
  TD_CHECK_INT(parse("", items, 8), 0);
  TD_CHECK_INT(parse("  ", items, 8), 0);
  TD_CHECK_INT(parse("0", NULL, 0), 1);
  TD_CHECK_INT(parse("9223372036854775807", items, 8), 1);
  TD_CHECK(items[0].start == INT64_MAX);
  TD_CHECK_INT(items[0].reserved[0] | items[0].reserved[1] | items[0].reserved[2], 0);
  TD_CHECK(items[0].tensor == NULL);
}

TD_TEST(parsed_text_indexes) {
  td_tensordict *td = td_sample(), *part = NULL;
  td_index_item items[4];
  const size_t count = parse("1::2, -1", items, 4);
  TD_DO(td_index(td, items, count, &part));
  TD_CHECK_ENTRY(part, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(5, 11));
}

TD_TEST(text_that_is_no_index) {
  static const char *const bad[] = {"a",
                                    "1,,2",
                                    ",",
                                    "1 2",
                                    "1:2:3:4",
                                    "..",
                                    "1.5",
                                    "none",
                                    "--1",
                                    "1-",
                                    "[0]",
                                    "....",
                                    "- 1",
                                    "True1",
                                    "99999999999999999999",
                                    "-9223372036854775809"};
  td_index_item items[8];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    size_t count = 0;
    const td_status status = td_index_parse(bad[i], items, 8, &count);
    if (status != TD_ERR_INDEX)
      td_test_fail(__FILE__, __LINE__, "\"%s\" gave %s", bad[i], td_status_name(status));
    TD_CHECK(td_last_error_message()[0] != '\0');
  }
}

TD_TEST(items_need_room) {
  td_index_item items[1] = {{99, 0, 0, 0, 0, NULL, {0, 0, 0}}};
  size_t count = 0;
  TD_EXPECT(td_index_parse("1, 2", items, 1, &count), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(count, 2);
  TD_CHECK_INT(items[0].kind, 99);
  TD_EXPECT(td_index_parse("1", NULL, 1, &count), TD_ERR_NULL_ARGUMENT);
}
