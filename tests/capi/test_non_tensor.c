/* Non-tensor entries: they are listed, kept and saved, but never taken for tensors. */
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

/* Of batch [4]: the tensor "t", and values under the names of their types. */
static td_tensordict *load(void) {
  td_tensordict *td = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1;
  TD_DO(td_memmap_load(td_golden("nontensor"), &options, &td));
  return td;
}

static void check_data(const td_tensordict *td, const char *name, const char *want) {
  td_entry_kind kind = 99;
  char text[256];
  size_t length = 0;
  TD_DO(td_get_kind(td, TD_KEY(name), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NON_TENSOR);
  TD_DO(td_get_non_tensor_json(td, TD_KEY(name), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

static void check_all(td_tensordict *td) {
  check_data(td, "str", "\"hello w\303\266rld\"");
  check_data(td, "int", "-7");
  check_data(td, "float", "2.5");
  check_data(td, "none", "null");
  check_data(td, "dict", "{\"k\":{\"z\":[1,2]}}");
}

TD_TEST(they_are_keys_but_no_leaves) {
  td_tensordict *td = load();
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  td_keys *keys = NULL;
  TD_DO(td_keys_of(td, NULL, &keys));
  TD_CHECK_INT(td_keys_len(keys), 8);
  options.include_nested = 1;
  TD_DO(td_keys_of(td, &options, &keys));
  TD_CHECK_INT(td_keys_len(keys), 8);
  options.leaves_only = 1;
  TD_DO(td_keys_of(td, &options, &keys));
  TD_CHECK_INT(td_keys_len(keys), 1);
  TD_DO(td_remove(td, TD_KEY("t")));
  TD_CHECK_FLAG(td_is_empty, td, 0); /* a value is content */
}

TD_TEST(they_are_not_taken_for_anything_else) {
  td_tensordict *td = load(), *entry;
  td_tensor *tensor, *one = td_filled(TD_DTYPE_INT64, 1, TD_SIZES(4));
  td_writer *writer = NULL;
  int32_t field = 0;
  TD_EXPECT_NULL(td_get(td, TD_KEY("str"), &tensor), TD_ERR_WRONG_ENTRY, tensor);
  TD_EXPECT_NULL(td_get_dict(td, TD_KEY("str"), &entry), TD_ERR_WRONG_ENTRY, entry);
  TD_EXPECT(td_set_inplace(td, TD_KEY("str"), one), TD_ERR_WRONG_ENTRY);
  TD_DO(td_writer_open(td, NULL, &writer));
  TD_EXPECT(td_writer_bind(writer, TD_KEY("str"), &field), TD_ERR_WRONG_ENTRY);
  td_writer_free(writer);
  TD_CHECK(td_set(td, TD_KEY("str", "below"), one) != TD_OK);
  check_data(td, "str", "\"hello w\303\266rld\"");
  TD_DO(td_set(td, TD_KEY("str"), one)); /* but may be replaced */
  TD_CHECK_ENTRY(td, TD_KEY("str"), TD_SIZES(4), TD_VALUES(1, 1, 1, 1));
  TD_DO(td_remove(td, TD_KEY("int")));
}

static td_status share(void *user, const char *const *path, size_t path_len,
                       const td_tensor *source, td_tensor **result) {
  ++*(int *)user;
  if (path_len != 1 || strcmp(path[0], "t") != 0) return -10001;
  return td_tensor_dup(source, result);
}

TD_TEST(operations_carry_them_along) {
  td_tensordict *td = load(), *result = NULL;
  td_tensor *some = td_positions((const int64_t[]){3, 1}, 2);
  int calls = 0;
  TD_DO(td_index(td, TD_AT(TD_I_INT(0)), &result));
  check_all(result);
  TD_DO(td_index(td, TD_AT(TD_I_SLICE(1, 3)), &result));
  check_all(result);
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(some)), &result));
  check_all(result);
  TD_DO(td_view(td, TD_SIZES(2, 2), &result));
  check_all(result);
  TD_DO(td_unsqueeze(td, 0, &result));
  check_all(result);
  TD_DO(td_expand(td, TD_SIZES(3, 4), &result));
  check_all(result);
  TD_DO(td_clone(td, 0, &result));
  check_all(result);
  TD_DO(td_clone(td, TD_CLONE_SHALLOW, &result));
  check_all(result);
  TD_DO(td_to_dtype(td, TD_DTYPE_FLOAT64, &result));
  check_all(result);
  TD_DO(td_to_device(td, TD_DEVICE_META, -1, NULL, &result));
  check_all(result);
  TD_DO(td_contiguous(td, &result));
  check_all(result);
  TD_DO(td_apply(td, NULL, share, &calls, &result));
  TD_CHECK_INT(calls, 1);
  check_all(result);
  td_tensordict *rows[4];
  size_t count = 0;
  TD_DO(td_unbind(td, 0, rows, 4, &count));
  for (size_t i = 0; i < count; i++) check_all(rows[i]);
}

/* A size of 0 is no leave to make as many lists as stand before it. */
TD_TEST(too_many_empty_lists) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *none = NULL, *row = NULL, *result = NULL;
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("s"), "[1,2]"));
  TD_DO(td_index(td, TD_AT(TD_I_SLICE(0, 0)), &none));
  TD_DO(td_unsqueeze(none, 0, &row));
  TD_DO(td_expand(row, TD_SIZES(3, 0), &result));
  TD_CHECK_JSON(result, TD_KEY("s"), "[[], [], []]");
  result = NULL;
  size_t length = 0;
  TD_DO(td_expand(row, TD_SIZES(INT64_C(1) << 40, 0), &result));
  TD_EXPECT(td_get_non_tensor_stack_json(result, TD_KEY("s"), NULL, 0, &length), TD_ERR_SHAPE);
}

TD_TEST(equality_sees_them) {
  td_tensordict *td = load(), *other = NULL;
  TD_DO(td_clone(td, 0, &other));
  TD_CHECK_EQUAL(td, other);
  TD_DO(td_remove(other, TD_KEY("str")));
  TD_CHECK(!td_equals(td, other));
}

TD_TEST(they_are_saved_again) {
  td_tensordict *td = load(), *saved = NULL, *loaded = NULL;
  const char *folder = td_path(td_test_folder(), "m");
  TD_DO(td_memmap_like(td, folder, NULL, &saved));
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("t"), TD_SIZES(4), TD_VALUES(0, 0, 0, 0));
  check_all(loaded);
}

TD_TEST(printed_forms) {
  static const char *const lines[] = {
      "str: NonTensorData(data=hello w\303\266rld, batch_size=torch.Size([4]), device=",
      "int: NonTensorData(data=-7, batch_size=",
      "float: NonTensorData(data=2.5, batch_size=",
      "bool: NonTensorData(data=True, batch_size=",
      "none: NonTensorData(data=None, batch_size=",
      "list: NonTensorData(data=[1, 'two', 3.0], batch_size=",
      "dict: NonTensorData(data={'k': {'z': [1, 2]}}, batch_size="};
  td_tensordict *td = load();
  char *text = td_printed(td);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) TD_CHECK_TEXT(text, lines[i]);
  free(text);
}
