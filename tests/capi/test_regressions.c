/* What once went wrong: each test is a defect that was found by reading. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

#define TD_BIG ((int64_t)1 << 40)

/* Freed from its leaves upwards by recursion once, when it had been locked. */
TD_TEST(a_deep_locked_tree_is_freed) {
  td_tensordict *root = td_empty(TD_NO_SIZES), *inner = NULL;
  TD_DO(td_dup(root, &inner));
  for (int i = 0; i < 300000; i++) {
    td_tensordict *next = td_empty(TD_NO_SIZES);
    TD_DO(td_set_dict(inner, TD_KEY("n"), next));
    td_free(inner);
    inner = next;
  }
  TD_DO(td_lock(root));
  td_free(root);
  TD_CHECK_FLAG(td_is_locked, inner, 1);
  TD_DO(td_unlock(inner));
}

/* Each level walked all below it once: a minute for this tree. */
TD_TEST(a_tree_grows_from_the_bottom) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  for (int i = 0; i < 200000; i++) {
    td_tensordict *above = td_empty(TD_NO_SIZES);
    TD_DO(td_set_dict(above, TD_KEY("n"), td));
    td_free(td);
    td = above;
  }
  TD_EXPECT(td_set_dict(td, TD_KEY("self"), td), TD_ERR_CYCLE);
  td_tensordict *inner = td_take_dict(td, TD_KEY("n", "n"));
  TD_EXPECT(td_set_dict(inner, TD_KEY("up"), td), TD_ERR_CYCLE);
}

/* The rows were counted for another batch size: puts ran past the end of the tensor. */
TD_TEST(a_writer_binds_what_its_rows_were_counted_for) {
  td_tensordict *td = td_empty(TD_SIZES(10));
  td_writer *writer = NULL;
  int32_t field = 0;
  TD_DO(td_writer_open(td, NULL, &writer));
  TD_DO(td_set_batch_size(td, TD_SIZES(5)));
  td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(5, 2)));
  TD_EXPECT(td_writer_bind(writer, TD_KEY("x"), &field), TD_ERR_SHAPE);
  TD_CHECK_INT(field, -1);
  TD_DO(td_set_batch_size(td, TD_NO_SIZES));
  td_put(td, TD_KEY("y"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(10, 2)));
  TD_DO(td_writer_bind(writer, TD_KEY("y"), &field));
  const float row[2] = {1, 2};
  for (int i = 0; i < 10; i++) {
    TD_DO(td_writer_put(writer, field, row, sizeof row));
    TD_DO(td_writer_next(writer));
  }
  TD_EXPECT(td_writer_put(writer, field, row, sizeof row), TD_ERR_CAPACITY);
}

static td_status free_walked(void *user, const char *const *path, size_t path_len,
                             const td_tensor *source, td_tensor **result) {
  (void)path, (void)path_len, (void)source, (void)result;
  td_tensordict **walked = user;
  td_free(*walked);
  *walked = NULL;
  return TD_OK;
}

static td_status replace_all(void *user, const char *const *path, size_t path_len,
                             const td_tensor *source, td_tensor **result) {
  (void)path, (void)path_len;
  for (int i = 0; i < 40; i++) {
    char name[16];
    snprintf(name, sizeof name, "new%d", i);
    td_put(user, TD_KEY(name), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 3)));
  }
  td_put(user, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 3)));
  TD_DO(td_remove(user, TD_KEY("n")));
  td_put(user, TD_KEY("n", "b"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 3)));
  return td_tensor_dup(source, result);
}

/* Against the rules, and answered all the same: what is walked is what was there. */
TD_TEST(apply_survives_a_function_that_changes_what_it_walks) {
  td_tensordict *td = td_sample(), *want = td_sample(), *result = NULL;
  TD_DO(td_apply(td, NULL, replace_all, td, &result));
  TD_CHECK_EQUAL(result, want);
  TD_DO(td_apply_inplace(td, NULL, free_walked, &td));
  TD_CHECK(td == NULL);
}

static td_status nine(void *user, const char *const *path, size_t path_len, const td_tensor *source,
                      td_tensor **result) {
  (void)user, (void)path, (void)path_len, (void)source;
  *result = td_filled(TD_DTYPE_FLOAT32, 9, TD_NO_SIZES);
  return TD_OK;
}

/* "a" was written before "b" turned out to be an expanded tensor. */
TD_TEST(apply_in_place_looks_at_all_first) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *one = td_empty(TD_SIZES(1)), *wide = NULL;
  td_put(one, TD_KEY("b"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(1)));
  TD_DO(td_expand(one, TD_SIZES(2), &wide));
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_put(td, TD_KEY("b"), td_take(wide, TD_KEY("b")));
  TD_EXPECT(td_apply_inplace(td, NULL, nine, NULL), TD_ERR_TORCH);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(1, 1));
}

/* All parts were made before the array was found too small. */
TD_TEST(unbind_counts_before_it_makes) {
  td_tensordict *td = td_empty(TD_SIZES(TD_BIG)), *part;
  size_t count = 0;
  TD_EXPECT_NULL(td_unbind(td, 0, &part, 1, &count), TD_ERR_BUFFER_TOO_SMALL, part);
  TD_CHECK_INT(count, TD_BIG);
}

/* Products and sums that wrapped around: [2^40, 2^40] was viewed as [0]. */
TD_TEST(sizes_that_cannot_be_counted) {
  td_tensordict *td = td_empty(TD_SIZES(TD_BIG, TD_BIG)), *result;
  td_writer *writer;
  TD_EXPECT_NULL(td_view(td, TD_SIZES(-1), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_view(td, TD_SIZES(0), &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_writer_open(td, NULL, &writer), TD_ERR_SHAPE, writer);
  td_free(td);
  td = td_empty(TD_SIZES((int64_t)1 << 62));
  const td_tensordict *const both[2] = {td, td};
  TD_EXPECT_NULL(td_cat(both, 2, 0, &result), TD_ERR_SHAPE, result);
}

/* Without elements, but with strides that wrapped around; and views of them. */
TD_TEST(sizes_beside_a_zero_that_cannot_be_counted) {
  const int64_t many = INT64_MAX;
  td_tensor *tensor;
  float nothing = 0;
  TD_EXPECT_NULL(
      td_tensor_zeros(TD_SIZES(4, 0, many), TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &tensor),
      TD_ERR_SHAPE, tensor);
  TD_CHECK_TEXT(td_last_error_message(), "[4, 0, 9223372036854775807]");
  TD_EXPECT_NULL(td_tensor_from_data(&nothing, 0, TD_SIZES(many, 0, 4), TD_DTYPE_FLOAT32, &tensor),
                 TD_ERR_SHAPE, tensor);
  td_tensordict *td = td_empty(TD_SIZES(0)), *result = NULL;
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(0, 4)));
  TD_DO(td_view(td, TD_SIZES(0, many), &result));
}

/* The bytes behind the struct were read, however many it claimed. */
TD_TEST(options_of_an_impossible_size) {
  td_tensordict *td = td_sample();
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  td_keys *keys;
  options.struct_size = UINT32_MAX;
  TD_EXPECT_NULL(td_keys_of(td, &options, &keys), TD_ERR_INVALID_ARGUMENT, keys);
}

static td_tensordict *with_data(const char *json) {
  const char *dir = td_test_folder();
  td_tensordict *td = NULL;
  char path[4096];
  snprintf(path, sizeof path, "%s/d", dir);
  td_make_folder(path);
  td_write_text(td_path(dir, "meta.json"),
                "{\"d\":{\"type\":\"NonTensorData\"},\"shape\":[],\"device\":\"cpu\","
                "\"_type\":\"<class 'tensordict._td.TensorDict'>\"}");
  const size_t room = strlen(json) + 200;
  char *meta = malloc(room);
  snprintf(meta, room, "{\"_type\":\"<class 'tensordict.tensorclass.NonTensorData'>\",\"data\":%s}",
           json);
  td_write_text(td_path(path, "meta.json"), meta);
  free(meta);
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.max_depth = 1000000;
  if (td_memmap_load(dir, &options, &td) != TD_OK) return NULL;
  return td;
}

static void append(char *text, const char *more, int times) {
  for (int i = 0; i < times; i++) strcat(text, more);
}

/* Cut between the bytes of a character: the text was no UTF-8. */
TD_TEST(long_texts_are_cut_between_characters) {
  char json[1300] = "\"x";
  append(json, "é", 150);
  append(json, "ß", 150);
  append(json, "\"", 1);
  td_tensordict *td = with_data(json);
  char *text = td_printed(td);
  TD_CHECK_TEXT(text, "(data=xééééééééééééééééééé  ...  ßßßßßßßßßßßßßßßßßßßß, ");
  free(text);
}

/* Bytes were counted where Python counts characters. */
TD_TEST(two_hundred_characters_are_printed_whole) {
  char json[500] = "\"";
  append(json, "é", 200);
  append(json, "\"", 1);
  td_tensordict *td = with_data(json);
  char *text = td_printed(td);
  TD_CHECK(strstr(text, "  ...  ") == NULL);
  TD_CHECK_TEXT(text, "éé, batch_size=");
  free(text);
}

/* A value may not be nested so deep that printing it ends the stack, whatever the caller allows. */
TD_TEST(deep_values_are_refused) {
  enum { DEPTH = 200000 };
  char *json = malloc(2 * DEPTH + 1);
  memset(json, '[', DEPTH);
  memset(json + DEPTH, ']', DEPTH);
  json[2 * DEPTH] = '\0';
  TD_CHECK(with_data(json) == NULL);
  TD_CHECK_INT(td_last_error_code(), TD_ERR_FORMAT);
  free(json);
}
