/* Files of other programs: what they wrote is read, what is written is what they would have written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "td_files.h"
#include "td_values.h"

/* A file of tests/data/files, which make.py there has written. */
static const char *theirs(const char *name) {
  return td_path(td_path(td_path(td_golden(".."), "files"), "."), name);
}

static td_tensordict *load(const char *path) {
  td_tensordict *td = NULL;
  TD_DO(td_file_load(path, NULL, &td));
  return td;
}

/* The same as doubles, for dtypes that C has not. */
static void check_converted(const td_tensor *tensor, const double *want, size_t n) {
  td_tensor *converted = NULL;
  double values[16];
  TD_DO(td_tensor_to(tensor, TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, &converted));
  TD_DO(td_tensor_copy_to(converted, values, n * sizeof *values));
  for (size_t i = 0; i < n; i++) TD_CHECK(values[i] == want[i]);
  td_tensor_free(converted);
}

static void check_same_file(const char *one, const char *other) {
  size_t first = 0, second = 0;
  char *a = td_read_file(one, &first), *b = td_read_file(other, &second);
  TD_CHECK_INT(first, second);
  TD_CHECK(memcmp(a, b, first) == 0);
  free(b);
  free(a);
}

TD_TEST(safetensors_of_others) {
  td_tensordict *td = load(theirs("model.safetensors"));
  TD_CHECK_NO_BATCH(td);
  TD_CHECK_ENTRY(td, TD_KEY("layer", "weight"), TD_SIZES(2, 3), TD_VALUES(0, 1, 2, 3, 4, 5));
  TD_CHECK_ENTRY(td, TD_KEY("layer", "bias"), TD_SIZES(3), TD_VALUES(1, 2, 3));
  TD_CHECK_ENTRY(td, TD_KEY("scale"), TD_NO_SIZES, TD_VALUES(7));
  TD_CHECK_ENTRY(td, TD_KEY("n"), TD_SIZES(2), TD_VALUES(-1, 0));
  td_tensor *half = td_take(td, TD_KEY("half")), *h = td_take(td, TD_KEY("h"));
  check_converted(half, TD_VALUES(1, 2));
  check_converted(h, TD_VALUES(1, 2));
  td_tensor_free(half);
  TD_CHECK_ENTRY(td, TD_KEY("s"), TD_SIZES(2), TD_VALUES(-2, -1));
  TD_CHECK_ENTRY(td, TD_KEY("i"), TD_SIZES(3), TD_VALUES(-3, -2, -1));
  TD_CHECK_ENTRY(td, TD_KEY("u"), TD_SIZES(3), TD_VALUES(253, 254, 255));
  TD_CHECK_ENTRY(td, TD_KEY("yes"), TD_SIZES(4), TD_VALUES(1, 0, 0, 1));
  td_tensor *none = td_take(td, TD_KEY("none")), *z = td_take(td, TD_KEY("z"));
  TD_CHECK_SIZES(none, 0, 4);
  float parts[4];
  TD_DO(td_tensor_copy_to(z, parts, sizeof parts));
  TD_CHECK(parts[0] == 5 && parts[1] == -5 && parts[2] == 6 && parts[3] == -6);
  TD_CHECK_DTYPE(td, TD_KEY("half"), TD_DTYPE_BFLOAT16);
  TD_CHECK_DTYPE(td, TD_KEY("yes"), TD_DTYPE_BOOL);
  TD_CHECK_DTYPE(td, TD_KEY("layer", "weight"), TD_DTYPE_INT64);

  char *metadata = td_metadata_of(theirs("model.safetensors"));
  TD_CHECK_SAME_TEXT(metadata, "{\"format\":\"pt\",\"note\":\"caf\xc3\xa9 \\\"x\\\"\"}");
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.metadata = metadata;
  TD_DO(td_file_save(td, td_here("again.safetensors"), &options));
  check_same_file(td_here("again.safetensors"), theirs("model.safetensors"));
  free(metadata);
}

TD_TEST(what_is_not_aligned_is_copied) {
  td_tensordict *td = load(theirs("unaligned.safetensors"));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(3, 4));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(1), TD_VALUES(7));
  size_t size = 0;
  char *bytes = td_read_file(theirs("unaligned.safetensors"), &size);
  td_write_file(td_here("u"), bytes, size);
  free(bytes);
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.write_through = 1;
  TD_EXPECT_NULL(td_file_load(td_here("u"), &options, &td), TD_ERR_UNSUPPORTED, td);
  TD_CHECK_TEXT(td_last_error_message(), "\"a\"");
}

/* Batch sizes, names of dimensions, values, empty dictionaries, and names with the separator in them. */
static td_tensordict *rich(void) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3));
  td_put(td, TD_KEY("a.b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3, 4)));
  td_put(td, TD_KEY("n", "m", "c"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)));
  td_put_dict(td, TD_KEY("wide"), td_empty(TD_SIZES(2, 3, 5)));
  td_put(td, TD_KEY("wide", "d"), td_arange(TD_DTYPE_UINT8, 0, TD_SIZES(2, 3, 5)));
  td_put_dict(td, TD_KEY("empty"), td_empty(TD_SIZES(2, 3)));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("n", "note"), "{\"text\":[1.50,null,\"x\"]}"));
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("each"), "[[1,2,3],[4,5,6]]"));
  TD_DO(td_set_names(td, (const char *const[]){"time", NULL}, 2));
  return td;
}

TD_TEST(our_own_safetensors_lose_nothing) {
  td_tensordict *td = rich();
  TD_DO(td_file_save(td, td_here("f.safetensors"), NULL));
  TD_CHECK_INT(td_count_entries(td_test_folder()), 1); /* nothing beside it */
  td_tensordict *again = load(td_here("f.safetensors"));
  TD_CHECK_BATCH(again, 2, 3);
  TD_CHECK_EQUAL(td, again);
  td_tensordict *wide = td_take_dict(again, TD_KEY("wide")),
                *empty = td_take_dict(again, TD_KEY("empty"));
  TD_CHECK_BATCH(wide, 2, 3, 5);
  TD_CHECK_BATCH(empty, 2, 3);
  TD_CHECK_JSON(again, TD_KEY("n", "note"), "{\"text\":[1.50,null,\"x\"]}");
  td_keys *names = NULL;
  const char *const *name = NULL;
  size_t length = 0;
  TD_DO(td_names(again, &names));
  TD_DO(td_keys_at(names, 0, &name, &length));
  TD_CHECK_INT(length, 1);
  TD_CHECK_SAME_TEXT(name[0], "time");

  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.separator = "/";
  options.metadata = "{\"format\":\"pt\"}";
  options.durable = 1;
  TD_DO(td_file_save(td, td_here("f.safetensors"), &options)); /* over the old one */
  options.metadata = NULL;
  TD_DO(td_file_load(td_here("f.safetensors"), &options, &again));
  TD_CHECK_EQUAL(td, again);
  char *metadata = td_metadata_of(td_here("f.safetensors"));
  TD_CHECK_TEXT(metadata, "{\"format\":\"pt\",\"tensordict\":\"");
  options.metadata = metadata; /* ours in it is made anew */
  TD_DO(td_file_save(td, td_here("g.safetensors"), &options));
  check_same_file(td_here("g.safetensors"), td_here("f.safetensors"));
  free(metadata);
}

TD_TEST(bytes_as_the_reference_writes_them) {
  static const char want[] =
      "{\"b\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
      "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]},"
      "\"c\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[16,20]}}      ";
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("c"), td_filled(TD_DTYPE_FLOAT32, 3, TD_NO_SIZES));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(1)));
  TD_DO(td_file_save(td, td_here("f.safetensors"), NULL));
  size_t size = 0;
  char *bytes = td_read_file(td_here("f.safetensors"), &size);
  uint64_t length = 0;
  memcpy(&length, bytes, 8);
  TD_CHECK_INT(length % 8, 0);
  TD_CHECK_INT(size, 8 + length + 20);
  TD_CHECK(length <= sizeof want && memcmp(bytes + 8, want, length) == 0);
  const int64_t five = 5;
  TD_CHECK(memcmp(bytes + 8 + length, &five, 8) == 0);
  free(bytes);
}

TD_TEST(joined_names) {
  td_tensordict *td = NULL;
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.separator = "";
  TD_DO(td_file_load(theirs("model.safetensors"), &options, &td));
  TD_CHECK_ENTRY(td, TD_KEY("layer.bias"), TD_SIZES(3), TD_VALUES(1, 2, 3));
  td_put(td, TD_KEY("layer.bias.x"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(1)));
  TD_DO(td_file_save(td, td_here("f.safetensors"), &options));
  /* A tensor cannot be a dictionary too. */
  TD_EXPECT_NULL(td_file_load(td_here("f.safetensors"), NULL, &td), TD_ERR_KEY_EXISTS, td);
  TD_CHECK_TEXT(td_last_error_message(), "layer");
  TD_DO(td_file_load(td_here("f.safetensors"), &options, &td));

  td = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("a", "b"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  TD_EXPECT(td_file_save(td, td_here("g.safetensors"), &options), TD_ERR_KEY_INVALID);
  td_put(td, TD_KEY("a.b"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  TD_EXPECT(td_file_save(td, td_here("g.safetensors"), NULL), TD_ERR_KEY_EXISTS);
  options.separator = "::";
  TD_DO(td_file_save(td, td_here("g.safetensors"), &options));
  td_tensordict *again = NULL;
  TD_DO(td_file_load(td_here("g.safetensors"), &options, &again));
  TD_CHECK_EQUAL(td, again);
}

TD_TEST(mapped_and_written_through) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_DO(td_file_save(td, td_here("f.safetensors"), NULL));
  td_free(td);
  td_tensor *nine = td_filled(TD_DTYPE_FLOAT32, 9, TD_SIZES(2));
  td = load(td_here("f.safetensors"));
  TD_DO(td_set_inplace(td, TD_KEY("a"), nine)); /* stays here */
  td_free(td);
  td = load(td_here("f.safetensors"));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
  td_free(td);
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.write_through = 1;
  TD_DO(td_file_load(td_here("f.safetensors"), &options, &td));
  TD_DO(td_set_inplace(td, TD_KEY("a"), nine));
  TD_DO(td_memmap_flush(td));
  td_free(td);
  td = load(td_here("f.safetensors"));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(9, 9));
}

TD_TEST(batch_dimensions_of_others) {
  td_tensordict *td = NULL;
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.batch_dims = 1;
  TD_EXPECT_NULL(td_file_load(theirs("model.safetensors"), &options, &td), TD_ERR_SHAPE, td);
  options.separator = ".";
  TD_DO(td_file_load(theirs("stored.npz"), &options, &td));
  TD_CHECK_BATCH(td, 2);
  td_tensordict *n = td_take_dict(td, TD_KEY("n"));
  TD_CHECK_BATCH(n, 2);
  options.batch_dims = 2;
  TD_EXPECT_NULL(td_file_load(theirs("stored.npz"), &options, &td), TD_ERR_SHAPE, td);
  options.batch_dims = -1;
  TD_EXPECT_NULL(td_file_load(theirs("stored.npz"), &options, &td), TD_ERR_INVALID_ARGUMENT, td);
}

TD_TEST(arrays_of_every_dtype) {
  static const struct {
    const char *code;
    td_dtype dtype;
  } rows[] = {{"b1", TD_DTYPE_BOOL},      {"u1", TD_DTYPE_UINT8},      {"i1", TD_DTYPE_INT8},
              {"i2", TD_DTYPE_INT16},     {"i4", TD_DTYPE_INT32},      {"i8", TD_DTYPE_INT64},
              {"f2", TD_DTYPE_FLOAT16},   {"f4", TD_DTYPE_FLOAT32},    {"f8", TD_DTYPE_FLOAT64},
              {"c8", TD_DTYPE_COMPLEX64}, {"c16", TD_DTYPE_COMPLEX128}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char name[16];
    snprintf(name, sizeof name, "%s.npy", rows[i].code);
    td_tensor *tensor = NULL;
    td_dtype dtype = TD_DTYPE_OTHER;
    TD_DO(td_file_load_tensor(theirs(name), NULL, &tensor));
    TD_DO(td_tensor_dtype(tensor, &dtype));
    TD_CHECK_INT(dtype, rows[i].dtype);
    TD_CHECK_SIZES(tensor, 2, 3);
    if (rows[i].dtype == TD_DTYPE_BOOL) {
      TD_CHECK_VALUES(tensor, 0, 0, 1, 0, 0, 1);
    } else if (rows[i].dtype != TD_DTYPE_COMPLEX64 && rows[i].dtype != TD_DTYPE_COMPLEX128) {
      check_converted(tensor, TD_VALUES(1, 2, 3, 4, 5, 6));
    }
    TD_DO(td_file_save_tensor(tensor, td_here(name), NULL));
    check_same_file(td_here(name), theirs(name));
  }
}

TD_TEST(arrays_of_other_forms) {
  td_tensor *tensor = NULL;
  TD_DO(td_file_load_tensor(theirs("scalar.npy"), NULL, &tensor));
  TD_CHECK_VALUES(tensor, 5);
  TD_DO(td_file_load_tensor(theirs("empty.npy"), NULL, &tensor));
  TD_CHECK_SIZES(tensor, 0, 4);
  TD_DO(td_file_load_tensor(theirs("fortran.npy"), NULL, &tensor));
  TD_CHECK_SIZES(tensor, 2, 3);
  TD_CHECK_VALUES(tensor, 0, 2, 4, 1, 3, 5);
  TD_DO(td_file_save_tensor(tensor, td_here("f.npy"), NULL)); /* row-major */
  TD_DO(td_file_load_tensor(td_here("f.npy"), NULL, &tensor));
  TD_CHECK_VALUES(tensor, 0, 2, 4, 1, 3, 5);
  TD_DO(td_file_load_tensor(theirs("big.npy"), NULL, &tensor));
  TD_CHECK_VALUES(tensor, 1, 2, 3);
  TD_DO(td_file_load_tensor(theirs("big_complex.npy"), NULL, &tensor));
  float parts[4];
  TD_DO(td_tensor_copy_to(tensor, parts, sizeof parts));
  TD_CHECK(parts[0] == 1 && parts[1] == -1 && parts[2] == 2 && parts[3] == -2);
  TD_EXPECT_NULL(td_file_load_tensor(theirs("text.npy"), NULL, &tensor), TD_ERR_DTYPE, tensor);
  TD_CHECK_TEXT(td_last_error_message(), "<U3");
  TD_EXPECT_NULL(td_file_load_tensor(theirs("objects.npy"), NULL, &tensor), TD_ERR_DTYPE, tensor);
  TD_EXPECT_NULL(td_file_load_tensor(theirs("records.npy"), NULL, &tensor), TD_ERR_WRONG_ENTRY,
                 tensor);
  TD_EXPECT_NULL(td_file_load_tensor(theirs("stored.npz"), NULL, &tensor), TD_ERR_WRONG_ENTRY,
                 tensor);
  TD_DO(td_tensor_zeros((const int64_t[]){2}, 1, TD_DTYPE_BFLOAT16, TD_DEVICE_NONE, -1, &tensor));
  TD_EXPECT(td_file_save_tensor(tensor, td_here("b.npy"), NULL), TD_ERR_DTYPE);
  TD_EXPECT(td_file_save_tensor(tensor, td_here("b.safetensors"), NULL), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK_INT(td_exists(td_here("b.npy")), 0);
}

TD_TEST(arrays_of_records) {
  td_tensordict *td = load(theirs("packed.npy"));
  TD_CHECK_BATCH(td, 3);
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  TD_CHECK_ENTRY(td, TD_KEY("\xc3\xa9"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  TD_CHECK_ENTRY(td, TD_KEY("v"), TD_SIZES(3, 2), TD_VALUES(0, 1, 10, 11, 20, 21));
  TD_DO(td_file_save(td, td_here("f.npy"), NULL));
  td_tensordict *again = load(td_here("f.npy"));
  TD_CHECK_EQUAL(td, again);

  td = load(theirs("records.npy"));
  TD_CHECK_BATCH(td, 2, 2);
  TD_CHECK_ENTRY(td, TD_KEY("t"), TD_SIZES(2, 2), TD_VALUES(0, 1, 2, 3));
  TD_CHECK_ENTRY(td, TD_KEY("in", "p"), TD_SIZES(2, 2, 3),
                 TD_VALUES(0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5));
  TD_DO(td_file_save(td, td_here("g.npy"), NULL));
  check_same_file(td_here("g.npy"), theirs("records.npy"));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("note"), "1"));
  TD_EXPECT(td_file_save(td, td_here("g.npy"), NULL), TD_ERR_UNSUPPORTED);
  check_same_file(td_here("g.npy"), theirs("records.npy"));

  td = load(theirs("i4.npy")); /* a dictionary of one tensor without a name */
  TD_CHECK_ENTRY(td, TD_KEY("arr_0"), TD_SIZES(2, 3), TD_VALUES(1, 2, 3, 4, 5, 6));
  TD_DO(td_file_save(td, td_here("h.npy"), NULL));
  check_same_file(td_here("h.npy"), theirs("i4.npy"));
}

TD_TEST(archives_of_arrays) {
  static const char *const names[] = {"stored.npz", "deflated.npz"};
  for (int i = 0; i < 2; i++) {
    td_tensordict *td = load(theirs(names[i])), *again = NULL;
    TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(0, 1, 2, 3, 4, 5));
    TD_CHECK_ENTRY(td, TD_KEY("n.b"), TD_SIZES(2), TD_VALUES(4, 5)); /* a name is a name */
    td_file_options options = TD_FILE_OPTIONS_INIT;
    options.separator = ".";
    TD_DO(td_file_load(theirs(names[i]), &options, &td));
    TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(4, 5));
    options.separator = NULL;
    options.deflate = i;
    TD_DO(td_file_save(td, td_here("f.npz"), &options));
    again = load(td_here("f.npz"));
    TD_CHECK_EQUAL(td, again);
    td_free(again);
    options.write_through = 1;
    if (i == 0) {
      TD_DO(td_file_load(td_here("f.npz"), &options, &again));
    } else {
      TD_EXPECT_NULL(td_file_load(td_here("f.npz"), &options, &again), TD_ERR_UNSUPPORTED, again);
    }
    TD_DO(td_set_non_tensor_json(td, TD_KEY("note"), "1"));
    TD_EXPECT(td_file_save(td, td_here("f.npz"), NULL), TD_ERR_UNSUPPORTED);
    TD_CHECK_INT(td_count_entries(td_test_folder()), 1);
  }
}

TD_TEST(names_of_arrays_stay_as_they_are) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *again = NULL;
  td_file_options options = TD_FILE_OPTIONS_INIT;
  td_put(td, TD_KEY("a.b"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  TD_DO(td_file_save(td, td_here("f.npz"), NULL));
  again = load(td_here("f.npz"));
  TD_CHECK_EQUAL(td, again);
  options.separator = ".";
  TD_DO(td_file_load(td_here("f.npz"), &options, &again));
  TD_CHECK_ENTRY(again, TD_KEY("a", "b"), TD_SIZES(2), TD_VALUES(1, 2));
  /* Names that were joined are split again, by what joined them. */
  td_put(td, TD_KEY("c", "d"), td_arange(TD_DTYPE_FLOAT32, 3, TD_SIZES(1)));
  TD_EXPECT(td_file_save(td, td_here("f.npz"), NULL), TD_ERR_KEY_INVALID);
  TD_CHECK_TEXT(td_last_error_message(), "\"a.b\"");
  options.separator = "::";
  TD_DO(td_file_save(td, td_here("f.npz"), &options));
  again = load(td_here("f.npz"));
  TD_CHECK_EQUAL(td, again);
  options.separator = "";
  TD_DO(td_file_load(td_here("f.npz"), &options, &again));
  TD_CHECK_ENTRY(again, TD_KEY("c::d"), TD_SIZES(1), TD_VALUES(3));
}

static void check_checkpoint(const char *name) {
  td_tensordict *td = load(theirs(name));
  TD_CHECK_NO_BATCH(td);
  TD_CHECK_ENTRY(td, TD_KEY("model", "layer.weight"), TD_SIZES(3, 4),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  TD_CHECK_ENTRY(td, TD_KEY("model", "layer.tied"), TD_SIZES(4, 3),
                 TD_VALUES(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  TD_CHECK_ENTRY(td, TD_KEY("model", "layer.row"), TD_SIZES(4), TD_VALUES(4, 5, 6, 7));
  td_tensor *weight = td_take(td, TD_KEY("model", "layer.weight"));
  td_tensor *tied = td_take(td, TD_KEY("model", "layer.tied"));
  TD_CHECK(td_same_memory(weight, tied));
  td_tensor_free(tied);
  td_tensor_free(weight);
  TD_CHECK_ENTRY(td, TD_KEY("steps", "0"), TD_SIZES(3), TD_VALUES(5, 6, 7));
  TD_CHECK_ENTRY(td, TD_KEY("steps", "1"), TD_NO_SIZES, TD_VALUES(7));
  TD_CHECK_ENTRY(td, TD_KEY("pair", "0"), TD_SIZES(2), TD_VALUES(6, 7));
  TD_CHECK_JSON(td, TD_KEY("pair", "1"), "7");
  TD_CHECK_JSON(td, TD_KEY("epoch"), "3");
  TD_CHECK_JSON(td, TD_KEY("best"), "Infinity"); /* as Python's json writes it */
  TD_CHECK_JSON(td, TD_KEY("rate"), "0.5");
  TD_CHECK_JSON(td, TD_KEY("big"), "1099511627776");
  TD_CHECK_JSON(td, TD_KEY("name"), "\"caf\xc3\xa9\"");
  TD_CHECK_JSON(td, TD_KEY("done"), "false");
  TD_CHECK_JSON(td, TD_KEY("none"), "null");
  TD_CHECK_JSON(td, TD_KEY("shape"), "[2,3]");
  TD_CHECK_JSON(td, TD_KEY("list"), "[1,\"two\",[3.0]]");
  td_tensordict *empty = td_take_dict(td, TD_KEY("empty"));
  td_free(empty);
  td_tensor *nothing = td_take(td, TD_KEY("nothing"));
  TD_CHECK_SIZES(nothing, 0, 2);
  td_tensor_free(nothing);
  td_free(td);
}

TD_TEST(checkpoints_of_torch) {
  check_checkpoint("checkpoint.pt");
  check_checkpoint("unaligned.pt");
  check_checkpoint("deflated.pt");
  td_tensordict *td = NULL;
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.separator = ".";
  TD_DO(td_file_load(theirs("checkpoint.pt"), &options, &td));
  TD_CHECK_ENTRY(td, TD_KEY("model", "layer", "row"), TD_SIZES(4), TD_VALUES(4, 5, 6, 7));
  td = load(theirs("big.pt"));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(1, 2, 3));
  td = load(theirs("tensor.pt"));
  TD_CHECK_ENTRY(td, TD_KEY("arr_0"), TD_SIZES(2), TD_VALUES(2, 3));
  td_tensor *tensor = NULL;
  TD_DO(td_file_load_tensor(theirs("tensor.pt"), NULL, &tensor));
  TD_CHECK_VALUES(tensor, 2, 3);
  TD_EXPECT_NULL(td_file_load_tensor(theirs("checkpoint.pt"), NULL, &tensor), TD_ERR_WRONG_ENTRY,
                 tensor);
}

TD_TEST(nothing_in_a_checkpoint_is_run) {
  static const struct {
    const char *name;
    td_status status;
  } rows[] = {{"evil.pt", TD_ERR_UNSUPPORTED},
              {"old.pt", TD_ERR_UNSUPPORTED},
              {"beyond.pt", TD_ERR_FORMAT},
              {"short.pt", TD_ERR_FORMAT},
              {"cycle.pt", TD_ERR_FORMAT}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    td_tensordict *td = NULL;
    TD_EXPECT_NULL(td_file_load(theirs(rows[i].name), NULL, &td), rows[i].status, td);
  }
}

typedef struct row {
  double time;
  float position[3];
  uint8_t alive;
} row;

TD_TEST(raw_records) {
  const int64_t three[] = {3};
  const td_member members[] = {
      TD_MEMBER(row, time, TD_DTYPE_FLOAT64, "time"),
      {TD_KEY("state", "position"), three, 1, offsetof(row, position), TD_DTYPE_FLOAT32, 0},
      TD_MEMBER(row, alive, TD_DTYPE_UINT8, "alive")};
  char bytes[16 + 2 * sizeof(row)] = {0};
  const row rows[2] = {{0.5, {1, 2, 3}, 1}, {1.5, {4, 5, 6}, 0}};
  memcpy(bytes + 16, rows, sizeof rows);
  td_write_file(td_here("log.bin"), bytes, sizeof bytes);
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.members = members;
  options.members_len = 3;
  options.item_bytes = sizeof(row);
  options.header_bytes = 16;
  options.write_through = 1; /* so that nothing is copied */
  td_tensordict *td = NULL, *again = NULL;
  TD_DO(td_file_load(td_here("log.bin"), &options, &td));
  TD_CHECK_BATCH(td, 2);
  TD_CHECK_ENTRY(td, TD_KEY("time"), TD_SIZES(2), TD_VALUES(0.5, 1.5));
  TD_CHECK_ENTRY(td, TD_KEY("state", "position"), TD_SIZES(2, 3), TD_VALUES(1, 2, 3, 4, 5, 6));
  TD_CHECK_ENTRY(td, TD_KEY("alive"), TD_SIZES(2), TD_VALUES(1, 0));
  TD_DO(td_file_save(td, td_here("again.bin"), &options));
  TD_DO(td_file_load(td_here("again.bin"), &options, &again));
  TD_CHECK_EQUAL(td, again);
  options.header_bytes = 8; /* no whole number of records */
  TD_EXPECT_NULL(td_file_load(td_here("log.bin"), &options, &again), TD_ERR_FORMAT, again);
  options.header_bytes = 16;
  options.item_bytes = 16; /* the fields reach beyond */
  TD_EXPECT_NULL(td_file_load(td_here("log.bin"), &options, &again), TD_ERR_SHAPE, again);
  TD_EXPECT(td_file_save(td, td_here("again.bin"), &options), TD_ERR_SHAPE);
  options.item_bytes = 0;
  TD_EXPECT_NULL(td_file_load(td_here("log.bin"), &options, &again), TD_ERR_SHAPE, again);
  options.item_bytes = sizeof(row);
  options.members_len = 0;
  options.format = TD_FILE_RAW;
  TD_EXPECT_NULL(td_file_load(td_here("log.bin"), &options, &again), TD_ERR_INVALID_ARGUMENT,
                 again);
  options.members = (const td_member[]){members[0], members[0]};
  options.members_len = 2;
  TD_EXPECT_NULL(td_file_load(td_here("log.bin"), &options, &again), TD_ERR_KEY_EXISTS, again);
  /* Not at a multiple of its size: copied. */
  td_member shifted = members[0];
  shifted.offset = 3;
  options.members = &shifted;
  options.members_len = 1;
  TD_EXPECT_NULL(td_file_load(td_here("log.bin"), &options, &again), TD_ERR_UNSUPPORTED, again);
  options.write_through = 0;
  TD_DO(td_file_load(td_here("log.bin"), &options, &again));
}

TD_TEST(many_records_are_written_in_pieces) {
  const td_member members[] = {{TD_KEY("a"), NULL, 0, 8, TD_DTYPE_INT64, 0}};
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.members = members;
  options.members_len = 1;
  options.item_bytes = 64;
  td_tensordict *td = td_empty(TD_SIZES(200000)), *again = NULL;
  int64_t *numbers = malloc(200000 * sizeof *numbers);
  for (int64_t i = 0; i < 200000; i++) numbers[i] = 3 * i;
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_data(numbers, 200000 * sizeof *numbers, TD_SIZES(200000), TD_DTYPE_INT64,
                            &tensor));
  td_put(td, TD_KEY("a"), tensor);
  free(numbers);
  TD_DO(td_file_save(td, td_here("f"), &options));
  TD_CHECK_INT(td_file_size(td_here("f")), 64 * 200000);
  TD_DO(td_file_load(td_here("f"), &options, &again));
  TD_CHECK_EQUAL(td, again);
  td = td_empty(TD_SIZES(0));
  TD_EXPECT(td_file_save(td, td_here("f"), &options), TD_ERR_KEY_NOT_FOUND);
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(0)));
  TD_DO(td_file_save(td, td_here("f"), &options));
  TD_DO(td_file_load(td_here("f"), &options, &again));
  TD_CHECK_BATCH(again, 0);
}

TD_TEST(what_a_format_has_not_is_refused) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
  td_tensor *wide = NULL;
  TD_DO(td_tensor_zeros((const int64_t[]){2}, 1, TD_DTYPE_COMPLEX128, TD_DEVICE_NONE, -1, &wide));
  td_put(td, TD_KEY("a"), wide);
  TD_EXPECT(td_file_save(td, td_here("f.safetensors"), NULL), TD_ERR_DTYPE);
  TD_DO(td_file_save(td, td_here("f.npz"), NULL));
  TD_EXPECT(td_file_save(td, td_here("f.unknown"), NULL), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_file_save(td, "", NULL), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_file_save(td, td_here("no/f.npz"), NULL), TD_ERR_IO);
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.format = TD_FILE_NPZ;
  TD_EXPECT(td_file_save(td, td_test_folder(), &options), TD_ERR_IO);
  options.format = 99;
  TD_EXPECT(td_file_save(td, td_here("f"), &options), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT_NULL(td_file_load(td_here("f.npz"), &options, &result), TD_ERR_INVALID_ARGUMENT,
                 result);
  options.format = TD_FILE_NPZ;
  options.metadata = "{}";
  TD_EXPECT(td_file_save(td, td_here("f"), &options), TD_ERR_INVALID_ARGUMENT);
  td = td_empty(TD_SIZES(2));
  options.format = TD_FILE_SAFETENSORS;
  options.metadata = "{\"a\":1}";
  TD_EXPECT(td_file_save(td, td_here("f"), &options), TD_ERR_INVALID_ARGUMENT);
  options.metadata = "{";
  TD_EXPECT(td_file_save(td, td_here("f"), &options), TD_ERR_FORMAT);
  options.metadata = NULL;
  td_put(td, TD_KEY("__metadata__"), td_filled(TD_DTYPE_UINT8, 1, TD_SIZES(2)));
  TD_EXPECT(td_file_save(td, td_here("f"), &options), TD_ERR_KEY_INVALID);
  TD_DO(td_create((const int64_t[]){2}, 1, TD_DEVICE_META, -1, &td));
  td_tensor *meta = NULL;
  TD_DO(td_tensor_zeros((const int64_t[]){2}, 1, TD_DTYPE_FLOAT32, TD_DEVICE_META, -1, &meta));
  TD_DO(td_set(td, TD_KEY("a"), meta));
  TD_EXPECT(td_file_save(td, td_here("f.safetensors"), NULL), TD_ERR_DEVICE);
  TD_EXPECT(td_file_save_tensor(meta, td_here("f.npy"), NULL), TD_ERR_DEVICE);
  TD_EXPECT_NULL(td_file_load(td_here("none"), NULL, &result), TD_ERR_IO, result);
  TD_EXPECT_NULL(td_file_load(td_test_folder(), NULL, &result), TD_ERR_IO, result);
  td_write_text(td_here("text"), "hello");
  TD_EXPECT_NULL(td_file_load(td_here("text"), NULL, &result), TD_ERR_FORMAT, result);
  TD_CHECK(symlink(theirs("f4.npy"), td_here("link.npy")) == 0);
  TD_EXPECT_NULL(td_file_load(td_here("link.npy"), NULL, &result), TD_ERR_IO, result);
  size_t length = 0;
  TD_EXPECT(td_file_metadata(theirs("f4.npy"), NULL, NULL, 0, &length), TD_ERR_WRONG_ENTRY);
  char small[4];
  TD_EXPECT(td_file_metadata(theirs("model.safetensors"), NULL, small, sizeof small, &length),
            TD_ERR_BUFFER_TOO_SMALL);
}

TD_TEST(lazy_stacks_are_read_out) {
  td_tensordict *one = td_sample(), *two = td_sample(), *stack = NULL, *again = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, 0, &stack));
  TD_DO(td_file_save(stack, td_here("f.safetensors"), NULL));
  again = load(td_here("f.safetensors"));
  TD_CHECK_BATCH(again, 2, 4, 3);
  TD_CHECK_EQUAL(stack, again);
}

/* The document that Python reads: each element gets the value, not the list of all. */
TD_TEST(one_value_of_all_elements_is_written_once) {
  td_tensordict *one = td_sample(), *two = td_sample(), *stack = NULL, *again = NULL;
  TD_DO(td_set_non_tensor_json(one, TD_KEY("word"), "\"w\""));
  TD_DO(td_set_non_tensor_json(two, TD_KEY("word"), "\"w\""));
  TD_DO(td_set_non_tensor_json(one, TD_KEY("other"), "1"));
  TD_DO(td_set_non_tensor_json(two, TD_KEY("other"), "2"));
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, 0, &stack));
  TD_DO(td_file_save(stack, td_here("f.safetensors"), NULL));
  char text[4096] = "";
  FILE *file = fopen(td_here("f.safetensors"), "rb");
  TD_CHECK(file != NULL);
  const size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  for (size_t i = 0; i < length; ++i) {
    if (text[i] == '\0') text[i] = ' ';
  }
  TD_CHECK(strstr(text, "\\\"word\\\": {\\\"non_tensor\\\": \\\"w\\\"}") != NULL);
  TD_CHECK(strstr(text, "\\\"other\\\": {\\\"non_tensor\\\": [") != NULL);
  again = load(td_here("f.safetensors"));
  TD_CHECK_EQUAL(stack, again);
}
