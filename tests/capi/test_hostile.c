/* Folders that are damaged, or made to do harm. Each must give a clear status and change nothing. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "td_files.h"
#include "td_values.h"

#define NODE "\"shape\":[4],\"device\":\"cpu\",\"_type\":\"<class 'tensordict._td.TensorDict'>\"}"
#define LEAF(name, sizes)                             \
  "\"" name "\":{\"device\":\"cpu\",\"shape\":" sizes \
  ",\"dtype\":\"torch.float32\",\"is_nested\":false},"

/* A folder with this meta.json and a leaf "a" of 16 bytes. */
static void make(const char *name, const char *meta) {
  static const char bytes[16] = {0};
  td_make_folder(td_here(name));
  td_write_text(td_path(td_here(name), "meta.json"), meta);
  td_write_file(td_path(td_here(name), "a.memmap"), bytes, sizeof bytes);
}

static void refuse(const char *name, td_status want) {
  td_tensordict *td;
  TD_EXPECT_NULL(td_memmap_load(td_here(name), NULL, &td), want, td);
}

TD_TEST(the_good_folder_is_accepted) {
  td_tensordict *td = NULL;
  make("good", "{" LEAF("a", "[4]") NODE);
  TD_DO(td_memmap_load(td_here("good"), NULL, &td));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 0, 0, 0));
}

TD_TEST(no_folder_and_no_meta) {
  refuse("nowhere", TD_ERR_IO);
  TD_CHECK_TEXT(td_last_error_message(), "nowhere");
  td_make_folder(td_here("empty"));
  refuse("empty", TD_ERR_IO);
  TD_CHECK_TEXT(td_last_error_message(), "meta.json");
  td_tensordict *td;
  TD_CHECK(td_memmap_load("", NULL, &td) != TD_OK);
  TD_CHECK(td == NULL);
  TD_CHECK(td_memmap_load("\xff\xfe", NULL, &td) != TD_OK);
}

TD_TEST(meta_that_is_not_json) {
  static const char *const texts[] = {
      "",  "{",    "not json",         "{\"a\":}",   "[1,2]",
      "7", "null", "{\"a\":1}garbage", "\xff\xfe{}", "{\"\\ud800\":1}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char name[16];
    snprintf(name, sizeof name, "f%zu", i);
    make(name, texts[i]);
    refuse(name, TD_ERR_FORMAT);
    TD_CHECK_TEXT(td_last_error_message(), "meta.json");
  }
}

TD_TEST(fields_that_are_not_what_they_should_be) {
  static const char *const texts[] = {
      "{\"shape\":[4],\"device\":\"cpu\"}", /* no _type */
      "{\"shape\":[4],\"device\":\"cpu\",\"_type\":7}",
      "{" LEAF("a", "\"4\"") NODE,
      "{" LEAF("a", "[4.5]") NODE,
      "{" LEAF("a", "[\"4\"]") NODE,
      "{" LEAF("a", "[true]") NODE,
      "{" LEAF("a", "[-4]") NODE,
      "{" LEAF("a", "{}") NODE,
      "{\"shape\":[-1],\"device\":\"cpu\",\"_type\":\"<class 'tensordict._td.TensorDict'>\"}",
      "{\"shape\":7,\"device\":\"cpu\",\"_type\":\"<class 'tensordict._td.TensorDict'>\"}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char name[16];
    td_tensordict *td = TD_POISON;
    snprintf(name, sizeof name, "f%zu", i);
    make(name, texts[i]);
    const td_status status = td_memmap_load(td_here(name), NULL, &td);
    if (status != TD_ERR_FORMAT)
      td_test_fail(__FILE__, __LINE__, "%s gave %s", texts[i], td_status_name(status));
    TD_CHECK(td == NULL);
  }
}

TD_TEST(dtypes_and_classes_that_are_not_known) {
  make("dtype",
       "{\"a\":{\"device\":\"cpu\",\"shape\":[4],\"dtype\":\"torch.float7\",\"is_nested\":false}"
       "," NODE);
  td_tensordict *td = TD_POISON;
  const td_status status = td_memmap_load(td_here("dtype"), NULL, &td);
  TD_CHECK(status == TD_ERR_DTYPE || status == TD_ERR_FORMAT);
  TD_CHECK_TEXT(td_last_error_message(), "torch.float7");
  TD_CHECK_TEXT(td_last_error_message(), "a");
  make("class", "{\"shape\":[4],\"device\":\"cpu\",\"_type\":\"<class 'os.system'>\"}");
  refuse("class", TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "os.system");
}

/* meta.json with the same thing opened `depth` times. */
static void make_deep(const char *name, const char *open, size_t depth, const char *middle) {
  static char text[1 << 20];
  const size_t step = strlen(open);
  TD_CHECK(depth * (step + 1) + 4096 < sizeof text);
  size_t used = (size_t)sprintf(text, "{\"x\":");
  for (size_t i = 0; i < depth; i++, used += step) memcpy(text + used, open, step);
  used += (size_t)sprintf(text + used, "%s", middle);
  for (size_t i = 0; i < depth; i++) text[used++] = open[0] == '[' ? ']' : '}';
  sprintf(text + used, "," LEAF("a", "[4]") NODE);
  make(name, text);
}

TD_TEST(json_nested_100000_deep) {
  make_deep("lists", "[", 100000, "1");
  refuse("lists", TD_ERR_FORMAT);
  make_deep("objects", "{\"x\":", 100000, "1");
  refuse("objects", TD_ERR_FORMAT);
  make_deep("open", "[", 100000, "");
  refuse("open", TD_ERR_FORMAT);
}

TD_TEST(folders_nested_deeper_than_allowed) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *mapped = NULL, *loaded;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  td_put(td, TD_KEY("1", "2", "3", "4", "5", "x"), td_arange(TD_DTYPE_INT8, 0, TD_NO_SIZES));
  TD_DO(td_memmap(td, td_here("deep"), NULL, &mapped));
  options.max_depth = 4;
  TD_EXPECT_NULL(td_memmap_load(td_here("deep"), &options, &loaded), TD_ERR_FORMAT, loaded);
  options.max_depth = 6;
  TD_DO(td_memmap_load(td_here("deep"), &options, &loaded));
  td_free(loaded);
  options.max_entries = 3;
  TD_EXPECT_NULL(td_memmap_load(td_here("deep"), &options, &loaded), TD_ERR_FORMAT, loaded);
}

TD_TEST(sizes_that_overflow) {
  static const char *const sizes[] = {
      "[4,4611686018427387904,4611686018427387904]", /* the product wraps to 0 */
      "[4,4611686018427387904]",                     /* the product wraps to 0 at once */
      "[4,2305843009213693952]",                     /* the bytes wrap */
      "[4,9223372036854775807]",
      "[4,9223372036854775808]",
      "[4,99999999999999999999999999]",
      "[4,1e30]",
  };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char name[16], meta[512];
    snprintf(name, sizeof name, "f%zu", i);
    snprintf(meta, sizeof meta,
             "{\"a\":{\"device\":\"cpu\",\"shape\":%s,\"dtype\":\"torch.float32\",\"is_nested\":"
             "false}," NODE,
             sizes[i]);
    make(name, meta);
    refuse(name, TD_ERR_FORMAT);
  }
}

TD_TEST(sizes_that_do_not_fit_the_batch) {
  make("leaf", "{" LEAF("a", "[2,2]") NODE);
  td_tensordict *td = TD_POISON;
  td_status status = td_memmap_load(td_here("leaf"), NULL, &td);
  TD_CHECK(status == TD_ERR_FORMAT || status == TD_ERR_SHAPE);
  TD_CHECK(td == NULL);
  make("node", "{\"n\":{\"type\":\"TensorDict\"}," NODE);
  td_make_folder(td_here("node/n"));
  td_write_text(
      td_here("node/n/meta.json"),
      "{\"shape\":[3],\"device\":\"cpu\",\"_type\":\"<class 'tensordict._td.TensorDict'>\"}");
  status = td_memmap_load(td_here("node"), NULL, &td);
  TD_CHECK(status == TD_ERR_FORMAT || status == TD_ERR_SHAPE);
  TD_CHECK(td == NULL);
}

TD_TEST(files_of_the_wrong_length) {
  static const char bytes[20] = {0};
  make("short", "{" LEAF("a", "[4]") NODE);
  td_write_file(td_here("short/a.memmap"), bytes, 15);
  refuse("short", TD_ERR_FORMAT);
  TD_CHECK_TEXT(td_last_error_message(), "a.memmap");
  TD_CHECK_TEXT(td_last_error_message(), "15");
  TD_CHECK_TEXT(td_last_error_message(), "16");
  TD_CHECK_INT(td_file_size(td_here("short/a.memmap")), 15); /* never extended */
  td_write_file(td_here("short/a.memmap"), bytes, 0);
  refuse("short", TD_ERR_FORMAT);
  td_write_file(td_here("short/a.memmap"), bytes, 20); /* longer is fine: the tail is ignored */
  td_tensordict *td = NULL;
  TD_DO(td_memmap_load(td_here("short"), NULL, &td));
  td_free(td);
  TD_CHECK_INT(td_file_size(td_here("short/a.memmap")), 20);
}

TD_TEST(files_that_are_missing) {
  make("leaf", "{" LEAF("a", "[4]") LEAF("gone", "[4]") NODE);
  td_tensordict *td = TD_POISON;
  td_status status = td_memmap_load(td_here("leaf"), NULL, &td);
  TD_CHECK(status == TD_ERR_IO || status == TD_ERR_FORMAT);
  TD_CHECK_TEXT(td_last_error_message(), "gone");
  TD_CHECK(td == NULL);
  make("node", "{\"gone\":{\"type\":\"TensorDict\"}," NODE);
  status = td_memmap_load(td_here("node"), NULL, &td);
  TD_CHECK(status == TD_ERR_IO || status == TD_ERR_FORMAT);
  TD_CHECK_TEXT(td_last_error_message(), "gone");
}

TD_TEST(names_that_leave_the_folder) {
  static const char *const names[] = {"..", "../secret", "/etc/passwd", "x/../../secret",
                                      ".",  "C:secret"};
  static const char bytes[16] = {0};
  td_write_file(td_here("secret.memmap"), bytes, sizeof bytes);
  td_make_folder(td_here("secret"));
  td_write_text(td_here("secret/meta.json"), "{" NODE);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    for (int32_t verbatim = 0; verbatim < 2; verbatim++) {
      char name[16], meta[512];
      td_load_options options = TD_LOAD_OPTIONS_INIT;
      td_tensordict *td = TD_POISON;
      options.verbatim_names = verbatim;
      snprintf(name, sizeof name, "l%zu%d", i, (int)verbatim);
      snprintf(meta, sizeof meta,
               "{\"%s\":{\"device\":\"cpu\",\"shape\":[4],\"dtype\":\"torch.float32\",\"is_"
               "nested\":false}," NODE,
               names[i]);
      make(name, meta);
      TD_CHECK(td_memmap_load(td_here(name), &options, &td) != TD_OK);
      TD_CHECK(td == NULL);
      snprintf(name, sizeof name, "n%zu%d", i, (int)verbatim);
      snprintf(meta, sizeof meta, "{\"%s\":{\"type\":\"TensorDict\"}," NODE, names[i]);
      make(name, meta);
      TD_CHECK(td_memmap_load(td_here(name), &options, &td) != TD_OK);
      TD_CHECK(td == NULL);
    }
  }
}

TD_TEST(symbolic_links_are_not_followed) {
  static const char bytes[16] = {0};
  td_tensordict *td = TD_POISON, *sample = td_sample();
  make("target", "{" LEAF("a", "[4]") NODE);
  make("file", "{" LEAF("a", "[4]") NODE);
  TD_CHECK(unlink(td_here("file/a.memmap")) == 0);
  TD_CHECK(symlink(td_here("target/a.memmap"), td_here("file/a.memmap")) == 0);
  td_status status = td_memmap_load(td_here("file"), NULL, &td);
  TD_CHECK(status == TD_ERR_IO || status == TD_ERR_FORMAT);
  TD_CHECK(td == NULL);
  make("node", "{\"n\":{\"type\":\"TensorDict\"}," NODE);
  TD_CHECK(symlink(td_here("target"), td_here("node/n")) == 0);
  status = td_memmap_load(td_here("node"), NULL, &td);
  TD_CHECK(status == TD_ERR_IO || status == TD_ERR_FORMAT);
  TD_CHECK(td == NULL);

  td_write_file(td_here("precious"), bytes, sizeof bytes); /* saving must not write through one */
  td_make_folder(td_here("out"));
  TD_CHECK(symlink(td_here("precious"), td_here("out/a.memmap")) == 0);
  status = td_memmap(sample, td_here("out"), NULL, &td);
  if (status == TD_OK) td_free(td);
  TD_CHECK(status == TD_OK || status == TD_ERR_IO);
  TD_CHECK_INT(td_file_size(td_here("precious")), 16);
  td_make_folder(td_here("out2"));
  td_make_folder(td_here("elsewhere"));
  TD_CHECK(symlink(td_here("elsewhere"), td_here("out2/n")) == 0);
  status = td_memmap(sample, td_here("out2"), NULL, &td);
  if (status == TD_OK) td_free(td);
  TD_CHECK_INT(td_count_entries(td_here("elsewhere")), 0);
}

TD_TEST(leaves_that_are_no_files) {
  make("folder", "{" LEAF("a", "[4]") NODE);
  TD_CHECK(unlink(td_here("folder/a.memmap")) == 0);
  td_make_folder(td_here("folder/a.memmap"));
  td_tensordict *td = TD_POISON;
  td_status status = td_memmap_load(td_here("folder"), NULL, &td);
  TD_CHECK(status == TD_ERR_IO || status == TD_ERR_FORMAT);
  make("pipe", "{" LEAF("a", "[4]") NODE);
  TD_CHECK(unlink(td_here("pipe/a.memmap")) == 0);
  TD_CHECK(mkfifo(td_here("pipe/a.memmap"), 0600) == 0);
  status = td_memmap_load(td_here("pipe"), NULL, &td); /* must not wait for a writer */
  TD_CHECK(status == TD_ERR_IO || status == TD_ERR_FORMAT);
  TD_CHECK(td == NULL);
}

TD_TEST(fields_that_are_unknown_or_missing_are_no_harm) {
  td_tensordict *td = NULL;
  make("more", "{\"version\":2,\"note\":null," LEAF("a", "[4]") NODE);
  TD_DO(td_memmap_load(td_here("more"), NULL, &td));
  td_free(td);
  make("less",
       "{ \"_type\" : \"<class 'tensordict._td.TensorDict'>\" ,\n\t\"a\": {\"dtype\": "
       "\"torch.float32\", \"shape\": [4]}}");
  TD_DO(td_memmap_load(td_here("less"), NULL, &td));
  TD_CHECK_NO_BATCH(td);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 0, 0, 0));
}
