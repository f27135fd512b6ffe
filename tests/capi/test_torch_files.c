/* Files of torch.save with dictionaries of Python's tensordict: those of 0.15.3 are read (tests/data/files/make15.py), and
 * what is written is read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

static const char *theirs(const char *name) { return td_path(td_golden("../files"), name); }

static td_tensordict *load(const char *path) {
  td_tensordict *td = NULL;
  TD_DO(td_file_load(path, NULL, &td));
  return td;
}

static void check_name(const td_tensordict *td, size_t dim, const char *want) {
  td_keys *names = NULL;
  const char *const *name = NULL;
  size_t length = 0;
  TD_DO(td_names(td, &names));
  TD_DO(td_keys_at(names, dim, &name, &length));
  TD_CHECK_INT(length, want ? 1 : 0);
  if (want) TD_CHECK_SAME_TEXT(name[0], want);
  td_keys_free(names);
}

/* Loaded, or loaded from what was saved of it. */
static td_tensordict *both(const char *name, int again) {
  td_tensordict *td = load(theirs(name)), *result = td;
  if (again) {
    TD_DO(td_file_save(td, td_here("again.pt"), NULL));
    result = load(td_here("again.pt"));
    TD_CHECK_EQUAL(td, result);
    td_free(td);
  }
  return result;
}

TD_TEST(a_dictionary_is_what_it_was) {
  for (int again = 0; again < 2; again++) {
    td_tensordict *td = both("dict15.pt", again);
    TD_CHECK_BATCH(td, 4);
    check_name(td, 0, "time");
    TD_CHECK_FLAG(td_is_locked, td, 0);
    td_device_type device = TD_DEVICE_NONE;
    int32_t number = 0;
    TD_DO(td_device(td, &device, &number));
    TD_CHECK_INT(device, TD_DEVICE_CPU);
    TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 1, 2, 3));
    TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 2), TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7));
    TD_CHECK_DTYPE(td, TD_KEY("small"), TD_DTYPE_INT16);
    TD_CHECK_DTYPE(td, TD_KEY("half"), TD_DTYPE_BFLOAT16);
    td_tensordict *n = td_take_dict(td, TD_KEY("n")), *empty = td_take_dict(td, TD_KEY("empty"));
    TD_CHECK_BATCH(n, 4, 2);
    check_name(n, 0, "time");
    check_name(n, 1, NULL);
    TD_CHECK_BATCH(empty, 4);
    TD_CHECK_JSON(td, TD_KEY("s"), "\"txt\"");
    TD_CHECK_JSON(td, TD_KEY("nan"), "NaN");
    TD_CHECK_JSON(td, TD_KEY("raw"), "{\"$bytes\":\"YWL/\"}");
    TD_CHECK_JSON(td, TD_KEY("each"), "[\"p\", \"q\", \"r\", \"s\"]");
  }
}

TD_TEST(a_lazy_stack_is_what_it_was) {
  for (int again = 0; again < 2; again++) {
    td_tensordict *td = both("lazy15.pt", again), *second = NULL;
    td_dict_kind kind = 0;
    TD_DO(td_kind(td, &kind));
    TD_CHECK_INT(kind, TD_DICT_LAZY_STACK);
    TD_CHECK_BATCH(td, 2);
    check_name(td, 0, "st");
    TD_DO(td_index(td, TD_AT(TD_I_INT(1)), &second));
    TD_CHECK_ENTRY(second, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 1, 2));
    TD_CHECK_ENTRY(second, TD_KEY("b"), TD_SIZES(1), TD_VALUES(1));
  }
}

TD_TEST(a_tensorclass_is_what_it_was) {
  for (int again = 0; again < 2; again++) {
    td_tensordict *td = both("tensorclass15.pt", again), *t = td_take_dict(td, TD_KEY("t"));
    char name[64];
    size_t length = 0;
    td_tensorclass *type = NULL;
    TD_DO(td_tensorclass_of(t, &type));
    TD_DO(td_tensorclass_name(type, name, sizeof name, &length));
    td_tensorclass_free(type);
    TD_CHECK_SAME_TEXT(name, "Sample");
    TD_CHECK_ENTRY(t, TD_KEY("x"), TD_SIZES(2), TD_VALUES(0, 1));
    TD_CHECK_JSON(t, TD_KEY("label"), "\"l\"");
    td_put(t, TD_KEY("y"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2))); /* the field that was None */
  }
}

TD_TEST(parameters_locks_and_what_is_consolidated) {
  td_tensordict *td = load(theirs("parameters15.pt"));
  TD_CHECK_ENTRY(td, TD_KEY("w"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_CHECK_ENTRY(td, TD_KEY("n", "v"), TD_SIZES(3), TD_VALUES(1, 1, 1));
  for (int again = 0; again < 2; again++) {
    td = both("locked15.pt", again);
    TD_CHECK_FLAG(td_is_locked, td, 1);
    td_tensordict *n = td_take_dict(td, TD_KEY("n"));
    TD_CHECK_FLAG(td_is_locked, n, 1);
    TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(0, 0));
  }
  td = both("consolidated15.pt", 0);
  TD_CHECK_BATCH(td, 3);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  TD_CHECK_JSON(td, TD_KEY("s"), "\"x\"");
  td = load(theirs("checkpoint15.pt")); /* in a dict of Python */
  TD_CHECK_NO_BATCH(td);
  TD_CHECK_JSON(td, TD_KEY("step"), "3");
  TD_CHECK_JSON(td, TD_KEY("list", "0"), "\"v\"");
  TD_CHECK_ENTRY(td, TD_KEY("td", "a"), TD_SIZES(2), TD_VALUES(0, 1));
  td_tensordict *inner = td_take_dict(td, TD_KEY("td"));
  TD_CHECK_BATCH(inner, 2);
}

TD_TEST(what_needs_python_is_refused_by_its_name) {
  td_tensordict *td = NULL;
  TD_EXPECT_NULL(td_file_load(theirs("mapped15.pt"), NULL, &td), TD_ERR_UNSUPPORTED, td);
  TD_CHECK_TEXT(td_last_error_message(), "tensordict.memmap.MemoryMappedTensor");
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.max_entries = 5;
  TD_EXPECT_NULL(td_file_load(theirs("dict15.pt"), &options, &td), TD_ERR_FORMAT, td);
  options.max_entries = 0;
  options.max_depth = 1;
  TD_EXPECT_NULL(td_file_load(theirs("dict15.pt"), &options, &td), TD_ERR_FORMAT, td);
}

TD_TEST(other_batch_dimensions_are_those_of_the_caller) {
  td_tensordict *td = NULL;
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.batch_dims = 1;
  TD_DO(td_file_load(theirs("consolidated15.pt"), &options, &td));
  TD_CHECK_BATCH(td, 3);
  options.batch_dims = 2;
  TD_EXPECT_NULL(td_file_load(theirs("consolidated15.pt"), &options, &td), TD_ERR_SHAPE, td);
}

TD_TEST(every_dtype_and_every_layout) {
  static const td_dtype dtypes[] = {TD_DTYPE_BOOL,      TD_DTYPE_UINT8,   TD_DTYPE_INT8,
                                    TD_DTYPE_INT32,     TD_DTYPE_INT64,   TD_DTYPE_FLOAT16,
                                    TD_DTYPE_FLOAT32,   TD_DTYPE_FLOAT64, TD_DTYPE_COMPLEX64,
                                    TD_DTYPE_COMPLEX128};
  td_tensordict *td = td_empty(TD_SIZES(2)), *turned = NULL, *again = NULL;
  char name[16];
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    td_tensor *numbers = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)), *tensor = NULL;
    TD_DO(td_tensor_to(numbers, dtypes[i], TD_DEVICE_NONE, -1, &tensor));
    td_tensor_free(numbers);
    snprintf(name, sizeof name, "t%zu", i);
    td_put(td, TD_KEY(name), tensor);
  }
  td_put(td, TD_KEY("none"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 0)));
  TD_DO(td_file_save(td, td_here("f.pt"), NULL));
  again = load(td_here("f.pt"));
  TD_CHECK_EQUAL(td, again);
  td_free(again);
  TD_DO(td_index(td, TD_AT(TD_I_SLICE(1, 2)), &turned)); /* a part of larger storages */
  TD_DO(td_file_save(turned, td_here("f.pt"), NULL));
  again = load(td_here("f.pt"));
  TD_CHECK_BATCH(again, 1);
  TD_CHECK_ENTRY(again, TD_KEY("t6"), TD_SIZES(1, 3), TD_VALUES(3, 4, 5));
  TD_CHECK_EQUAL(turned, again);
}

TD_TEST(tensors_in_one_place_are_stored_once) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_tensor *weight = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3, 4));
  TD_DO(td_set(td, TD_KEY("weight"), weight));
  TD_DO(td_set(td, TD_KEY("n", "tied"), weight));
  td_tensor_free(weight);
  TD_DO(td_file_save(td, td_here("tied.pt"), NULL));
  td_tensordict *again = load(td_here("tied.pt"));
  td_tensor *one = td_take(again, TD_KEY("weight")), *other = td_take(again, TD_KEY("n", "tied"));
  TD_CHECK(td_same_memory(one, other));
  TD_CHECK_VALUES(other, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
}

TD_TEST(one_tensor) {
  td_tensor *tensor = td_arange(TD_DTYPE_INT32, 4, TD_SIZES(2, 2)), *again = NULL;
  TD_DO(td_file_save_tensor(tensor, td_here("t.pt"), NULL));
  TD_DO(td_file_load_tensor(td_here("t.pt"), NULL, &again));
  TD_CHECK_SIZES(again, 2, 2);
  TD_CHECK_VALUES(again, 4, 5, 6, 7);
}

TD_TEST(what_a_pickle_cannot_say_is_refused) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  TD_DO(td_set_non_tensor_json(td, TD_KEY("n", "big"), "[1180591620717411303424]"));
  TD_EXPECT(td_file_save(td, td_here("f.pt"), NULL), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "\"big\"");
  TD_DO(td_remove(td, TD_KEY("n")));
  td_tensor *meta = NULL;
  TD_DO(td_tensor_zeros((const int64_t[]){2}, 1, TD_DTYPE_FLOAT32, TD_DEVICE_META, -1, &meta));
  td_put(td, TD_KEY("m"), meta);
  TD_EXPECT(td_file_save(td, td_here("f.pt"), NULL), TD_ERR_DEVICE);
  TD_CHECK_INT(td_count_entries(td_test_folder()), 0);
}
