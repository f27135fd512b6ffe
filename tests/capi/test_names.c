/* Names and paths: what may be a name, and what a message says of them. */
#include "td_values.h"

TD_TEST(missing_keys_name_what_is_there) {
  td_tensordict *td = td_sample();
  td_tensor *tensor;
  td_tensordict *entry;
  TD_EXPECT_NULL(td_get(td, TD_KEY("nope"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
  TD_CHECK_TEXT(td_last_error_message(), "nope");
  TD_CHECK_TEXT(td_last_error_message(), "\"a\"");
  TD_CHECK_TEXT(td_last_error_message(), "\"n\"");
  TD_EXPECT_NULL(td_get(td, TD_KEY("n", "nope"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
  TD_CHECK_SAME_TEXT(td_last_error_message(), "no entry \"n\"/\"nope\"; \"n\" holds \"b\"");
  TD_EXPECT_NULL(td_get(td, TD_KEY("nope", "b"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
  TD_EXPECT_NULL(td_get_dict(td, TD_KEY("nope"), &entry), TD_ERR_KEY_NOT_FOUND, entry);
}

TD_TEST(names_that_are_no_names) {
  td_tensordict *td = td_sample();
  td_tensor *tensor = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)), *got;
  static const char *const bad[] = {
      "\xff",             /* never in UTF-8 */
      "a\x80",            /* a continuation without its beginning */
      "\xc3",             /* cut short */
      "\xc0\xaf",         /* '/' in two bytes */
      "\xed\xa0\x80",     /* half of a surrogate pair */
      "\xf4\x90\x80\x80", /* beyond the last character */
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    TD_EXPECT(td_set(td, TD_KEY(bad[i]), tensor), TD_ERR_KEY_INVALID);
    TD_EXPECT(td_set(td, TD_KEY("n", bad[i]), tensor), TD_ERR_KEY_INVALID);
    TD_EXPECT_NULL(td_get(td, TD_KEY(bad[i]), &got), TD_ERR_KEY_INVALID, got);
    TD_EXPECT(td_remove(td, TD_KEY(bad[i])), TD_ERR_KEY_INVALID);
  }
  TD_EXPECT(td_set(td, TD_KEY("n", NULL), tensor), TD_ERR_KEY_INVALID);
  TD_EXPECT(td_set(td, (const char *const[]){"a"}, 0, tensor), TD_ERR_KEY_INVALID);
  TD_EXPECT_NULL(td_get(td, (const char *const[]){"a"}, 0, &got), TD_ERR_KEY_INVALID, got);
}

TD_TEST(any_text_is_a_name) {
  static const char *const names[] = {"",
                                      ".",
                                      "..",
                                      "a.b",
                                      "a/b",
                                      "with space",
                                      "%",
                                      "\303\274",
                                      "\n\t",
                                      "shape",
                                      "\360\237\220\230"};
  const size_t count = sizeof names / sizeof *names;
  td_tensordict *td = td_empty(TD_SIZES(1));
  for (size_t i = 0; i < count; i++) {
    td_put(td, TD_KEY(names[i]), td_filled(TD_DTYPE_INT64, (double)i, TD_SIZES(1)));
    td_put(td, TD_KEY("deep", names[i]), td_filled(TD_DTYPE_INT64, (double)i, TD_SIZES(1)));
  }
  for (size_t i = 0; i < count; i++) {
    TD_CHECK_ENTRY(td, TD_KEY(names[i]), TD_SIZES(1), TD_VALUES((double)i));
    TD_CHECK_ENTRY(td, TD_KEY("deep", names[i]), TD_SIZES(1), TD_VALUES((double)i));
  }
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(td, TD_KEY("a", "b"), &kind)); /* never split at a dot or slash */
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

TD_TEST(a_failed_nested_set_leaves_nothing_behind) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_tensor *wrong = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4));
  td_entry_kind kind = 99;
  TD_EXPECT(td_set(td, TD_KEY("x", "y"), wrong), TD_ERR_SHAPE);
  TD_DO(td_get_kind(td, TD_KEY("x"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

TD_TEST(nested_set_makes_what_is_missing) {
  td_tensordict *td = td_empty(TD_SIZES(3)), *x = NULL, *y = NULL;
  td_put(td, TD_KEY("x", "y", "z"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3)));
  x = td_take_dict(td, TD_KEY("x"));
  y = td_take_dict(td, TD_KEY("x", "y"));
  TD_CHECK_BATCH(x, 3);
  TD_CHECK_BATCH(y, 3);
  TD_CHECK_ENTRY(y, TD_KEY("z"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  td_put(y, TD_KEY("w"), td_arange(TD_DTYPE_INT8, 5, TD_SIZES(3)));
  TD_CHECK_ENTRY(td, TD_KEY("x", "y", "w"), TD_SIZES(3), TD_VALUES(5, 6, 7));
}
