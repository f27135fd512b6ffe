/* Folders read into dictionaries that are there, and entries that are made in both at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "td_files.h"
#include "td_values.h"

static td_tensordict *save(const char *name, td_tensordict *td) {
  td_tensordict *saved = NULL;
  TD_DO(td_memmap(td, td_here(name), NULL, &saved));
  return saved;
}

/* a: first .. , n.b: first + 10 .. */
static td_tensordict *pair(int64_t rows, int64_t first) {
  td_tensordict *td = td_empty(TD_SIZES(rows));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT32, first, TD_SIZES(rows)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT32, first + 10, TD_SIZES(rows)));
  return td;
}

static void check_path(const td_tensordict *td, const char *want) {
  char text[4096] = "?";
  size_t length = 0;
  TD_DO(td_saved_path(td, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

TD_TEST(a_folder_of_a_sub_tensordict_is_read_as_a_dictionary) {
  td_tensordict *source = pair(3, 1), *td = pair(2, 50), *sub = NULL;
  const td_index_item last[] = {{TD_INDEX_SLICE, TD_INDEX_HAS_START, 1, 0, 0, NULL, {0, 0, 0}}};
  TD_DO(td_sub_tensordict(source, last, 1, &sub));
  save("s", sub);
  TD_DO(td_memmap_load_into(td, td_here("s"), NULL));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(2, 3));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(12, 13));
  TD_EXPECT(td_memmap_load_into(sub, td_here("s"), NULL), TD_ERR_UNSUPPORTED);
}

TD_TEST(loading_into_a_dictionary) {
  td_tensordict *source = pair(2, 1), *td = td_empty(TD_SIZES(2)), *n;
  td_put(source, TD_KEY("n", "new", "x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  save("m", source);
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 50, TD_SIZES(2, 1)));
  td_put(td, TD_KEY("n", "own"), td_arange(TD_DTYPE_FLOAT32, 60, TD_SIZES(2)));
  n = td_take_dict(td, TD_KEY("n"));
  td_tensor *before = td_take(n, TD_KEY("b"));
  TD_DO(td_memmap_load_into(td, td_here("m"), NULL));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(1, 2));
  TD_CHECK_ENTRY(n, TD_KEY("b"), TD_SIZES(2), TD_VALUES(11, 12)); /* the node is the same one */
  TD_CHECK_ENTRY(n, TD_KEY("own"), TD_SIZES(2), TD_VALUES(60, 61));
  TD_CHECK_ENTRY(n, TD_KEY("new", "x"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_CHECK_VALUES(before, 50, 51); /* the tensor is not */
  TD_CHECK_FLAG(td_is_locked, td, 0);
  TD_CHECK_FLAG(td_is_memmap, td, 0);
  check_path(td, td_here("m"));
  check_path(n, td_here("m/n"));
}

TD_TEST(what_cannot_be_loaded_into) {
  td_tensordict *source = pair(2, 1), *td = pair(3, 5), *part = NULL;
  save("m", source);
  TD_EXPECT(td_memmap_load_into(td, td_here("m"), NULL), TD_ERR_SHAPE);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(5, 6, 7));
  TD_EXPECT(td_memmap_load_into(td, td_here("nowhere"), NULL), TD_ERR_IO);
  TD_EXPECT(td_memmap_load_into(td, NULL, NULL), TD_ERR_NULL_ARGUMENT);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_UNTIL(2)), &part));
  TD_EXPECT(td_memmap_load_into(part, td_here("m"), NULL), TD_ERR_UNSUPPORTED);
  td_free(part);
  td_free(td);
  td = pair(2, 5);
  TD_DO(td_lock(td));
  TD_EXPECT(td_memmap_load_into(td, td_here("m"), NULL), TD_ERR_LOCKED);
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(15, 16));
  TD_EXPECT(td_memmap_refresh(td, NULL), TD_ERR_INVALID_ARGUMENT);
  td_free(td);
  td_tensordict *const both[] = {source, source};
  TD_DO(td_lazy_stack((const td_tensordict *const *)both, 2, 0, &td));
  TD_EXPECT(td_memmap_load_into(td, td_here("m"), NULL), TD_ERR_WRONG_ENTRY);
}

/* What another process has done is what another dictionary does. */
TD_TEST(refreshing_takes_over_what_has_come) {
  td_tensordict *first = pair(2, 1), *td = save("m", first), *second = pair(4, 100), *n;
  n = td_take_dict(td, TD_KEY("n"));
  TD_DO(td_memmap_refresh(td, NULL)); /* nothing has */
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(1, 2));
  td_put(second, TD_KEY("deep", "er", "x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4)));
  TD_DO(td_set_non_tensor_json(second, TD_KEY("s"), "\"text\""));
  save("m", second);
  TD_DO(td_memmap_refresh(td, NULL));
  TD_CHECK_BATCH(td, 4);
  TD_CHECK_BATCH(n, 4);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(100, 101, 102, 103));
  TD_CHECK_ENTRY(n, TD_KEY("b"), TD_SIZES(4), TD_VALUES(110, 111, 112, 113));
  TD_CHECK_FLAG(td_is_locked, td, 1);
  TD_CHECK_FLAG(td_is_memmap, td, 1);
  td_tensordict *deep = td_take_dict(td, TD_KEY("deep", "er"));
  TD_CHECK_FLAG(td_is_locked, deep, 1); /* what has come is part of what is locked */
  TD_CHECK_FLAG(td_is_memmap, deep, 1);
  TD_EXPECT(td_unlock(deep), TD_ERR_LOCKED);
  char text[64];
  size_t length = 0;
  TD_DO(td_get_non_tensor_json(td, TD_KEY("s"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "\"text\"");
  TD_DO(td_unlock(td));
  TD_CHECK_FLAG(td_is_locked, deep, 0);
}

TD_TEST(refreshing_what_was_loaded_or_has_gone) {
  save("m", pair(2, 1));
  td_tensordict *td = td_loaded(td_here("m")), *less = td_empty(TD_SIZES(2)), *longer = pair(3, 1),
                *other;
  td_put(less, TD_KEY("a"), td_arange(TD_DTYPE_INT32, 7, TD_SIZES(2)));
  other = save("m", less);
  TD_DO(td_memmap_refresh(td, NULL)); /* loaded: not locked before, nor now */
  TD_CHECK_FLAG(td_is_locked, td, 0);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(7, 8));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(11, 12));
  td_free(other);
  TD_DO(td_remove(longer, TD_KEY("n")));
  other = save("m", longer);
  TD_EXPECT(td_memmap_refresh(td, NULL), TD_ERR_SHAPE); /* "n" would have too few rows */
  TD_CHECK_TEXT(td_last_error_message(), "\"n\"");
  TD_CHECK_BATCH(td, 2);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(7, 8));
  TD_DO(td_lock(td));
  TD_EXPECT(td_memmap_refresh(td, NULL), TD_ERR_LOCKED);
}

TD_TEST(refreshing_a_lazy_stack) {
  td_tensordict *one = pair(2, 1), *two = pair(2, 5), *stack = NULL, *td = NULL, *saved = NULL;
  const td_tensordict *const three[] = {one, two, one};
  TD_DO(td_lazy_stack(three, 2, 0, &stack));
  TD_DO(td_memmap(stack, td_here("m"), NULL, &td));
  td_free(stack);
  TD_DO(td_lazy_stack(three, 3, 0, &stack));
  TD_DO(td_memmap(stack, td_here("m"), NULL, &saved));
  TD_DO(td_memmap_refresh(td, NULL));
  TD_CHECK_BATCH(td, 3, 2);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3, 2), TD_VALUES(1, 2, 5, 6, 1, 2));
  td_tensor *made;
  TD_EXPECT_NULL(td_memmap_make(td, TD_KEY("x"), TD_SIZES(3, 2), TD_DTYPE_INT8, NULL, &made),
                 TD_ERR_UNSUPPORTED, made);
}

TD_TEST(new_entries_of_a_folder) {
  td_tensordict *source = pair(2, 1), *td = save("m", source), *other = td_loaded(td_here("m")),
                *seen;
  td_tensor *made = NULL, *values = td_arange(TD_DTYPE_FLOAT64, 5, TD_SIZES(2, 2));
  TD_DO(td_memmap_make(td, TD_KEY("x y"), TD_SIZES(2, 3), TD_DTYPE_INT16, NULL, &made));
  TD_CHECK_VALUES(made, 0, 0, 0, 0, 0, 0);
  TD_CHECK_INT(td_file_size(td_here("m/x%20y.memmap")), 12);
  td_tensor_free(made);
  TD_DO(td_memmap_make(td, TD_KEY("zero"), TD_SIZES(2, 0), TD_DTYPE_OTHER, NULL, &made));
  td_dtype dtype = 0;
  TD_DO(td_tensor_dtype(made, &dtype));
  TD_CHECK_INT(dtype, TD_DTYPE_FLOAT32);
  td_tensor_free(made);
  TD_DO(td_memmap_make_from_tensor(td, TD_KEY("n", "new", "er", "v"), values, NULL, &made));
  TD_CHECK_VALUES(made, 5, 6, 7, 8);
  TD_CHECK_FLAG(td_is_locked, td, 1);
  seen = td_take_dict(td, TD_KEY("n", "new", "er"));
  TD_CHECK_FLAG(td_is_locked, seen, 1);
  TD_CHECK_FLAG(td_is_memmap, seen, 1);
  check_path(seen, td_here("m/n/new/er"));
  TD_EXPECT(td_unlock(seen), TD_ERR_LOCKED);
  td_free(seen);
  seen = td_loaded(td_here("m"));
  TD_CHECK_EQUAL(td, seen);
  void *memory = NULL;
  TD_DO(td_tensor_data(made, &memory));
  for (int i = 0; i < 4; i++) ((double *)memory)[i] = 9; /* reaches the file */
  TD_CHECK_ENTRY(seen, TD_KEY("n", "new", "er", "v"), TD_SIZES(2, 2), TD_VALUES(9, 9, 9, 9));
  td_tensor_free(made);
  TD_DO(td_memmap_refresh(other, NULL)); /* of a reader */
  TD_CHECK_EQUAL(td, other);
  TD_CHECK_INT(td_exists(td_here("m/.tmp")), 0);
}

TD_TEST(new_entries_of_nameless_memory) {
  td_tensordict *source = pair(2, 1), *td = NULL;
  td_tensor *made = NULL, *values = td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2));
  TD_DO(td_memmap(source, NULL, NULL, &td));
  TD_DO(td_memmap_make(td, TD_KEY("x"), TD_SIZES(2), TD_DTYPE_BOOL, NULL, &made));
  td_tensor_free(made);
  TD_DO(td_memmap_make_from_tensor(td, TD_KEY("n", "m", "v"), values, NULL, &made));
  TD_CHECK_ENTRY(td, TD_KEY("n", "m", "v"), TD_SIZES(2), TD_VALUES(5, 6));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(2), TD_VALUES(0, 0));
  TD_CHECK(!td_same_memory(made, values));
}

TD_TEST(entries_that_cannot_be_made) {
  td_tensordict *source = pair(2, 1), *td = save("m", source), *other = td_loaded(td_here("m")),
                *late;
  td_tensor *made, *mapped = td_take(other, TD_KEY("a"));
  size_t before = 0;
  char *meta = td_read_file(td_here("m/meta.json"), &before);
  const int files = td_count_entries(td_here("m"));
#define MAKE(want, path, ...)                                                                 \
  TD_EXPECT_NULL(td_memmap_make(td, path, TD_SIZES(__VA_ARGS__), TD_DTYPE_INT8, NULL, &made), \
                 want, made)
  MAKE(TD_ERR_KEY_EXISTS, TD_KEY("a"), 2);
  MAKE(TD_ERR_KEY_EXISTS, TD_KEY("n"), 2);
  MAKE(TD_ERR_WRONG_ENTRY, TD_KEY("a", "x"), 2);
  MAKE(TD_ERR_SHAPE, TD_KEY("x"), 3);
  MAKE(TD_ERR_SHAPE, TD_KEY("x"), 2, -1);
  MAKE(TD_ERR_KEY_INVALID, TD_KEY("shape"), 2);
  MAKE(TD_ERR_KEY_INVALID, TD_KEY("y", "_type"), 2);
  MAKE(TD_ERR_SHAPE, TD_KEY("x"), 2, INT64_MAX);
  MAKE(TD_ERR_IO, TD_KEY("x"), 2, INT64_C(1) << 56); /* no disk is so large */
  TD_EXPECT_NULL(td_memmap_make(source, TD_KEY("x"), TD_SIZES(2), TD_DTYPE_INT8, NULL, &made),
                 TD_ERR_INVALID_ARGUMENT, made);
  TD_EXPECT_NULL(td_memmap_make_from_tensor(td, TD_KEY("x"), mapped, NULL, &made),
                 TD_ERR_INVALID_ARGUMENT, made);
  TD_CHECK_TEXT(td_last_error_message(), "copy_existing");
  size_t after = 0;
  char *again = td_read_file(td_here("m/meta.json"), &after);
  TD_CHECK(after == before && memcmp(meta, again, before) == 0);
  TD_CHECK_INT(td_count_entries(td_here("m")), files);
  TD_CHECK(!td_exists(td_here("m/y")));
  free(again);
  free(meta);

  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.copy_existing = 1;
  TD_DO(td_memmap_make_from_tensor(td, TD_KEY("x"), mapped, &options, &made));
  td_tensor_free(made);
  late = td_loaded(td_here("m"));
  TD_DO(td_memmap_inplace(late, td_here("m2"),
                          &options)); /* "x" comes in a folder that td does not have */
  TD_DO(td_unlock(late));
  td_free(late);
  late = td_loaded(td_here("m2"));
  td_tensordict *stale = td_loaded(td_here("m2"));
  TD_DO(td_memmap_inplace(late, NULL, NULL));
  TD_DO(td_memmap_make(late, TD_KEY("y"), TD_SIZES(2), TD_DTYPE_INT8, NULL, &made));
  td_tensor_free(made);
  TD_DO(td_memmap_inplace(stale, td_here("m3"), &options));
}

TD_TEST(an_entry_that_another_process_has_made) {
  td_tensordict *source = pair(2, 1), *td = save("m", source), *other = td_loaded(td_here("m"));
  td_tensor *made = NULL;
  TD_DO(td_memmap_inplace(other, NULL, NULL)); /* the same files */
  TD_DO(td_memmap_make(other, TD_KEY("x"), TD_SIZES(2), TD_DTYPE_INT8, NULL, &made));
  td_tensor_free(made);
  TD_EXPECT_NULL(td_memmap_make(td, TD_KEY("x"), TD_SIZES(2), TD_DTYPE_INT8, NULL, &made),
                 TD_ERR_KEY_EXISTS, made);
  TD_CHECK_TEXT(td_last_error_message(), "refresh");
  TD_DO(td_memmap_make(td, TD_KEY("y"), TD_SIZES(2), TD_DTYPE_INT8, NULL, &made));
  td_tensor_free(made);
  td_tensordict *all = td_loaded(td_here("m"));
  TD_CHECK_ENTRY(all, TD_KEY("x"), TD_SIZES(2), TD_VALUES(0, 0)); /* the entry of the other stays */
  TD_CHECK_ENTRY(all, TD_KEY("y"), TD_SIZES(2), TD_VALUES(0, 0));
}
