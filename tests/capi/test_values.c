/* Non-tensor values: one for the batch, or one for each element of it. */
#include <string.h>

#include "td_values.h"

static void check_json(td_status (*read)(const td_tensordict *, const char *const *, size_t, char *,
                                         size_t, size_t *),
                       const td_tensordict *td, const char *want) {
  char text[256];
  size_t length = 0;
  TD_DO(read(td, TD_KEY("v"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

TD_TEST(one_value_for_the_batch) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *part = NULL;
  TD_DO(td_set_non_tensor_json(td, TD_KEY("v"), " { \"k\" : [1, 2.5, true, null] } "));
  check_json(td_get_non_tensor_json, td, "{\"k\":[1,2.5,true,null]}");
  TD_DO(td_set_non_tensor_json(td, TD_KEY("v"), "5"));
  check_json(td_get_non_tensor_json, td, "5");
  check_json(td_get_non_tensor_stack_json, td, "[5, 5]");
  check_json(td_get_non_tensor_value_json, td, "5");
  TD_DO(td_index(td, TD_AT(TD_I_INT(1)), &part));
  check_json(td_get_non_tensor_json, part, "5");
  check_json(td_get_non_tensor_stack_json, part, "5");
  TD_DO(td_spread_non_tensor(td, TD_KEY("v")));
  check_json(td_get_non_tensor_json, td, "[5, 5]");
  check_json(td_get_non_tensor_value_json, td, "5");
}

static void check_text(const td_tensordict *td, int64_t row, const char *want) {
  char text[64];
  size_t length = 0;
  if (row == INT64_MAX)
    TD_DO(td_get_text(td, TD_KEY("v"), text, sizeof text, &length));
  else
    TD_DO(td_get_row_text(td, TD_KEY("v"), row, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
  TD_CHECK_INT((int64_t)length, (int64_t)strlen(want));
}

TD_TEST(a_text) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  char text[4];
  size_t length = 0;
  TD_DO(td_set_text(td, TD_KEY("v"), "say \"a\"\n\tand \\ \xc9\xa3"));
  check_text(td, INT64_MAX, "say \"a\"\n\tand \\ \xc9\xa3");
  check_json(td_get_non_tensor_json, td, "\"say \\\"a\\\"\\n\\tand \\\\ \xc9\xa3\"");
  check_text(td, 1, "say \"a\"\n\tand \\ \xc9\xa3");
  TD_EXPECT(td_get_text(td, TD_KEY("v"), text, sizeof text, &length), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT((int64_t)length, 17);
  TD_DO(td_set_text(td, TD_KEY("v"), ""));
  check_text(td, INT64_MAX, "");
  TD_EXPECT(td_set_text(td, TD_KEY("v"), "\xff"), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK_TEXT(td_last_error_message(), "the text for \"v\" is not UTF-8");
  check_text(td, INT64_MAX, "");
  TD_DO(td_set_non_tensor_json(td, TD_KEY("v"), "1"));
  TD_EXPECT(td_get_text(td, TD_KEY("v"), text, sizeof text, &length), TD_ERR_WRONG_ENTRY);
  TD_CHECK_TEXT(td_last_error_message(), "\"v\" is not a text but 1");
}

TD_TEST(a_text_for_each_element) {
  td_tensordict *td = td_empty(TD_SIZES(2, 2)), *row = NULL;
  const char *const texts[] = {"a", "b", "c", "c"};
  char text[8];
  size_t length = 0;
  TD_DO(td_set_texts(td, TD_KEY("v"), texts, 4));
  check_json(td_get_non_tensor_json, td, "[[\"a\", \"b\"], [\"c\", \"c\"]]");
  check_text(td, -1, "c");
  TD_EXPECT(td_get_row_text(td, TD_KEY("v"), 0, text, sizeof text, &length), TD_ERR_WRONG_ENTRY);
  TD_EXPECT(td_get_row_text(td, TD_KEY("v"), 2, text, sizeof text, &length), TD_ERR_INDEX);
  TD_EXPECT(td_get_row_text(td, TD_KEY("w"), 0, text, sizeof text, &length), TD_ERR_KEY_NOT_FOUND);
  TD_DO(td_index(td, TD_AT(TD_I_INT(0)), &row));
  check_text(row, 1, "b");
  TD_EXPECT(td_set_texts(td, TD_KEY("v"), texts, 3), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "3 texts do not fit batch size [2, 2]");
  TD_EXPECT(td_set_texts(td, TD_KEY("v"), (const char *const[]){"a", NULL, "c", "d"}, 4),
            TD_ERR_INVALID_ARGUMENT);
  check_text(td, 1, "c");
  td_tensordict *none = td_empty(TD_SIZES(0)), *alone = td_empty(TD_NO_SIZES);
  TD_DO(td_set_texts(none, TD_KEY("v"), texts, 0));
  TD_EXPECT(td_set_texts(alone, TD_KEY("v"), texts, 1), TD_ERR_SHAPE);
  TD_EXPECT(td_get_text(none, TD_KEY("v"), text, sizeof text, &length), TD_ERR_WRONG_ENTRY);
}

TD_TEST(one_value_for_each_element) {
  td_tensordict *td = td_empty(TD_SIZES(2, 2)), *part = NULL;
  char text[8];
  size_t length = 0;
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("v"), "[[\"a\",\"b\"],[\"c\",[1]]]"));
  check_json(td_get_non_tensor_json, td, "[[\"a\", \"b\"], [\"c\", [1]]]");
  TD_EXPECT(td_get_non_tensor_value_json(td, TD_KEY("v"), text, sizeof text, &length),
            TD_ERR_WRONG_ENTRY);
  TD_DO(td_index(td, TD_AT(TD_I_ALL, TD_I_INT(1)), &part));
  check_json(td_get_non_tensor_json, part, "[\"b\", [1]]");
  td_tensor *rows = td_positions((const int64_t[]){1, 0, 1}, 3);
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(rows), TD_I_INT(0)), &part));
  check_json(td_get_non_tensor_json, part, "[\"c\", \"a\", \"c\"]");
  TD_DO(td_transpose(td, 0, 1, &part));
  check_json(td_get_non_tensor_json, part, "[[\"a\", \"c\"], [\"b\", [1]]]");
  TD_DO(td_view(td, TD_SIZES(4), &part));
  check_json(td_get_non_tensor_json, part, "[\"a\", \"b\", \"c\", [1]]");
}

TD_TEST(written_at_an_index) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *row = td_empty(TD_NO_SIZES);
  TD_DO(td_set_non_tensor_json(td, TD_KEY("v"), "\"x\""));
  TD_DO(td_set_non_tensor_json(row, TD_KEY("v"), "\"x\""));
  TD_DO(td_set_at(td, TD_AT(TD_I_INT(1)), row));
  check_json(td_get_non_tensor_json, td, "\"x\""); /* nothing changed */
  TD_DO(td_set_non_tensor_json(row, TD_KEY("v"), "\"y\""));
  TD_DO(td_set_at(td, TD_AT(TD_I_INT(1)), row));
  check_json(td_get_non_tensor_json, td, "[\"x\", \"y\", \"x\"]");
  TD_DO(td_set_non_tensor_json(row, TD_KEY("w"), "1"));
  TD_DO(td_set_at(td, TD_AT(TD_I_INT(0)), row)); /* a new key: for the whole batch */
  char text[64];
  size_t length = 0;
  TD_DO(td_get_non_tensor_json(td, TD_KEY("w"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "1");
}

TD_TEST(stacked) {
  td_tensordict *one = td_empty(TD_NO_SIZES), *two = td_empty(TD_NO_SIZES), *both = NULL;
  TD_DO(td_set_non_tensor_json(one, TD_KEY("v"), "\"x\""));
  TD_DO(td_set_non_tensor_json(two, TD_KEY("v"), "\"y\""));
  TD_DO(td_stack((const td_tensordict *const[]){one, two}, 2, 0, &both));
  check_json(td_get_non_tensor_json, both, "[\"x\", \"y\"]");
  TD_DO(td_stack((const td_tensordict *const[]){one, one}, 2, 0, &both));
  check_json(td_get_non_tensor_json, both, "[\"x\", \"x\"]");
}

TD_TEST(bytes) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *same = NULL;
  unsigned char bytes[300], back[300];
  size_t length = 0;
  for (size_t n = 0; n < 8; ++n) {
    for (size_t i = 0; i < n; ++i) bytes[i] = (unsigned char)(250 + i * 7);
    TD_DO(td_set_non_tensor_bytes(td, TD_KEY("v"), bytes, n));
    TD_DO(td_get_non_tensor_bytes(td, TD_KEY("v"), back, sizeof back, &length));
    TD_CHECK_INT(length, n);
    TD_CHECK(memcmp(bytes, back, n) == 0);
  }
  TD_EXPECT(td_get_non_tensor_bytes(td, TD_KEY("v"), back, 3, &length), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(length, 7);
  TD_DO(td_clone(td, 0, &same));
  TD_CHECK_EQUAL(td, same);
  TD_DO(td_set_non_tensor_json(td, TD_KEY("v"), "\"text\""));
  TD_EXPECT(td_get_non_tensor_bytes(td, TD_KEY("v"), back, sizeof back, &length),
            TD_ERR_WRONG_ENTRY);
}

TD_TEST(what_is_refused) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  TD_EXPECT(td_set_non_tensor_json(td, TD_KEY("v"), "{"), TD_ERR_FORMAT);
  TD_EXPECT(td_set_non_tensor_json(td, TD_KEY("v"), "nope"), TD_ERR_FORMAT);
  TD_EXPECT(td_set_non_tensor_stack_json(td, TD_KEY("v"), "[1,2,3]"), TD_ERR_SHAPE);
  TD_EXPECT(td_set_non_tensor_stack_json(td, TD_KEY("v"), "1"), TD_ERR_SHAPE);
  TD_EXPECT(td_spread_non_tensor(td, TD_KEY("v")), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_FLAG(td_is_empty, td, 1);
  td_put(td, TD_KEY("t"), td_filled(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_EXPECT(td_spread_non_tensor(td, TD_KEY("t")), TD_ERR_WRONG_ENTRY);
  TD_DO(td_lock(td));
  TD_EXPECT(td_set_non_tensor_json(td, TD_KEY("v"), "1"), TD_ERR_LOCKED);
}
