/* Files of Parquet and Arrow: written, read, compared; which file is one; a build without the module. */
#define _GNU_SOURCE /* dladdr */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mount.h>
#endif

#include "td_arrow_files.h"
#include "td_process.h"

static const char *const names[] = {"a.parquet", "a.arrow", "a.feather"};
enum { NAMES = sizeof names / sizeof *names };

TD_TEST(every_dtype_there_and_back) {
  need_arrow();
  static const int64_t rows[] = {7, 1, 0};
  for (size_t n = 0; n < NAMES; n++) {
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      td_tensordict *td = arrow_sample(rows[r]), *again = NULL;
      td_file_options options = TD_FILE_OPTIONS_INIT;
      for (options.deflate = 0; options.deflate < 2; options.deflate++) {
        options.durable = options.deflate;
        TD_DO(td_file_save(td, file_named(names[n]), &options));
        check_holds(file_named(names[n]), td, names[n]);
      }
      TD_DO(td_file_load(file_named(names[n]), NULL, &again));
      TD_CHECK_BATCH(again, rows[r]);
      TD_CHECK_DTYPE(again, TD_KEY("lists", "deep.er", "f2"), TD_DTYPE_FLOAT16);
      TD_CHECK_DTYPE(again, TD_KEY("lists", "u1"), TD_DTYPE_UINT8);
      TD_CHECK_DTYPE(again, TD_KEY("bool"), TD_DTYPE_BOOL);
      TD_CHECK_JSON(again, TD_KEY("lists", "deep.er", "below"), "{\"k\":[1,null]}");
      TD_CHECK_JSON(again, TD_KEY("all"), "[1,\"two\"]");
      td_free(again);
      td_free(td);
    }
  }
}

TD_TEST(a_value_for_each_row) {
  need_arrow();
  static const char *const values[] = {"[\"a\", null, \"h\xc3\xa9llo\", \"\"]",
                                       "[1, \"two\", [3], null]"};
  for (size_t n = 0; n < NAMES; n++) {
    for (size_t i = 0; i < 2; i++) {
      td_tensordict *td = td_empty(TD_SIZES(4)), *again = NULL;
      char text[256] = "";
      size_t length = 0;
      TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("v"), values[i]));
      TD_DO(td_file_save(td, file_named(names[n]), NULL));
      TD_DO(td_file_load(file_named(names[n]), NULL, &again));
      TD_DO(td_get_non_tensor_stack_json(again, TD_KEY("v"), text, sizeof text, &length));
      TD_CHECK_SAME_TEXT(text, values[i]);
      td_free(again);
      td_free(td);
    }
  }
}

/* More than 128 MiB are several row groups; they are one tensor again. */
TD_TEST(many_row_groups) {
  need_arrow();
  td_tensordict *td = td_empty(TD_SIZES(300));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT32, 0, TD_SIZES(300)));
  td_put(td, TD_KEY("big"), td_filled(TD_DTYPE_FLOAT64, 0.5, TD_SIZES(300, 1 << 16)));
  TD_DO(td_file_save(td, file_named("g.parquet"), NULL));
  TD_CHECK(td_file_size(file_named("g.parquet")) < 1 << 20);
  check_holds(file_named("g.parquet"), td, "row groups");
}

TD_TEST(names_that_are_joined) {
  need_arrow();
  td_tensordict *td = td_empty(TD_SIZES(2)), *again = NULL;
  td_put(td, TD_KEY("n", "m", "x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("n.y"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.separator = ".";
  TD_DO(td_file_save(td, file_named("j.parquet"), &options));
  TD_DO(td_file_load(file_named("j.parquet"), NULL, &again)); /* as they stand there */
  TD_CHECK_ENTRY(again, TD_KEY("n.m.x"), TD_SIZES(2), TD_VALUES(0, 1));
  td_free(again);
  TD_DO(td_file_load(file_named("j.parquet"), &options, &again));
  TD_CHECK_ENTRY(again, TD_KEY("n", "m", "x"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_CHECK_ENTRY(again, TD_KEY("n", "y"), TD_SIZES(2), TD_VALUES(5, 6));
  td_free(again);
  td_put(td, TD_KEY("n.m.x"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  TD_EXPECT(td_file_save(td, file_named("twice.parquet"), &options), TD_ERR_KEY_EXISTS);
  TD_CHECK(!td_exists(file_named("twice.parquet")));
}

TD_TEST(batch_sizes_beyond_the_rows) {
  need_arrow();
  td_tensordict *td = td_sample(), *again = NULL, *inner; /* of batch [4, 3] */
  td_file_options options = TD_FILE_OPTIONS_INIT;
  for (size_t n = 0; n < NAMES; n++) {
    TD_DO(td_file_save(td, file_named(names[n]), NULL));
    options.batch_dims = 0;
    TD_DO(td_file_load(file_named(names[n]), &options, &again));
    TD_CHECK_BATCH(again, 4);
    td_free(again);
    options.batch_dims = 2;
    TD_DO(td_file_load(file_named(names[n]), &options, &again));
    TD_CHECK_BATCH(again, 4, 3);
    inner = td_take_dict(again, TD_KEY("n"));
    TD_CHECK_BATCH(inner, 4, 3);
    td_free(inner);
    td_free(again);
    options.batch_dims = 3;
    TD_EXPECT_NULL(td_file_load(file_named(names[n]), &options, &again), TD_ERR_SHAPE, again);
  }
}

/* One record batch that is not compressed lies in the file as it is in memory. */
TD_TEST(arrow_is_mapped_and_stays_when_the_file_goes) {
  need_arrow();
  td_tensordict *td = td_empty(TD_SIZES(1 << 16)), *again = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1 << 16)));
  TD_DO(td_file_save(td, file_named("m.arrow"), NULL));
  TD_DO(td_file_load(file_named("m.arrow"), NULL, &again));
  remove(file_named("m.arrow"));
  td_tensor *a = td_take(again, TD_KEY("a"));
  void *data = NULL;
  TD_DO(td_tensor_data(a, &data));
  TD_CHECK_INT((int64_t)((uintptr_t)data % 8), 0);
  td_free(again);
  TD_CHECK_INT(((const int64_t *)data)[65535], 65535);
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  int mapped = 0;
  while (maps && fgets(line, sizeof line, maps)) {
    unsigned long first = 0, end = 0;
    if (sscanf(line, "%lx-%lx", &first, &end) == 2 && (uintptr_t)data >= first &&
        (uintptr_t)data < end)
      mapped = strstr(line, "m.arrow") != NULL;
  }
  if (maps) {
    fclose(maps);
    TD_CHECK(mapped);
  }
  ((int64_t *)data)[0] = 7; /* stays in this process */
}

static int threads_here(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/task");
  if (!folder) return 0;
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

TD_TEST(no_thread_is_started) {
  need_arrow();
  td_tensordict *td = arrow_sample(100);
  const int before = threads_here();
  for (size_t n = 0; n < NAMES; n++) {
    TD_DO(td_file_save(td, file_named(names[n]), NULL));
    check_holds(file_named(names[n]), td, names[n]);
  }
  TD_CHECK_INT(threads_here(), before);
}

/* The content says what a file is, unless its name says something else. */
TD_TEST(which_files_are_tables) {
  need_arrow();
  td_tensordict *td = td_empty(TD_SIZES(2)), *again = TD_POISON;
  td_file_options options = TD_FILE_OPTIONS_INIT;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  for (options.format = TD_FILE_PARQUET; options.format <= TD_FILE_ARROW; options.format++) {
    TD_DO(td_file_save(td, file_named("unnamed"), &options));
    check_holds(file_named("unnamed"), td, "by content");
    TD_DO(td_file_save(td, file_named("other.npz"), &options));
    TD_EXPECT_NULL(td_file_load(file_named("other.npz"), NULL, &again), TD_ERR_FORMAT, again);
    TD_CHECK_TEXT(td_last_error_message(), "by its content, not by its name");
    TD_DO(td_file_load(file_named("other.npz"), &options, &again));
    td_free(again);
    options.write_through = 1;
    TD_EXPECT_NULL(td_file_load(file_named("unnamed"), &options, &again), TD_ERR_UNSUPPORTED,
                   again);
    options.write_through = 0;
    td_tensor *tensor = TD_POISON;
    TD_EXPECT_NULL(td_file_load_tensor(file_named("unnamed"), NULL, &tensor), TD_ERR_WRONG_ENTRY,
                   tensor);
    size_t length = 0;
    TD_EXPECT(td_file_metadata(file_named("unnamed"), NULL, NULL, 0, &length), TD_ERR_WRONG_ENTRY);
  }
  td_write_text(file_named("text.parquet"), "no table");
  TD_EXPECT_NULL(td_file_load(file_named("text.parquet"), NULL, &again), TD_ERR_FORMAT, again);
  TD_CHECK_TEXT(td_last_error_message(), "does not begin with PAR1");
  td_write_text(file_named("short.arrow"), "ARROW1");
  TD_EXPECT_NULL(td_file_load(file_named("short.arrow"), NULL, &again), TD_ERR_FORMAT, again);
}

/* The old file stays, and nothing beside it. */
static void check_refused(const td_tensordict *td, td_status status, const char *words) {
  for (size_t n = 0; n < NAMES; n++) {
    td_write_text(file_named(names[n]), "old");
    TD_EXPECT(td_file_save(td, file_named(names[n]), NULL), status);
    if (!strstr(td_last_error_message(), words))
      td_test_fail(__FILE__, __LINE__, "\"%s\" and not \"%s\"", td_last_error_message(), words);
    TD_CHECK_INT(td_file_size(file_named(names[n])), 3);
    remove(file_named(names[n]));
  }
}

TD_TEST(what_no_table_holds) {
  need_arrow();
  td_tensordict *td = td_empty(TD_NO_SIZES);
  remove(file_named("probe.arrow"));
  check_refused(td, TD_ERR_SHAPE, "needs a batch dimension");
  td_free(td);
  static const td_dtype dtypes[] = {TD_DTYPE_COMPLEX64, TD_DTYPE_BFLOAT16};
  for (size_t i = 0; i < 2; i++) {
    td = td_empty(TD_SIZES(2));
    td_put(td, TD_KEY("a"), td_converted(dtypes[i], TD_SIZES(2)));
    check_refused(td, TD_ERR_DTYPE, "which Arrow lacks");
  }
  /* Deeper than the libraries go. */
  td = td_empty(TD_SIZES(2));
  const char *path[100];
  for (size_t i = 0; i < 100; i++) path[i] = "n";
  td_put(td, path, 100, td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  check_refused(td, TD_ERR_UNSUPPORTED, "cannot be written");
  td_free(td);
  TD_CHECK_INT(td_count_entries(td_test_folder()), 0);
}

TD_TEST(limits_of_depth_and_entries) {
  need_arrow();
  td_tensordict *td = arrow_sample(2), *again = TD_POISON;
  td_file_options options = TD_FILE_OPTIONS_INIT;
  for (size_t n = 0; n < NAMES; n++) {
    TD_DO(td_file_save(td, file_named(names[n]), NULL));
    options.max_entries = 10;
    options.max_depth = 0;
    TD_EXPECT_NULL(td_file_load(file_named(names[n]), &options, &again), TD_ERR_FORMAT, again);
    TD_CHECK_TEXT(td_last_error_message(), names[n]);
    options.max_entries = 0;
    options.max_depth = 2;
    TD_EXPECT_NULL(td_file_load(file_named(names[n]), &options, &again), TD_ERR_FORMAT, again);
  }
}

/* The library from a folder of its own, where no module lies. */
TD_TEST(child_without_the_module) {
  td_role();
  td_tensordict *td = td_empty(TD_SIZES(2)), *again = TD_POISON;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  check_refused(td, TD_ERR_UNSUPPORTED, "-Darrow=enabled");
  td_write_text(file_named("a.parquet"), "PAR1, and what comes then");
  TD_EXPECT_NULL(td_file_load(file_named("a.parquet"), NULL, &again), TD_ERR_UNSUPPORTED, again);
  TD_CHECK_TEXT(td_last_error_message(), "tensordict-arrow.so");
  TD_CHECK_TEXT(td_last_error_message(), "libparquet-dev");
}

TD_TEST(without_the_module_a_message_says_what_to_do) {
  if (TD_TEST_SANITIZED) td_test_skip("a sanitizer wants to be loaded first");
  Dl_info info;
  void *address = dlsym(RTLD_DEFAULT, "td_file_load");
  TD_CHECK(address != NULL && dladdr(address, &info) != 0);
  size_t size = 0;
  char *bytes = td_read_file(info.dli_fname, &size);
  const char *copy = file_named("libtensordict.so");
  td_write_file(copy, bytes, size);
  free(bytes);
  setenv("LD_PRELOAD", copy, 1);
  const int child = td_spawn("child_without_the_module", "without");
  unsetenv("LD_PRELOAD");
  TD_CHECK(td_join(child));
}

/* The old file stays, and nothing half-written beside it. */
TD_TEST(a_full_disk) {
  need_arrow();
#if defined(__linux__)
  const char *disk = file_named("disk");
  td_make_folder(disk);
  if (mount("none", disk, "tmpfs", 0, "size=1m") != 0) td_test_skip("mount is not permitted");
  td_tensordict *td = td_empty(TD_SIZES(4)), *small = td_empty(TD_SIZES(1));
  td_put(td, TD_KEY("big"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4, 1 << 18)));
  td_put(small, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1)));
  td_status statuses[NAMES];
  int left[NAMES], same[NAMES];
  char messages[NAMES][1024];
  for (int i = 0; i < NAMES; i++) {
    const char *path = td_path(disk, names[i]);
    td_tensordict *again = NULL;
    int32_t equal = 0;
    TD_DO(td_file_save(small, path, NULL));
    statuses[i] = td_file_save(td, path, NULL);
    snprintf(messages[i], sizeof messages[i], "%s", td_last_error_message());
    left[i] = td_count_entries(disk);
    if (td_file_load(path, NULL, &again) == TD_OK && td_equal(again, small, &equal) != TD_OK)
      equal = 0;
    same[i] = equal;
    td_free(again);
    remove(path);
  }
  umount(disk);
  td_free(td);
  td_free(small);
  for (int i = 0; i < NAMES; i++) {
    TD_CHECK_INT(statuses[i], TD_ERR_IO);
    TD_CHECK_TEXT(messages[i], "No space left");
    TD_CHECK_INT(left[i], 1);
    TD_CHECK_INT(same[i], 1);
  }
#else
  td_test_skip("only on Linux");
#endif
}
