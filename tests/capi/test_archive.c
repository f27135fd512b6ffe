/* Archives: one file that Python reads, opened without a copy, packed and unpacked. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "td_files.h"
#include "td_values.h"

/* The bytes of two archives are the same but for the times, which stand at 10 in each header and at 12
 * in each record of the directory. */
static void check_same_archive(const char *got, const char *want) {
  size_t n = 0, m = 0;
  char *one = td_read_file(got, &n), *other = td_read_file(want, &m);
  TD_CHECK_INT(n, m);
  for (size_t i = 0; i + 16 < n; i++) {
    if (memcmp(one + i, "PK\3\4", 4) == 0) memset(one + i + 10, 0, 4), memset(other + i + 10, 0, 4);
    if (memcmp(one + i, "PK\1\2", 4) == 0) memset(one + i + 12, 0, 4), memset(other + i + 12, 0, 4);
  }
  TD_CHECK(memcmp(one, other, n) == 0);
  free(one);
  free(other);
}

static void check_golden(const char *name, td_compression compression) {
  td_tensordict *td = td_loaded(td_golden(name)), *again = NULL;
  TD_CHECK_BATCH(td, 4);
  TD_CHECK_FLAG(td_is_locked, td, 0);
  TD_CHECK_FLAG(td_is_memmap, td, 0);
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.compression = compression;
  TD_DO(td_memmap(td, td_here("again.tdz"), &options, &again));
  TD_CHECK_EQUAL(td, again);
  check_same_archive(td_here("again.tdz"), td_golden(name));
  td_free(again);
  td_free(td);
}

TD_TEST(golden_archives_both_ways) {
  check_golden("archive_stored.tdz", TD_COMPRESSION_STORED);
  check_golden("archive_deflate.tdz", TD_COMPRESSION_DEFLATE);
  td_tensordict *one = td_loaded(td_golden("archive_stored.tdz"));
  td_tensordict *other = td_loaded(td_golden("archive_deflate.tdz"));
  td_tensor *b = td_take(one, TD_KEY("n", "b"));
  td_dtype dtype = TD_DTYPE_OTHER;
  TD_DO(td_tensor_dtype(b, &dtype));
  TD_CHECK_INT(dtype, TD_DTYPE_INT64);
  TD_CHECK_VALUES(b, 0x4c75, 0x335f, 0x2aed, 0x27c7);
  td_tensor_free(b);
  TD_CHECK_SIZES((b = td_take(other, TD_KEY("n", "c"))), 4, 5);
  td_tensor_free(b);
  TD_CHECK_EQUAL(one, other);
}

/* Every kind of node that a folder can hold. */
static const char *const folders[] = {"basic",
                                      "dtypes",
                                      "keys",
                                      "empties",
                                      "batchless",
                                      "zero_batch",
                                      "longer_nested_batch",
                                      "views",
                                      "nontensor",
                                      "nontensor_stack",
                                      "lazy_same",
                                      "lazy_nested",
                                      "lazy_hetero",
                                      "tensorclass",
                                      "digits",
                                      "ragged"};

TD_TEST(packed_and_unpacked) {
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    td_tensordict *want = NULL, *saved = NULL;
    td_load_options options = TD_LOAD_OPTIONS_INIT;
    options.private_mapping = 1;
    TD_DO(td_memmap_load(td_golden(folders[i]), &options, &want));
    TD_DO(td_memmap_pack(td_golden(folders[i]), td_here("a.tdz"), NULL));
    td_tensordict *packed = td_loaded(td_here("a.tdz"));
    TD_CHECK_EQUAL(want, packed);
    TD_DO(td_memmap_unpack(td_here("a.tdz"), td_here("back"), NULL));
    TD_CHECK_SAME_TREE(td_here("back"), td_golden(folders[i]));
    td_memmap_options how = TD_MEMMAP_OPTIONS_INIT;
    how.archive = TD_ARCHIVE_YES;
    how.compression = TD_COMPRESSION_DEFLATE;
    how.copy_existing = 1;
    how.num_threads = 3;
    TD_DO(td_memmap(want, td_here("b"), &how, &saved));
    TD_CHECK_EQUAL(want, saved);
    td_free(saved);
    td_free(packed);
    td_free(want);
    char command[1100];
    snprintf(command, sizeof command, "rm -r '%s'", td_here("back"));
    TD_CHECK(system(command) == 0);
  }
}

TD_TEST(the_same_file_from_a_dictionary_and_from_its_folder) {
  td_tensordict *td = td_sample(), *mapped = NULL, *archive = NULL;
  TD_DO(td_memmap(td, td_here("m"), NULL, &mapped));
  TD_DO(td_memmap(td, td_here("one.tdz"), NULL, &archive));
  td_free(archive);
  TD_DO(td_memmap(mapped, td_here("two.tdz"), NULL, &archive));
  TD_DO(td_memmap_pack(td_here("m"), td_here("three.tdz"), NULL));
  check_same_archive(td_here("two.tdz"), td_here("one.tdz"));
  check_same_archive(td_here("three.tdz"), td_here("one.tdz"));
  td_memmap_pack_options options = TD_MEMMAP_PACK_OPTIONS_INIT;
  options.compression = TD_COMPRESSION_DEFLATE;
  options.durable = 1;
  TD_DO(td_memmap_pack(td_here("m"), td_here("three.tdz"), &options));
  TD_CHECK(td_file_size(td_here("three.tdz")) < td_file_size(td_here("one.tdz")));
  td_free(archive);
  archive = td_loaded(td_here("three.tdz"));
  TD_CHECK_EQUAL(td, archive);
}

static void set_first(const td_tensordict *td, const char *const *path, size_t path_len,
                      double value) {
  td_tensor *tensor = td_take(td, path, path_len);
  void *data = NULL;
  TD_DO(td_tensor_data(tensor, &data));
  *(float *)data = (float)value;
  td_tensor_free(tensor);
}

TD_TEST(what_is_written_stays_here_unless_asked_for) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *loaded = NULL, *other;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  TD_DO(td_memmap(td, td_here("x.tdz"), NULL, &loaded));
  set_first(loaded, TD_KEY("x"), 7);
  TD_CHECK_ENTRY(loaded, TD_KEY("x"), TD_SIZES(2), TD_VALUES(7, 2));
  td_free(loaded);
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.write_through = 1;
  TD_DO(td_memmap_load(td_here("x.tdz"), &options, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("x"), TD_SIZES(2), TD_VALUES(1, 2));
  set_first(loaded, TD_KEY("x"), 8);
  TD_DO(td_memmap_flush(loaded));
  other = td_loaded(td_here("x.tdz"));
  TD_CHECK_ENTRY(other, TD_KEY("x"), TD_SIZES(2), TD_VALUES(8, 2));
  td_free(other);
  td_free(loaded);
  /* The checksum is that of the old values, which whoever unpacks is told. */
  TD_EXPECT(td_memmap_unpack(td_here("x.tdz"), td_here("back"), NULL), TD_ERR_FORMAT);
  TD_CHECK_TEXT(td_last_error_message(), "checksum");
  TD_CHECK(!td_exists(td_here("back")));
  TD_DO(td_memmap_write_archive_checksums(td_here("x.tdz")));
  TD_DO(td_memmap_unpack(td_here("x.tdz"), td_here("back"), NULL));
  other = td_loaded(td_here("back"));
  TD_CHECK_ENTRY(other, TD_KEY("x"), TD_SIZES(2), TD_VALUES(8, 2));
  td_free(other);
  td_memmap_options deflate = TD_MEMMAP_OPTIONS_INIT;
  deflate.compression = TD_COMPRESSION_DEFLATE;
  TD_DO(td_memmap(td, td_here("y.tdz"), &deflate, &loaded));
  td_free(loaded);
  TD_EXPECT_NULL(td_memmap_load(td_here("y.tdz"), &options, &loaded), TD_ERR_UNSUPPORTED, loaded);
  TD_DO(td_memmap_write_archive_checksums(td_here("y.tdz")));
}

TD_TEST(an_archive_to_write_to) {
  td_tensordict *td = td_sample(), *like = NULL, *loaded;
  TD_DO(td_memmap_like(td, td_here("like.tdz"), NULL, &like));
  TD_CHECK_FLAG(td_is_locked, like, 0);
  set_first(like, TD_KEY("a"), 5);
  TD_DO(td_memmap_flush(like));
  loaded = td_loaded(td_here("like.tdz"));
  TD_CHECK_EQUAL(like, loaded);
  TD_CHECK(!td_equals(td, loaded));
  td_free(loaded);
  td_free(like);
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.compression = TD_COMPRESSION_DEFLATE;
  TD_EXPECT_NULL(td_memmap_like(td, td_here("other.tdz"), &options, &like), TD_ERR_INVALID_ARGUMENT,
                 like);
  TD_CHECK(!td_exists(td_here("other.tdz")));
}

TD_TEST(loaded_as_shapes_alone_and_from_inside) {
  td_tensordict *td = td_sample(), *loaded = NULL;
  TD_DO(td_memmap(td, td_here("m.tdz"), NULL, &loaded));
  td_free(loaded);
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.device_type = TD_DEVICE_META;
  TD_DO(td_memmap_load(td_here("m.tdz"), &options, &loaded));
  td_tensor *a = td_take(loaded, TD_KEY("a"));
  TD_CHECK_SIZES(a, 4, 3, 2);
}

TD_TEST(names_and_options) {
  td_tensordict *td = td_sample(), *saved;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  int32_t is = -1;
  options.archive = TD_ARCHIVE_NO;
  TD_DO(td_memmap(td, td_here("folder.tdz"), &options, &saved));
  td_free(saved);
  TD_CHECK(td_exists(td_here("folder.tdz/meta.json")));
  TD_DO(td_memmap_is_archive(td_here("folder.tdz"), &is));
  TD_CHECK_INT(is, 0);
  TD_EXPECT_NULL(td_memmap(td, td_here("folder.tdz"), NULL, &saved), TD_ERR_IO, saved);
  options.archive = TD_ARCHIVE_YES;
  TD_DO(td_memmap(td, td_here("new/below/plain"), &options, &saved));
  td_free(saved);
  TD_DO(td_memmap_is_archive(td_here("new/below/plain"), &is));
  TD_CHECK_INT(is, 1);
  options.fail_if_exists = 1;
  TD_EXPECT_NULL(td_memmap(td, td_here("new/below/plain"), &options, &saved), TD_ERR_IO, saved);
  TD_EXPECT_NULL(td_memmap(td, NULL, &options, &saved), TD_ERR_INVALID_ARGUMENT, saved);
  TD_EXPECT(td_memmap_inplace(td, td_here("x"), &options), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK(!td_exists(td_here("x")));
  options.archive = 3;
  TD_EXPECT_NULL(td_memmap(td, td_here("x"), &options, &saved), TD_ERR_INVALID_ARGUMENT, saved);
  options.archive = TD_ARCHIVE_NO;
  options.compression = TD_COMPRESSION_DEFLATE;
  TD_EXPECT_NULL(td_memmap(td, td_here("x"), &options, &saved), TD_ERR_INVALID_ARGUMENT, saved);
  options.compression = 2;
  TD_EXPECT_NULL(td_memmap(td, td_here("x.tdz"), &options, &saved), TD_ERR_INVALID_ARGUMENT, saved);
  TD_CHECK(!td_exists(td_here("x.tdz")));
  td_write_text(td_here("text"), "no archive at all");
  TD_DO(td_memmap_is_archive(td_here("text"), &is));
  TD_CHECK_INT(is, 0);
  TD_DO(td_memmap_is_archive(td_here("nothing"), &is));
  TD_CHECK_INT(is, 0);
  TD_EXPECT_NULL(td_memmap_load(td_here("text"), NULL, &saved), TD_ERR_FORMAT, saved);
}

/* An old archive stays until the new one is whole, also for those who have it open. */
TD_TEST(replaced_while_it_is_open) {
  td_tensordict *td = td_sample(), *saved = NULL, *open;
  TD_DO(td_memmap(td, td_here("m.tdz"), NULL, &saved));
  td_free(saved);
  open = td_loaded(td_here("m.tdz"));
  td_tensordict *other = td_empty(TD_SIZES(2));
  td_put(other, TD_KEY("z"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  TD_DO(td_memmap(other, td_here("m.tdz"), NULL, &saved));
  TD_CHECK_EQUAL(open, td);
  TD_CHECK_ENTRY(saved, TD_KEY("z"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_CHECK_INT(td_count_entries(td_test_folder()), 1);
  /* Into itself. */
  td_free(other);
  TD_DO(td_memmap(saved, td_here("m.tdz"), NULL, &other));
  TD_CHECK_ENTRY(other, TD_KEY("z"), TD_SIZES(2), TD_VALUES(0, 1));
}

static void *read_again_and_again(void *folder) {
  const char *path = folder;
  long failures = 0;
  for (int i = 0; i < 200; i++) {
    td_tensordict *td = NULL;
    if (td_memmap_load(path, NULL, &td) != TD_OK) {
      failures++;
      continue;
    }
    td_tensor *a = NULL;
    const char *key[] = {"a"};
    if (td_get(td, key, 1, &a) != TD_OK) failures++;
    td_tensor_free(a);
    td_free(td);
  }
  return (void *)failures;
}

TD_TEST(readers_beside_a_writer) {
  td_tensordict *td = td_sample(), *saved = NULL;
  char path[1024];
  snprintf(path, sizeof path, "%s", td_here("m.tdz"));
  TD_DO(td_memmap(td, path, NULL, &saved));
  td_free(saved);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    TD_CHECK(pthread_create(&threads[i], NULL, read_again_and_again, path) == 0);
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  for (int i = 0; i < 60; i++) {
    options.compression = i % 2;
    TD_DO(td_memmap(td, path, &options, &saved));
  }
  for (int i = 0; i < 3; i++) {
    void *failures = NULL;
    TD_CHECK(pthread_join(threads[i], &failures) == 0);
    TD_CHECK(failures == NULL);
  }
}
