/* Opening folders: parts of them, older layouts, other devices, and folders that are being replaced. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "td_files.h"
#include "td_process.h"
#include "td_values.h"

#define TYPE "\"_type\":\"<class 'tensordict._td.TensorDict'>\""
#define DATA "\"_type\":\"<class 'tensordict.tensorclass.NonTensorData'>\""
#define STACK "\"_type\":\"<class 'tensordict.tensorclass.NonTensorStack'>\""
#define INT8(name, sizes)                             \
  "\"" name "\":{\"device\":\"cpu\",\"shape\":" sizes \
  ",\"dtype\":\"torch.int8\",\"is_nested\":false}"

static void node(const char *folder, const char *meta) {
  if (!td_exists(td_here(folder))) td_make_folder(td_here(folder));
  td_write_text(td_path(td_here(folder), "meta.json"), meta);
}

static td_tensordict *load_part(const char *name, const char *const *path, size_t path_len) {
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  td_tensordict *td = NULL;
  options.subpath = path;
  options.subpath_len = path_len;
  TD_DO(td_memmap_load(td_here(name), &options, &td));
  return td;
}

static void refuse(const char *name, td_status want, const char *part) {
  td_tensordict *td;
  TD_EXPECT_NULL(td_memmap_load(td_here(name), NULL, &td), want, td);
  TD_CHECK_TEXT(td_last_error_message(), part);
}

static void check_list(const td_tensordict *td, const char *const *path, size_t path_len,
                       const char *want) {
  char text[256] = "";
  size_t length = 0;
  TD_DO(td_get_non_tensor_stack_json(td, path, path_len, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

/* Section 20.1 of the format's description: written by Python 0.4, names and tails included. */
TD_TEST(the_reference_artifact) {
  static const char int64[17] = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0};
  static const char bfloat16[6] = {(char)0x80, 0x3f, (char)0x80, 0x3f, 0x0a, 0x00};
  node("m", "{\"nested\": {\"type\": \"TensorDict\"}, \"shape\": [2, 1], \"device\": \"cpu\", " TYPE
            "}");
  node("m/nested",
       "{\"int64\": {\"device\": \"cpu\", \"shape\": [2, 1], \"dtype\": \"torch.int64\", "
       "\"is_nested\": false}, \"string\": {\"type\": \"NonTensorData\"}, \"bfloat16\": "
       "{\"device\": \"cpu\", \"shape\": [2, 1], \"dtype\": \"torch.bfloat16\", \"is_nested\": "
       "false}, \"shape\": [2, 1], \"device\": \"cpu\", " TYPE "}");
  node("m/nested/string", "{" DATA ", \"data\": [\"a string!\"], \"_metadata\": null}");
  td_write_file(td_here("m/nested/int64.memmap"), int64, sizeof int64);
  td_write_file(td_here("m/nested/bfloat16.memmap"), bfloat16, sizeof bfloat16);
  td_tensordict *td = td_loaded(td_here("m")), *nested = td_loaded(td_here("m/nested")), *inner;
  TD_CHECK_BATCH(td, 2, 1);
  TD_CHECK_ENTRY(td, TD_KEY("nested", "int64"), TD_SIZES(2, 1), TD_VALUES(1, 2));
  td_tensor *ones = td_take(td, TD_KEY("nested", "bfloat16"));
  void *memory = NULL;
  TD_DO(td_tensor_data(ones, &memory));
  TD_CHECK(memcmp(memory, bfloat16, 4) == 0);
  TD_CHECK_SIZES(ones, 2, 1);
  td_tensor_free(ones);
  TD_CHECK_JSON(td, TD_KEY("nested", "string"), "[\"a string!\"]");
  inner = td_take_dict(td, TD_KEY("nested"));
  TD_CHECK_EQUAL(nested, inner);
  TD_CHECK_INT(td_file_size(td_here("m/nested/int64.memmap")), 17);
}

/* 0.3: nested dictionaries are not listed, and nothing says "is_nested". */
TD_TEST(nested_dictionaries_that_are_not_listed) {
  static const char bytes[2] = {7, 8};
  node("m",
       "{\"a\": {\"device\": \"cpu\", \"shape\": [2], \"dtype\": \"torch.int8\"}, \"shape\": "
       "[2], \"device\": \"None\", " TYPE "}");
  td_write_file(td_here("m/a.memmap"), bytes, 2);
  node("m/n",
       "{\"b\": {\"device\": \"cpu\", \"shape\": [2], \"dtype\": \"torch.int8\"}, "
       "\"shape\": [2], \"device\": \"None\", " TYPE "}");
  td_write_file(td_here("m/n/b.memmap"), bytes, 2);
  node("m/s", "{" DATA ", \"data\": \"x\"}");
  td_make_folder(td_here("m/.%tmp"));
  node("m/.%tmp/%tmp", "{\"shape\":[3]," TYPE "}"); /* what a writer has left is no entry */
  td_make_folder(td_here("m/other"));
  td_tensordict *td = td_loaded(td_here("m"));
  td_device_type device = 99;
  int32_t device_index = 0;
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(7, 8));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(7, 8));
  TD_CHECK_JSON(td, TD_KEY("s"), "\"x\"");
  TD_DO(td_device(td, &device, &device_index));
  TD_CHECK_INT(device, TD_DEVICE_NONE);
  td_keys *keys = NULL;
  TD_DO(td_keys_of(td, NULL, &keys));
  TD_CHECK_INT(td_keys_len(keys), 3);
}

/* Before 0.4 each value of a stack had a folder, as the elements of a lazy stack have. */
TD_TEST(stacks_of_values_in_folders) {
  node("m",
       "{\"s\":{\"type\":\"NonTensorStack\"},\"t\":{\"type\":\"NonTensorStack\"},\"shape\":[2,"
       "3],\"device\":\"cpu\"," TYPE "}");
  node("m/s", "{" STACK ",\"stack_dim\":0}");
  node("m/s/0", "{" STACK ",\"stack_dim\":0,\"device\":null,\"data\":[1,2,3]}");
  node("m/s/1", "{" STACK ",\"stack_dim\":0,\"device\":null,\"data\":[4,5,6]}");
  node("m/t", "{" STACK ",\"stack_dim\":1}");
  node("m/t/0", "{" DATA ",\"data\":\"a\"}");
  node("m/t/1", "{" DATA ",\"data\":\"b\"}");
  node("m/t/2", "{" DATA ",\"data\":\"c\"}");
  td_tensordict *td = td_loaded(td_here("m"));
  check_list(td, TD_KEY("s"), "[[1, 2, 3], [4, 5, 6]]");
  check_list(td, TD_KEY("t"), "[[\"a\", \"b\", \"c\"], [\"a\", \"b\", \"c\"]]");
  td_free(td);
  unlink(td_here("m/t/1/meta.json"));
  refuse("m", TD_ERR_IO, "m/t/1");
  rmdir(td_here("m/t/1"));
  refuse("m", TD_ERR_FORMAT, "element 1");
  td_write_text(td_here("m/t/meta.json"), "{" STACK ",\"stack_dim\":2}");
  refuse("m", TD_ERR_FORMAT, "m/t");
  td_write_text(td_here("m/t/meta.json"), "{" STACK "}");
  refuse("m", TD_ERR_FORMAT, "stack_dim");
}

TD_TEST(what_only_python_can_read_is_named) {
  node("m", "{\"s\":{\"type\":\"NonTensorData\"},\"shape\":[2],\"device\":\"cpu\"," TYPE "}");
  node("m/s", "{" DATA ",\"_is_non_tensor\":true,\"_metadata\":null}");
  refuse("m", TD_ERR_FORMAT, "data");
  td_write_text(td_here("m/s/other.pickle"), "x");
  refuse("m", TD_ERR_UNSUPPORTED, "\"s\"");
  TD_CHECK_TEXT(td_last_error_message(), "pickled");
  node("m/s", "{" STACK ",\"stack_dim\":0,\"device\":null,\"data\":\"pickle.pkl\"}");
  refuse("m", TD_ERR_UNSUPPORTED, "\"s\"");
  node("m/s",
       "{\"shape\":[2,1],\"device\":\"cpu\",\"_type\":\"<class "
       "'tensordict._lazy._UnsqueezedTensorDict'>\",\"custom_op\":\"unsqueeze\",\"inv_op\":"
       "\"squeeze\",\"custom_op_kwargs\":{\"dim\":-1},\"inv_op_kwargs\":{\"dim\":-1}}");
  refuse("m", TD_ERR_UNSUPPORTED, "_UnsqueezedTensorDict");
  TD_CHECK_TEXT(td_last_error_message(), "contiguous");
}

TD_TEST(a_part_alone) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *saved = NULL, *part;
  td_put(td, TD_KEY("a/b", "c", "x"), td_arange(TD_DTYPE_INT8, 1, TD_SIZES(2)));
  td_put(td, TD_KEY("a/b", "y"), td_arange(TD_DTYPE_INT8, 3, TD_SIZES(2)));
  TD_DO(td_memmap(td, td_here("m"), NULL, &saved));
  part = load_part("m", TD_KEY("a/b"));
  TD_CHECK_ENTRY(part, TD_KEY("y"), TD_SIZES(2), TD_VALUES(3, 4));
  TD_CHECK_ENTRY(part, TD_KEY("c", "x"), TD_SIZES(2), TD_VALUES(1, 2));
  td_free(part);
  part = load_part("m", TD_KEY("a/b", "c"));
  TD_CHECK_ENTRY(part, TD_KEY("x"), TD_SIZES(2), TD_VALUES(1, 2));
  char path[4096];
  size_t length = 0;
  TD_DO(td_saved_path(part, path, sizeof path, &length));
  TD_CHECK_SAME_TEXT(path, td_here("m/a%2Fb/c"));
  td_free(part);
  part = td_loaded(td_here("m/a%2Fb/c"));
  TD_CHECK_ENTRY(part, TD_KEY("x"), TD_SIZES(2), TD_VALUES(1, 2));
  td_free(part);

  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.subpath = (const char *const[]){"a/b", "nothing"};
  options.subpath_len = 2;
  TD_EXPECT_NULL(td_memmap_load(td_here("m"), &options, &part), TD_ERR_KEY_NOT_FOUND, part);
  TD_CHECK_TEXT(td_last_error_message(), "nothing");
  options.subpath = (const char *const[]){"a/b", "y"};
  TD_EXPECT_NULL(td_memmap_load(td_here("m"), &options, &part), TD_ERR_WRONG_ENTRY, part);
  options.subpath = (const char *const[]){"..", "m"};
  TD_EXPECT_NULL(td_memmap_load(td_here("m"), &options, &part), TD_ERR_KEY_NOT_FOUND, part);
  options.verbatim_names = 1;
  TD_EXPECT_NULL(td_memmap_load(td_here("m"), &options, &part), TD_ERR_FORMAT, part);
  options.subpath = (const char *const[]){"a/b", NULL};
  TD_EXPECT_NULL(td_memmap_load(td_here("m"), &options, &part), TD_ERR_KEY_INVALID, part);
}

TD_TEST(shapes_alone) {
  td_tensordict *td = td_sample(), *saved = NULL, *shapes = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  TD_DO(td_memmap(td, td_here("m"), NULL, &saved));
  options.device_type = TD_DEVICE_META;
  TD_DO(td_memmap_load(td_here("m"), &options, &shapes));
  td_tensor *b = td_take(shapes, TD_KEY("n", "b"));
  TD_CHECK_SIZES(b, 4, 3);
  td_device_type device = 0;
  int32_t device_index = 0;
  TD_DO(td_device(shapes, &device, &device_index));
  TD_CHECK_INT(device, TD_DEVICE_META);
  td_tensor_free(b);
  td_free(shapes);
  td_write_file(td_here("m/n/b.memmap"), "short", 5); /* not opened, but looked at */
  TD_EXPECT_NULL(td_memmap_load(td_here("m"), &options, &shapes), TD_ERR_FORMAT, shapes);
  unlink(td_here("m/n/b.memmap"));
  TD_EXPECT_NULL(td_memmap_load(td_here("m"), &options, &shapes), TD_ERR_FORMAT, shapes);
  TD_CHECK_TEXT(td_last_error_message(), "\"b\"");
}

/* A writer that ended between two files has left more rows in one than the root says. */
TD_TEST(the_root_says_how_many_rows_there_are) {
  static const char bytes[6] = {1, 2, 3, 4, 5, 6};
  node("m", "{" INT8("a", "[2]") ",\"n\":{\"type\":\"TensorDict\"},\"v\":{\"type\":\"NonTensorStack\"}"
            ",\"l\":{\"type\":\"LazyStackedTensorDict\"},\"shape\":[2],\"device\":\"cpu\"," TYPE "}");
  td_write_file(td_here("m/a.memmap"), bytes, 3);
  node("m/n", "{" INT8("b", "[3,2]") ",\"shape\":[3],\"device\":\"cpu\"," TYPE "}");
  td_write_file(td_here("m/n/b.memmap"), bytes, 6);
  node("m/v", "{" STACK ",\"stack_dim\":0,\"device\":null,\"data\":[\"x\",[1,2],\"z\"]}");
  node("m/l", "{\"_type\":\"<class 'tensordict._lazy.LazyStackedTensorDict'>\",\"stack_dim\":0}");
  for (int i = 0; i < 3; i++) {
    const char *const names[] = {"m/l/0", "m/l/1", "m/l/2"};
    node(names[i], "{\"shape\":[],\"device\":\"cpu\"," TYPE "}");
  }
  td_tensordict *td = td_loaded(td_here("m")), *lazy;
  TD_CHECK_BATCH(td, 2);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(1, 2));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(1, 2, 3, 4));
  check_list(td, TD_KEY("v"), "[\"x\", [1,2]]");
  lazy = td_take_dict(td, TD_KEY("l"));
  TD_CHECK_BATCH(lazy, 2);
  td_free(lazy);
  td_free(td);
  node("m/n", "{" INT8("b", "[1,2]") ",\"shape\":[1],\"device\":\"cpu\"," TYPE "}");
  refuse("m", TD_ERR_FORMAT, "m/n"); /* fewer are too few */
  node("m/n", "{" INT8("b", "[2,2]") ",\"shape\":[3],\"device\":\"cpu\"," TYPE "}");
  refuse("m", TD_ERR_FORMAT, "\"b\""); /* within one file nothing can differ */
}

/* Two states of a folder, saved one over the other as fast as it goes. */
static td_tensordict *state(int64_t k) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_INT64, (double)k, TD_SIZES(3, 2)));
  td_put(td, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, (double)k, TD_SIZES(3, 1 + k % 2)));
  td_put(td, TD_KEY("n", "m", k % 2 == 0 ? "even" : "odd"),
         td_filled(TD_DTYPE_INT64, (double)k, TD_SIZES(3)));
  return td;
}

TD_TEST(child_saves) {
  const char *folder = td_role();
  const time_t end = time(NULL) + 100;
  for (int64_t k = 0; time(NULL) < end && !td_exists(td_path(folder, "../stop")); k++) {
    td_tensordict *td = state(k), *saved = NULL;
    TD_DO(td_memmap(td, folder, NULL, &saved));
    td_free(saved);
    td_free(td);
  }
}

TD_TEST(a_reader_beside_a_writer_sees_whole_states) {
  td_tensordict *td = state(0), *saved = NULL;
  TD_DO(td_memmap(td, td_here("m"), NULL, &saved));
  td_free(saved);
  td_free(td);
  const int child = td_spawn("child_saves", td_here("m"));
  const time_t begin = time(NULL);
  int64_t last = 0, changes = 0;
  while (time(NULL) < begin + 2 || (changes < 10 && time(NULL) < begin + 60)) {
    td_tensordict *seen = NULL, *want;
    TD_DO(td_memmap_load(td_here("m"), NULL, &seen));
    td_tensor *a = td_take(seen, TD_KEY("a"));
    void *values = NULL;
    TD_DO(td_tensor_data(a, &values));
    const int64_t k = *(const int64_t *)values;
    changes += k != last;
    TD_CHECK(k >= last);
    last = k;
    want = state(last);
    TD_CHECK_EQUAL(want, seen);
    td_tensor_free(a);
    td_free(want);
    td_free(seen);
  }
  td_write_text(td_here("stop"), "");
  TD_CHECK(td_join(child));
  TD_CHECK(changes >= 10);
}
