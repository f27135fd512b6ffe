/* Forms of a folder that Python writes less often: read, and written again as they were. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

#define DICT(entries, batch)         \
  "{" entries "\"shape\":" batch     \
  ",\"device\":\"cpu\",\"_type\":\"" \
  "<class 'tensordict._td.TensorDict'>\"}"
#define STACK "<class 'tensordict.tensorclass.NonTensorStack'>"

/* A folder inside the folder of the test with this meta.json. */
static void put(const char *folder, const char *meta) {
  td_make_folder(td_here(folder));
  td_write_text(td_path(td_here(folder), "meta.json"), meta);
}

static void rewrite(const char *folder, const char *meta) {
  td_write_text(td_path(td_here(folder), "meta.json"), meta);
}

static void check_again(const char *folder) {
  td_tensordict *td = NULL, *saved = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.copy_existing = 1;
  TD_DO(td_memmap_load(td_here(folder), NULL, &td));
  TD_DO(td_memmap(td, td_here("again"), &options, &saved));
  td_free(saved);
  td_free(td);
  TD_CHECK_SAME_TREE(td_here("again"), td_here(folder));
}

TD_TEST(words_for_numbers_that_json_lacks) {
  td_tensordict *td = NULL;
  put("w", DICT("\"v\": {\"type\": \"NonTensorData\"}, ", "[1]"));
  put("w/v",
      "{\"_type\": \"<class 'tensordict.tensorclass.NonTensorData'>\", \"data\": [NaN, -Infinity, "
      "\"a NaN \\\" Infinity\", 1.5]}");
  TD_DO(td_memmap_load(td_here("w"), NULL, &td));
  TD_CHECK_JSON(td, TD_KEY("v"), "[NaN,-Infinity,\"a NaN \\\" Infinity\",1.5]");
  td_tensordict *saved = NULL, *again = NULL;
  TD_DO(td_memmap(td, td_here("again"), NULL, &saved));
  TD_DO(td_memmap_load(td_here("again"), NULL, &again));
  TD_CHECK_JSON(again, TD_KEY("v"), "[NaN,-Infinity,\"a NaN \\\" Infinity\",1.5]");
  td_free(again);
  td_free(saved);
  td_free(td);
  rewrite("w/v", "{\"_type\": \"<class 'tensordict.tensorclass.NonTensorData'>\", \"data\": 1NaN}");
  TD_EXPECT_NULL(td_memmap_load(td_here("w"), NULL, &td), TD_ERR_FORMAT, td);
}

/* The names of two dimensions; NULL for one without. */
static void check_names(const td_tensordict *td, const char *first, const char *second) {
  const char *const want[2] = {first, second};
  td_keys *names = NULL;
  TD_DO(td_names(td, &names));
  TD_CHECK_INT(td_keys_len(names), 2);
  for (size_t i = 0; i < 2; i++) {
    const char *const *name = NULL;
    size_t n = 0;
    TD_DO(td_keys_at(names, i, &name, &n));
    TD_CHECK_INT(n, want[i] != NULL);
    if (n == 1) TD_CHECK_SAME_TEXT(name[0], want[i]);
  }
  td_keys_free(names);
}

/* The fields that tensordict 0.15 adds. */
TD_TEST(names_and_versions) {
  td_tensordict *td = NULL, *saved = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.copy_existing = 1;
#define NAMED(fields) \
  "{\"shape\":[2,3],\"device\":\"cpu\",\"_type\":\"<class 'tensordict._td.TensorDict'>\"" fields "}"
  put("n", NAMED(",\"_format_version\": 1, \"_class\": \"tensordict:TensorDict\", \"_names\": "
                 "[null, \"t\"]"));
  TD_DO(td_memmap_load(td_here("n"), NULL, &td));
  check_names(td, NULL, "t");
  TD_DO(td_memmap(td, td_here("m"), &options, &saved));
  td_free(saved);
  td_free(td);
  TD_DO(td_memmap_load(td_here("m"), NULL, &td));
  check_names(td, NULL, "t");
  td_free(td);
  static const char *const fine[] = {
      NAMED(",\"_names\":\"t\""),
      NAMED(",\"_names\":[null]"),
      NAMED(",\"_class\":7"),
      NAMED(",\"_format_version\":2.5"),
      NAMED(",\"_format_version\":\"2\""),
      NAMED(",\"_names\":{\"type\":null,\"dtype\":\"torch.int8\",\"shape\":[2,3,0]}"),
      "{\"shape\":[2,3],\"_type\":\"of tomorrow\",\"_class\":\"tensordict:TensorDict\"}"};
  for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
    rewrite("n", fine[i]);
    TD_DO(td_memmap_load(td_here("n"), NULL, &td));
    check_names(td, NULL, NULL);
  }
  static const char *const bad[] = {
      NAMED(",\"_names\":[\"a\"]"), NAMED(",\"_names\":[\"a\",\"b\",\"c\"]"),
      NAMED(",\"_names\":[\"a\",\"a\"]"), NAMED(",\"_names\":[\"a\",7]"),
      NAMED(",\"_names\":[\"a\",[]]")};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    rewrite("n", bad[i]);
    TD_EXPECT_NULL(td_memmap_load(td_here("n"), NULL, &td), TD_ERR_FORMAT, td);
  }
  static const char *const later[] = {NAMED(",\"_format_version\":2"),
                                      NAMED(",\"_format_version\":99999999999999999999")};
  for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
    rewrite("n", later[i]);
    TD_EXPECT_NULL(td_memmap_load(td_here("n"), NULL, &td), TD_ERR_UNSUPPORTED, td);
  }
}

TD_TEST(stacks_of_values_keep_their_dimension_and_device) {
  td_tensordict *td = NULL, *column = NULL;
  put("s", DICT("\"v\":{\"type\":\"NonTensorStack\"},", "[2,2]"));
  put("s/v", "{\"_type\":\"" STACK
             "\",\"stack_dim\":1,\"device\":\"cpu\",\"data\":[[\"a\",\"b\"],[\"c\",\"d\"]]}");
  TD_DO(td_memmap_load(td_here("s"), NULL, &td));
  TD_DO(td_index(td, TD_AT(TD_I_ALL, TD_I_INT(1)), &column));
  TD_CHECK_JSON(column, TD_KEY("v"), "[\"b\", \"d\"]");
  td_free(column);
  td_free(td);
  check_again("s");
}

TD_TEST(a_tensorclass_over_a_lazy_stack) {
  td_tensordict *td = NULL, *tensorclass = NULL;
  td_tensorclass *type = NULL;
  const float values[3] = {1, 2, 3};
  put("r", DICT("\"e\":{\"type\":\"Episode\"},", "[2]"));
  put("r/e", "{\"_type\":\"<class 'my.Episode'>\",\"none\":null}");
  put("r/e/_tensordict",
      "{\"_type\":\"<class 'tensordict._lazy.LazyStackedTensorDict'>\",\"stack_dim\":0}");
  put("r/e/_tensordict/0", DICT("\"x\":{\"device\":\"cpu\",\"shape\":[2],\"dtype\":\"torch."
                                "float32\",\"is_nested\":false},",
                                "[]"));
  put("r/e/_tensordict/1", DICT("\"x\":{\"device\":\"cpu\",\"shape\":[3],\"dtype\":\"torch."
                                "float32\",\"is_nested\":false},",
                                "[]"));
  td_write_file(td_here("r/e/_tensordict/0/x.memmap"), values, 8);
  td_write_file(td_here("r/e/_tensordict/1/x.memmap"), values, 12);
  TD_DO(td_memmap_load(td_here("r"), NULL, &td));
  tensorclass = td_take_dict(td, TD_KEY("e"));
  TD_DO(td_tensorclass_of(tensorclass, &type));
  TD_CHECK(type != NULL);
  TD_CHECK_INT(td_tensorclass_len(type), 2);
  td_tensorclass_free(type);
  td_free(tensorclass);
  td_free(td);
  check_again("r");
}

/* The status and the message of a load on so many threads; the first ones must be those of one thread. */
static void check_same_failure(const char *name) {
  td_tensordict *td = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  char message[4096];
  const td_status one = td_memmap_load(td_here(name), &options, &td);
  TD_CHECK(one != TD_OK);
  snprintf(message, sizeof message, "%s", td_last_error_message());
  options.num_threads = 4;
  for (int i = 0; i < 20; i++) {
    TD_EXPECT_NULL(td_memmap_load(td_here(name), &options, &td), one, td);
    TD_CHECK_SAME_TEXT(td_last_error_message(), message);
  }
}

TD_TEST(threads_load_what_one_thread_loads) {
  td_tensordict *td = td_sample(), *lazy = NULL, *saved = NULL, *one = td_sample(), *four = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  td_memmap_options how = TD_MEMMAP_OPTIONS_INIT;
  char key[32];
  for (int i = 0; i < 40; i++) {
    snprintf(key, sizeof key, "leaf_%02d", i);
    if (i % 2 == 0) td_put(td, TD_KEY(key), td_arange(TD_DTYPE_INT64, i, TD_SIZES(4, 3)));
    if (i % 2 == 1) td_put(td, TD_KEY("deep", key), td_arange(TD_DTYPE_INT64, i, TD_SIZES(4, 3)));
  }
  TD_DO(td_lazy_stack(((const td_tensordict *const[]){one, one}), 2, 2, &lazy));
  td_free(one);
  TD_DO(td_set_dict(td, TD_KEY("lazy"), lazy));
  how.compression = TD_COMPRESSION_DEFLATE;
  const char *const names[] = {"folder", "packed.tdz"};
  for (size_t i = 0; i < 2; i++) {
    TD_DO(td_memmap(td, td_here(names[i]), i == 0 ? NULL : &how, &saved));
    td_free(saved);
    TD_DO(td_memmap_load(td_here(names[i]), NULL, &one));
    options.num_threads = 4;
    TD_DO(td_memmap_load(td_here(names[i]), &options, &four));
    TD_CHECK_EQUAL(four, td);
    how.copy_existing = 1;
    how.compression = TD_COMPRESSION_STORED;
    TD_DO(td_memmap(one, td_here("again_one"), &how, &saved));
    td_free(saved);
    TD_DO(td_memmap(four, td_here("again_four"), &how, &saved));
    td_free(saved);
    TD_CHECK_SAME_TREE(td_here("again_four"), td_here("again_one"));
  }
  options.num_threads = -1;
  TD_EXPECT_NULL(td_memmap_load(td_here("folder"), &options, &one), TD_ERR_INVALID_ARGUMENT, one);

  /* The first damage in the order of the folder is named, whether values or a meta.json. */
  td_write_text(td_here("folder/lazy/1/a.memmap"), "");
  check_same_failure("folder");
  td_write_text(td_here("folder/deep/leaf_31.memmap"), "short");
  td_write_text(td_here("folder/deep/leaf_21.memmap"), "short");
  check_same_failure("folder");
  td_write_text(td_here("folder/leaf_20.memmap"), "short");
  check_same_failure("folder");
  td_write_text(td_here("folder/lazy/1/meta.json"), "{");
  check_same_failure("folder");
}
