/* Saving and mapping: what is shared with the files, what is locked, and what failing leaves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "td_files.h"
#include "td_values.h"

static void check_path(const td_tensordict *td, const char *want) {
  char text[4096] = "?";
  size_t length = 99;
  TD_DO(td_saved_path(td, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
  TD_CHECK_INT(length, strlen(want));
}

TD_TEST(memmap_leaves_the_source_alone) {
  td_tensordict *td = td_sample(), *mapped = NULL;
  td_device_type device = 99;
  int32_t device_index = 99;
  TD_DO(td_memmap(td, td_here("a/b/c"), NULL, &mapped)); /* folders on the way are made */
  TD_CHECK_FLAG(td_is_memmap, mapped, 1);
  TD_CHECK_FLAG(td_is_locked, mapped, 1);
  TD_DO(td_device(mapped, &device, &device_index));
  TD_CHECK_INT(device, TD_DEVICE_CPU);
  check_path(mapped, td_here("a/b/c"));
  TD_CHECK_EQUAL(td, mapped);
  TD_CHECK_FLAG(td_is_memmap, td, 0);
  TD_CHECK_FLAG(td_is_locked, td, 0);
  check_path(td, "");
  TD_CHECK_INT(td_file_size(td_here("a/b/c/a.memmap")), 96);
  TD_CHECK_INT(td_file_size(td_here("a/b/c/n/b.memmap")), 96);
  TD_CHECK_INT(td_count_entries(td_here("a/b/c")), 5);
  TD_DO(td_unlock(mapped));
  TD_CHECK_FLAG(td_is_memmap, mapped, 0); /* the lock and the mark go together */
}

TD_TEST(writes_reach_the_file) {
  td_tensordict *td = td_sample(), *mapped = NULL, *loaded = NULL;
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 99, TD_NO_SIZES);
  TD_DO(td_memmap(td, td_here("m"), NULL, &mapped));
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded));
  check_path(loaded, td_here("m"));
  TD_DO(td_fill_at(mapped, TD_AT(TD_I_INT(0), TD_I_INT(0)), nine));
  TD_CHECK_ENTRY(
      loaded, TD_KEY("n", "b"), TD_SIZES(4, 3),
      TD_VALUES(99, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)); /* one mapping seen in another */
  TD_DO(td_fill_at(loaded, TD_AT(TD_I_INT(3), TD_I_INT(2)), nine));
  TD_DO(td_memmap_flush(loaded));
  size_t size = 0;
  char *bytes = td_read_file(td_here("m/n/b.memmap"), &size);
  int64_t last = 0;
  memcpy(&last, bytes + size - sizeof last, sizeof last);
  TD_CHECK_INT(last, 99);
  free(bytes);
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TD_TEST(private_mappings_keep_writes_to_themselves) {
  td_tensordict *td = td_sample(), *mapped = NULL, *loaded = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 99, TD_NO_SIZES);
  TD_DO(td_memmap(td, td_here("m"), NULL, &mapped));
  options.private_mapping = 1;
  TD_DO(td_memmap_load(td_here("m"), &options, &loaded));
  TD_DO(td_fill_at(loaded, NULL, 0, nine));
  TD_CHECK_EQUAL(td, mapped);
}

TD_TEST(files_that_cannot_be_written_are_mapped_privately) {
  if (geteuid() == 0) td_test_skip("root may write every file");
  td_tensordict *td = td_sample(), *mapped = NULL, *loaded = NULL;
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 99, TD_NO_SIZES);
  TD_DO(td_memmap(td, td_here("m"), NULL, &mapped));
  td_free(mapped);
  TD_CHECK(chmod(td_here("m/n/b.memmap"), 0444) == 0);
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded));
  TD_DO(td_fill_at(loaded, NULL, 0, nine));
  td_free(loaded);
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TD_TEST(memmap_inplace_changes_the_dictionary_itself) {
  td_tensordict *td = td_sample(), *n = td_take_dict(td, TD_KEY("n"));
  td_tensor *before = td_take(td, TD_KEY("n", "b"));
  TD_DO(td_memmap_inplace(td, td_here("m"), NULL));
  TD_CHECK_FLAG(td_is_memmap, td, 1);
  TD_CHECK_FLAG(td_is_locked, td, 1);
  TD_CHECK_FLAG(td_is_locked, n, 1);
  check_path(td, td_here("m"));
  td_tensor *after = td_take(n, TD_KEY("b"));
  TD_CHECK(!td_same_memory(before, after));
  TD_CHECK_VALUES(after, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
}

TD_TEST(without_a_folder_there_is_memory_without_a_name) {
  td_tensordict *td = td_sample(), *mapped = NULL, *like = NULL;
  TD_DO(td_memmap(td, NULL, NULL, &mapped));
  TD_CHECK_FLAG(td_is_memmap, mapped, 1);
  TD_CHECK_FLAG(td_is_locked, mapped, 1);
  check_path(mapped, "");
  TD_CHECK_EQUAL(td, mapped);
  TD_DO(td_memmap_flush(mapped));
  TD_DO(td_memmap_like(td, NULL, NULL, &like));
  TD_CHECK_ENTRY(like, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  TD_DO(td_memmap_inplace(td, NULL, NULL));
  TD_CHECK_FLAG(td_is_memmap, td, 1);
}

TD_TEST(memmap_like_makes_zeros_of_any_size) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *million = NULL, *mapped = NULL, *loaded = NULL;
  td_put(td, TD_KEY("image"), td_filled(TD_DTYPE_UINT8, 7, TD_SIZES(28, 28)));
  td_put(td, TD_KEY("n", "label"), td_filled(TD_DTYPE_INT64, 7, TD_NO_SIZES));
  TD_DO(td_expand(td, TD_SIZES(1000000), &million));
  TD_DO(td_memmap_like(million, td_here("m"), NULL, &mapped));
  TD_CHECK_BATCH(mapped, 1000000);
  TD_CHECK_FLAG(td_is_locked, mapped, 1);
  TD_CHECK_INT(td_file_size(td_here("m/image.memmap")), 784000000);
  struct stat status;
  TD_CHECK(stat(td_here("m/image.memmap"), &status) == 0);
  TD_CHECK(status.st_blocks < 1000); /* sparse: the disk is not used yet */
  td_tensordict *row = NULL;
  TD_DO(td_set_at(mapped, TD_AT(TD_I_INT(999999)), td));
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded));
  TD_DO(td_index(loaded, TD_AT(TD_I_INT(-1)), &row));
  TD_CHECK_ENTRY(row, TD_KEY("n", "label"), TD_NO_SIZES, TD_VALUES(7));
  td_free(row);
  TD_DO(td_index(loaded, TD_AT(TD_I_INT(5)), &row));
  TD_CHECK_ENTRY(row, TD_KEY("n", "label"), TD_NO_SIZES, TD_VALUES(0));
}

TD_TEST(files_are_dense_whatever_the_source_was) {
  td_tensordict *td = td_sample(), *turned = NULL, *mapped = NULL, *loaded = NULL;
  TD_DO(td_transpose(td, 0, 1, &turned));
  TD_DO(td_memmap(turned, td_here("m"), NULL, &mapped));
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("n", "b"), TD_SIZES(3, 4),
                 TD_VALUES(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
}

TD_TEST(threads_write_the_same_bytes) {
  td_tensordict *td = td_sample(), *mapped = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  char name[8] = "k0";
  for (int i = 0; i < 9; i++) {
    name[1] = (char)('0' + i);
    td_put(td, TD_KEY("many", name), td_filled(TD_DTYPE_INT16, i, TD_SIZES(4, 3, 50)));
  }
  TD_DO(td_memmap(td, td_here("one"), NULL, &mapped));
  td_free(mapped);
  options.num_threads = 4;
  TD_DO(td_memmap(td, td_here("four"), &options, &mapped));
  TD_CHECK_SAME_TREE(td_here("four"), td_here("one"));
  td_free(mapped);
  options.num_threads = -1;
  TD_EXPECT_NULL(td_memmap(td, td_here("none"), &options, &mapped), TD_ERR_INVALID_ARGUMENT,
                 mapped);
}

TD_TEST(names_that_cannot_be_stored) {
  static const char *const reserved[] = {"shape", "device", "_type"};
  for (size_t i = 0; i < 3; i++) {
    td_tensordict *td = td_empty(TD_SIZES(1)), *mapped;
    td_put(td, TD_KEY("n", reserved[i]), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(1)));
    TD_EXPECT_NULL(td_memmap(td, td_here("m"), NULL, &mapped), TD_ERR_KEY_INVALID, mapped);
    TD_CHECK_TEXT(td_last_error_message(), reserved[i]);
    TD_CHECK(!td_exists(td_here("m/meta.json")));
    TD_CHECK_FLAG(td_is_locked, td, 0);
  }
}

TD_TEST(the_file_of_a_tensor_is_no_dictionary) {
  td_tensordict *mapped = NULL, *loaded = NULL;
  TD_DO(td_memmap(td_sample(), td_here("m"), NULL, &mapped));
  TD_EXPECT_NULL(td_memmap_load(td_here("m/a.memmap"), NULL, &loaded), TD_ERR_FORMAT, loaded);
  TD_CHECK_TEXT(td_last_error_message(), "m/a.memmap\" holds the values of one tensor");
}

TD_TEST(verbatim_names) {
  td_tensordict *td = td_empty(TD_SIZES(1)), *mapped = NULL, *loaded = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_load_options load_options = TD_LOAD_OPTIONS_INIT;
  td_put(td, TD_KEY("with space"), td_arange(TD_DTYPE_INT8, 5, TD_SIZES(1)));
  options.verbatim_names = 1;
  TD_DO(td_memmap(td, td_here("m"), &options, &mapped));
  TD_CHECK_INT(td_file_size(td_here("m/with space.memmap")), 1);
  load_options.verbatim_names = 1;
  TD_DO(td_memmap_load(td_here("m"), &load_options, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("with space"), TD_SIZES(1), TD_VALUES(5));
  td_free(loaded);
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded)); /* falls back to the name as it is */
  TD_CHECK_ENTRY(loaded, TD_KEY("with space"), TD_SIZES(1), TD_VALUES(5));
  td_free(loaded);
  td_free(mapped);
  td_put(td, TD_KEY("../out"), td_arange(TD_DTYPE_INT8, 5, TD_SIZES(1)));
  TD_CHECK(td_memmap(td, td_here("v"), &options, &mapped) != TD_OK);
  TD_CHECK(mapped == NULL);
  TD_CHECK(!td_exists(td_here("out.memmap")));
}

TD_TEST(indices_of_mapped_dictionaries) {
  td_tensordict *td = td_sample(), *mapped = NULL, *part = NULL;
  TD_DO(td_memmap(td, td_here("m"), NULL, &mapped));
  TD_DO(td_index(mapped, TD_AT(TD_I_INT(0)), &part)); /* mapped still, so locked still */
  TD_CHECK_FLAG(td_is_memmap, part, 1);
  TD_CHECK_FLAG(td_is_locked, part, 1);
  td_free(part);
  TD_DO(td_index(mapped, TD_AT(TD_I_FROM(1)), &part));
  TD_CHECK_FLAG(td_is_memmap, part, 0);
  TD_CHECK_FLAG(td_is_locked, part, 0);
  td_free(part);
  TD_DO(td_clone(mapped, 0, &part));
  TD_CHECK_FLAG(td_is_memmap, part, 0);
  TD_CHECK_FLAG(td_is_locked, part, 0);
}

TD_TEST(tensors_outlive_dictionary_and_folder) {
  td_tensordict *td = td_sample(), *mapped = NULL;
  TD_DO(td_memmap(td, td_here("m"), NULL, &mapped));
  td_tensor *b = td_take(mapped, TD_KEY("n", "b"));
  td_free(mapped);
  TD_CHECK(unlink(td_here("m/n/b.memmap")) == 0);
  TD_CHECK_VALUES(b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
}

TD_TEST(tensors_know_that_they_are_mapped) {
  td_tensordict *td = td_sample(), *mapped = NULL, *loaded = NULL, *nameless = NULL;
  TD_DO(td_memmap(td, td_here("m"), NULL, &mapped));
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded));
  TD_DO(td_memmap(td, NULL, NULL, &nameless));
  const td_tensordict *dicts[] = {td, mapped, loaded, nameless};
  for (int i = 0; i < 4; i++) {
    td_tensor *a = td_take(dicts[i], TD_KEY("a")), *part = NULL, *copy = NULL;
    TD_DO(td_tensor_index(a, TD_AT(TD_I_INT(1), TD_I_STEP(0, 3, 2)), &part));
    TD_DO(td_tensor_clone(part, &copy));
    TD_CHECK_FLAG(td_tensor_is_memmap, a, i > 0);
    TD_CHECK_FLAG(td_tensor_is_memmap, part, i > 0);
    TD_CHECK_FLAG(td_tensor_is_memmap, copy, 0);
    TD_CHECK_FLAG(td_tensor_is_uniquely_owned, copy, 1);
    td_tensor_free(copy);
    td_tensor_free(part);
    td_tensor_free(a);
    int32_t answer = 7;
    TD_EXPECT(td_tensor_is_memmap(a, &answer), TD_ERR_BAD_HANDLE);
    TD_CHECK_INT(answer, 7);
  }
}

TD_TEST(saved_path_needs_room) {
  td_tensordict *td = td_sample();
  char text[2] = "?";
  size_t length = 0;
  TD_DO(td_memmap_inplace(td, td_here("m"), NULL));
  TD_EXPECT(td_saved_path(td, text, sizeof text, &length), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(length, strlen(td_here("m")));
  TD_CHECK_SAME_TEXT(text, "?");
}

/* A process may have so many mappings, and every tensor takes one. */
TD_TEST(the_limit_of_mappings_is_named) {
  FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
  long limit = 0;
  if (file != NULL && fscanf(file, "%ld", &limit) != 1) limit = 0;
  if (file != NULL) fclose(file);
  if (limit <= 0 || limit > 100000) return; /* it would take too much memory to reach it */
  td_tensordict *td = td_empty(TD_SIZES(1)), *mapped = NULL;
  td_tensor *tensor = td_filled(TD_DTYPE_UINT8, 1, TD_SIZES(1));
  for (long i = 0; i <= limit; i++) {
    char name[32];
    const char *path[] = {name};
    snprintf(name, sizeof name, "%ld", i);
    TD_DO(td_set(td, path, 1, tensor));
  }
  TD_EXPECT_NULL(td_memmap_like(td, NULL, NULL, &mapped), TD_ERR_OUT_OF_MEMORY, mapped);
  TD_CHECK_TEXT(td_last_error_message(), "vm.max_map_count");
}

/* Another mapping may lie over the same memory, in this process or in another one. */
TD_TEST(mapped_memory_is_never_owned_alone) {
  td_tensordict *td = td_sample(), *dicts[4] = {NULL};
  TD_DO(td_memmap(td, td_here("m"), NULL, &dicts[0]));
  TD_DO(td_consolidate(td, td_here("file"), NULL, &dicts[1]));
  td_load_options through = TD_LOAD_OPTIONS_INIT;
  through.write_through = 1;
  TD_DO(td_consolidated_load(td_here("file"), &through, &dicts[2]));
  TD_DO(td_clone(td, 1, &dicts[3]));
  TD_DO(td_share_memory(dicts[3]));
  for (int i = 0; i < 4; i++) {
    td_tensor *a = td_take(dicts[i], TD_KEY("a"));
    td_free(dicts[i]);
    TD_CHECK_FLAG(td_tensor_is_memmap, a, 1);
    TD_CHECK_FLAG(td_tensor_is_uniquely_owned, a, 0);
  }
}
