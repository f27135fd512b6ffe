/* HDF5 files: written, read whole, by rows, as stacks; what is hostile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

/* A build without the library says so. */
static void need_hdf5(void) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  const td_status status = td_hdf5_save(td, td_here("probe.h5"), NULL);
  td_free(td);
  if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
  TD_CHECK_INT(status, TD_OK);
}

static td_tensordict *load(const char *path, td_hdf5_flags flags, const char *group) {
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  td_tensordict *td = NULL;
  options.flags = flags;
  options.group = group;
  TD_DO(td_hdf5_load(path, &options, &td));
  return td;
}

static td_tensordict *rows_of(int64_t first, int64_t rows) {
  td_tensordict *td = td_empty(TD_SIZES(rows)), *obs = td_empty(TD_SIZES(rows));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(rows)));
  td_put(obs, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(rows, 3)));
  td_put(obs, TD_KEY("y"), td_arange(TD_DTYPE_INT16, first, TD_SIZES(rows)));
  td_put_dict(td, TD_KEY("obs"), obs);
  return td;
}

TD_TEST(dtypes_there_and_back) {
  need_hdf5();
  static const td_dtype dtypes[] = {TD_DTYPE_BOOL,    TD_DTYPE_UINT8,     TD_DTYPE_INT8,
                                    TD_DTYPE_INT16,   TD_DTYPE_INT32,     TD_DTYPE_INT64,
                                    TD_DTYPE_FLOAT16, TD_DTYPE_BFLOAT16,  TD_DTYPE_FLOAT32,
                                    TD_DTYPE_FLOAT64, TD_DTYPE_COMPLEX64, TD_DTYPE_COMPLEX128};
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    td_tensordict *td = td_empty(TD_SIZES(2)), *again;
    td_put(td, TD_KEY("t"), td_converted(dtypes[i], TD_SIZES(2, 3)));
    td_put(td, TD_KEY("zero"), td_converted(dtypes[i], TD_SIZES(2, 0)));
    TD_DO(td_hdf5_save(td, td_here("d.h5"), NULL));
    again = load(td_here("d.h5"), 0, NULL);
    TD_CHECK_BATCH(again, 2);
    TD_CHECK_DTYPE(again, TD_KEY("t"), dtypes[i]);
    TD_CHECK_EQUAL(td, again);
  }
}

TD_TEST(batch_sizes_are_what_all_have_in_common) {
  need_hdf5();
  td_tensordict *td = td_empty(TD_SIZES(2)), *n = td_empty(TD_SIZES(2)), *again = NULL, *inner;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 4, 5)));
  td_put(n, TD_KEY("b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 4)));
  td_put_dict(td, TD_KEY("n"), n);
  TD_DO(td_file_save(td, td_here("b.hdf5"), NULL));
  TD_DO(td_file_load(td_here("b.hdf5"), NULL, &again));
  TD_CHECK_BATCH(again, 2, 4);
  inner = td_take_dict(again, TD_KEY("n"));
  TD_CHECK_BATCH(inner, 2, 4);
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  options.batch_dims = 1;
  TD_DO(td_hdf5_load(td_here("b.hdf5"), &options, &again));
  TD_CHECK_BATCH(again, 2);
  options.batch_dims = 3;
  TD_EXPECT_NULL(td_hdf5_load(td_here("b.hdf5"), &options, &again), TD_ERR_SHAPE, again);
}

TD_TEST(values_that_are_no_tensors) {
  need_hdf5();
  td_tensordict *td = rows_of(0, 2), *again;
  TD_DO(td_set_non_tensor_json(td, TD_KEY("text"), "\"h\xc3\xa9llo\""));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("number"), "7"));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("list"), "[0.5,1.5,2.5]"));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("truth"), "true"));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("map"), "{\"k\":[1,null]}"));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("nothing"), "null"));
  TD_DO(td_hdf5_save(td, td_here("v.h5"), NULL));
  again = load(td_here("v.h5"), 0, NULL);
  TD_CHECK_BATCH(again, 2);
  TD_CHECK_JSON(again, TD_KEY("text"), "\"h\xc3\xa9llo\"");
  TD_CHECK_JSON(again, TD_KEY("number"), "7");
  TD_CHECK_JSON(again, TD_KEY("list"), "[0.5,1.5,2.5]");
  TD_CHECK_JSON(again, TD_KEY("truth"), "true");
  TD_CHECK_JSON(again, TD_KEY("map"), "{\"k\":[1,null]}");
  TD_CHECK_JSON(again, TD_KEY("nothing"), "null");
}

TD_TEST(rows_without_the_rest) {
  need_hdf5();
  td_tensordict *td = rows_of(0, 50), *want = NULL, *got = NULL;
  td_hdf5_save_options saving = TD_HDF5_SAVE_OPTIONS_INIT;
  saving.deflate = 4;
  saving.chunk_rows = 7;
  TD_DO(td_hdf5_save(td, td_here("r.h5"), &saving));
  td_hdf5 *file = NULL;
  TD_DO(td_hdf5_open(td_here("r.h5"), NULL, &file));
  td_tensor *positions = td_positions((const int64_t[]){49, 3, 4, -50, 3}, 5);
  int64_t truths[50] = {0};
  truths[2] = truths[3] = truths[48] = 1;
  td_tensor *mask = td_mask(truths, 50);
  const td_index_item items[] = {TD_I_INT(-1),       TD_I_SLICE(10, 20),     TD_I_STEP(1, 50, 9),
                                 TD_I_SLICE(20, 10), TD_I_TENSOR(positions), TD_I_TENSOR(mask),
                                 TD_I_ELLIPSIS};
  for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
    int32_t same = 0;
    TD_DO(td_index(td, items + i, 1, &want));
    TD_DO(td_hdf5_read(file, items + i, 1, &got));
    TD_DO(td_equal(want, got, &same));
    if (!same)
      td_test_fail(__FILE__, __LINE__, "item %zu: %s, not %s", i, td_printed(got),
                   td_printed(want));
  }
  const td_index_item bad[] = {TD_I_INT(50), TD_I_INT(INT64_MIN), TD_I_INT(INT64_C(1) << 31)};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    TD_EXPECT_NULL(td_hdf5_read(file, bad + i, 1, &got), TD_ERR_INDEX, got);
  int64_t sizes[1] = {0};
  size_t dims = 0;
  TD_DO(td_hdf5_batch_size(file, sizes, 1, &dims));
  TD_CHECK(dims == 1 && sizes[0] == 50);
  td_keys *keys = NULL;
  TD_DO(td_hdf5_keys(file, &keys));
  TD_CHECK_INT(td_keys_len(keys), 3);
}

TD_TEST(demonstrations_are_a_lazy_stack) {
  need_hdf5();
  td_tensordict *elements[12], *stack = NULL, *again, *one = NULL;
  for (int64_t i = 0; i < 12; i++) elements[i] = rows_of(i, i + 1);
  TD_DO(td_lazy_stack((const td_tensordict *const *)elements, 12, 0, &stack));
  for (int i = 0; i < 12; i++) td_free(elements[i]);
  td_hdf5_save_options saving = TD_HDF5_SAVE_OPTIONS_INIT;
  saving.flags = TD_HDF5_SAVE_STACK;
  saving.group = "data";
  TD_DO(td_hdf5_save(stack, td_here("s.h5"), &saving));
  again = load(td_here("s.h5"), TD_HDF5_STACK, "/data/");
  TD_CHECK_BATCH(again, 12, -1);
  const td_index_item at = TD_I_INT(10); /* demo_10 comes after demo_9 */
  TD_DO(td_index(again, &at, 1, &one));
  TD_CHECK_BATCH(one, 11);
  again = load(td_here("s.h5"), TD_HDF5_ATTRIBUTES, "data/demo_3");
  TD_CHECK_BATCH(again, 4);
  TD_CHECK_JSON(again, TD_KEY("num_samples"), "4");
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  const char *names[] = {"obs", "x"};
  const td_key key = {names, 2};
  options.keys = &key;
  options.keys_len = 1;
  options.group = "data/demo_0";
  TD_DO(td_hdf5_load(td_here("s.h5"), &options, &again));
  td_entry_kind kind;
  TD_DO(td_get_kind(again, TD_KEY("a"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  names[1] = "z";
  TD_EXPECT_NULL(td_hdf5_load(td_here("s.h5"), &options, &again), TD_ERR_KEY_NOT_FOUND, again);
  TD_EXPECT(td_hdf5_load(td_here("s.h5"), NULL, NULL), TD_ERR_NULL_ARGUMENT);
}

static const char *golden(const char *name) {
  static char path[600];
  snprintf(path, sizeof path, "%s/../golden2/data/h5/%s", getenv("TD_TEST_DATA"), name);
  return path;
}

TD_TEST(odd_files) {
  need_hdf5();
  td_tensordict *td = NULL;
  TD_EXPECT_NULL(td_hdf5_load(golden("odd.h5"), NULL, &td), TD_ERR_UNSUPPORTED, td);
  TD_CHECK_TEXT(td_last_error_message(), "/external");
  td = load(golden("odd.h5"), TD_HDF5_SKIP, NULL);
  td_entry_kind kind;
  TD_DO(td_get_kind(td, TD_KEY("external"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  TD_CHECK_DTYPE(td, TD_KEY("complex"), TD_DTYPE_COMPLEX64);
  TD_CHECK_ENTRY(td, TD_KEY("soft"), TD_NO_SIZES, TD_VALUES(3.5));
  TD_CHECK_ENTRY(td, TD_KEY("unlimited"), TD_SIZES(6), TD_VALUES(0, 1, 2, 3, 4, 5));
  TD_CHECK_ENTRY(td, TD_KEY("struct", "f"), TD_SIZES(1), TD_VALUES(2));
  TD_CHECK_ENTRY(td, TD_KEY("bool"), TD_SIZES(3), TD_VALUES(1, 0, 1));
  TD_CHECK_JSON(td, TD_KEY("text"), "\"hello\"");
  TD_CHECK_JSON(td, TD_KEY("texts"), "[\"a\",\"bb\",\"ccc\"]");
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  options.group = "/external";
  TD_EXPECT_NULL(td_hdf5_load(golden("odd.h5"), &options, &td), TD_ERR_KEY_NOT_FOUND, td);
  options.group = "/scalar";
  TD_EXPECT_NULL(td_hdf5_load(golden("odd.h5"), &options, &td), TD_ERR_WRONG_ENTRY, td);
  options.group = NULL;
  options.flags = TD_HDF5_SKIP;
  options.max_entries = 3;
  TD_EXPECT_NULL(td_hdf5_load(golden("odd.h5"), &options, &td), TD_ERR_FORMAT, td);
  options.max_entries = 0;
  options.max_bytes = 10;
  TD_EXPECT_NULL(td_hdf5_load(golden("odd.h5"), &options, &td), TD_ERR_FORMAT, td);
}

static const char *of_h5py(void) { return td_path(td_golden("../files"), "lzf.h5"); }

TD_TEST(the_filter_of_h5py_is_unpacked) {
  need_hdf5();
  td_tensordict *td = load(of_h5py(), 0, NULL), *rows = NULL;
  td_tensor *a = td_take(td, TD_KEY("a")), *s = td_take(td, TD_KEY("s"));
  int32_t *numbers = malloc(2000 * sizeof *numbers);
  double *reals = malloc(1000 * sizeof *reals);
  TD_CHECK_SIZES(a, 500, 4);
  TD_DO(td_tensor_copy_to(a, numbers, 2000 * sizeof *numbers));
  for (int i = 0; i < 2000; i++) TD_CHECK(numbers[i] == i / 7);
  TD_DO(td_tensor_copy_to(s, reals, 1000 * sizeof *reals));
  for (int i = 0; i < 1000; i++) TD_CHECK(reals[i] == i / 8.0);
  TD_CHECK_DTYPE(td, TD_KEY("noise"), TD_DTYPE_UINT8);
  char texts[256] = "[";
  for (int i = 0; i < 20; i++) strcat(texts, i == 0 ? "\"yes\",\"no\"" : ",\"yes\",\"no\"");
  TD_CHECK_JSON(td, TD_KEY("text"), strcat(texts, "]"));
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  td_key key = {TD_KEY("s")};
  td_hdf5 *file = NULL;
  options.keys = &key;
  options.keys_len = 1;
  TD_DO(td_hdf5_open(of_h5py(), &options, &file));
  TD_DO(td_hdf5_read(file, TD_AT(TD_I_SLICE(98, 102)), &rows)); /* of two chunks */
  TD_CHECK_ENTRY(rows, TD_KEY("s"), TD_SIZES(4), TD_VALUES(12.25, 12.375, 12.5, 12.625));
  td_hdf5_free(file);
  free(reals);
  free(numbers);
}

/* Each byte of the chunks of "a" is damaged in turn: other values, or a failure. The bytes around them are the library's,
 * which does not stand damage. */
TD_TEST(a_damaged_chunk_of_lzf_is_told) {
  need_hdf5();
  enum { FIRST = 4016, LAST = 6079 };
  size_t size = 0, refused = 0;
  char *bytes = td_read_file(of_h5py(), &size);
  const char *path = td_here("damaged.h5");
  for (size_t at = FIRST; at < LAST; at++) {
    td_tensordict *td = NULL;
    bytes[at] ^= 0x55;
    td_write_file(path, bytes, size);
    bytes[at] ^= 0x55;
    const td_status status = td_hdf5_load(path, NULL, &td);
    TD_CHECK_INT(status, td == NULL ? TD_ERR_FORMAT : TD_OK);
    refused += status == TD_OK ? 0 : 1;
    td_free(td);
  }
  TD_CHECK(refused > 100 && refused < LAST - FIRST);
  free(bytes);
}

TD_TEST(attributes_are_read_and_written) {
  need_hdf5();
  char *text = td_metadata_of(of_h5py());
  TD_CHECK_SAME_TEXT(
      text,
      "{\"/\":{\"names\":[\"x\",\"y\"],\"none\":null,\"note\":\"caf\xc3\xa9\",\"yes\":true},"
      "\"/data\":{\"total\":3},"
      "\"/data/x\":{\"range\":[0.5,2.5],\"unit\":\"m/s\"}}");
  td_tensordict *td = load(of_h5py(), 0, NULL);
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.metadata = text;
  TD_DO(td_file_save(td, td_here("kept.h5"), &options));
  char *again = td_metadata_of(td_here("kept.h5"));
  TD_CHECK_SAME_TEXT(again, text);
  free(again);
  free(text);
  /* What belongs to no group is the root's; a place that the file has not is passed over. */
  options.metadata = "{\"format\":\"pt\",\"/nowhere\":{\"a\":1},\"/data\":{\"odd\":[1,\"x\"]}}";
  TD_DO(td_file_save(td, td_here("kept.h5"), &options));
  text = td_metadata_of(td_here("kept.h5"));
  TD_CHECK_SAME_TEXT(text, "{\"/\":{\"format\":\"pt\"},\"/data\":{\"odd\":\"[1,\\\"x\\\"]\"}}");
  free(text);
  options.metadata = "[]";
  TD_EXPECT(td_file_save(td, td_here("kept.h5"), &options), TD_ERR_INVALID_ARGUMENT);
}

TD_TEST(damage_is_told) {
  need_hdf5();
  size_t size = 0;
  char *bytes = td_read_file(golden("persistent.h5"), &size);
  const char *path = td_here("cut.h5");
  td_tensordict *td = NULL;
  for (size_t keep = 0; keep < size; keep += 97) {
    td_write_file(path, bytes, keep);
    TD_EXPECT_NULL(td_hdf5_load(path, NULL, &td), TD_ERR_FORMAT, td);
  }
  free(bytes);
  TD_EXPECT_NULL(td_hdf5_load(td_here("none.h5"), NULL, &td), TD_ERR_IO, td);
  TD_EXPECT_NULL(td_hdf5_load("", NULL, &td), TD_ERR_IO, td);
  TD_EXPECT_NULL(td_hdf5_load(td_test_folder(), NULL, &td), TD_ERR_IO, td);
}

TD_TEST(what_cannot_be_written) {
  need_hdf5();
  const char *path = td_here("w.h5");
  td_tensordict *td = rows_of(0, 2);
  TD_DO(td_hdf5_save(td, path, NULL));
  td_hdf5_save_options options = TD_HDF5_SAVE_OPTIONS_INIT;
  options.deflate = 10;
  TD_EXPECT(td_hdf5_save(td, path, &options), TD_ERR_INVALID_ARGUMENT);
  options.deflate = -1;
  TD_EXPECT(td_hdf5_save(td, path, &options), TD_ERR_INVALID_ARGUMENT);
  options.deflate = 0;
  options.chunk_rows = -1;
  TD_EXPECT(td_hdf5_save(td, path, &options), TD_ERR_INVALID_ARGUMENT);
  options.chunk_rows = INT64_MAX;
  TD_DO(td_hdf5_save(td, path, &options));
  options.chunk_rows = 0;
  options.flags = TD_HDF5_SAVE_STACK;
  TD_EXPECT(td_hdf5_save(td, path, &options), TD_ERR_WRONG_ENTRY);
  options.flags = 4;
  TD_EXPECT(td_hdf5_save(td, path, &options), TD_ERR_INVALID_ARGUMENT);
  static const char *const names[] = {"a/b", ".", ""};
  for (size_t i = 0; i < 3; i++) {
    td_tensordict *bad = rows_of(0, 2);
    td_put(bad, names + i, 1, td_filled(TD_DTYPE_INT64, 0, TD_SIZES(2)));
    TD_EXPECT(td_hdf5_save(bad, path, NULL), TD_ERR_KEY_INVALID);
  }
  /* Each of its elements could be: all of them have too large a shape. */
  td_tensordict *wide = td_empty(TD_NO_SIZES), *stack = NULL;
  td_put(wide, TD_KEY("e"), td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(INT64_C(1) << 59, 0)));
  TD_DO(td_lazy_stack((const td_tensordict *const[]){wide, wide, wide}, 3, 0, &stack));
  TD_EXPECT(td_hdf5_save(stack, path, NULL), TD_ERR_SHAPE);
  td_tensordict *again = load(path, 0, NULL); /* the old file is still there */
  TD_CHECK_ENTRY(again, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_CHECK_INT(td_count_entries(td_test_folder()), 2);
}
