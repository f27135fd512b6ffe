/* One buffer for all tensors: in memory, in a file byte for byte as Python writes it, and files that
 * say what cannot be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "td_files.h"
#include "td_sha256.h"
#include "td_values.h"

static char *address(const td_tensordict *td, const char *const *path, size_t path_len) {
  void *data = NULL;
  td_tensor *tensor = td_take(td, path, path_len);
  TD_DO(td_tensor_data(tensor, &data));
  return data;
}

/* {"a": float32 [3,4], "n": {"b": float32 [3], "c": float32 [3]}} of batch [3]. */
static td_tensordict *three(void) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3, 4)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 20, TD_SIZES(3)));
  td_put(td, TD_KEY("n", "c"), td_arange(TD_DTYPE_FLOAT32, 30, TD_SIZES(3)));
  return td;
}

TD_TEST(tensors_lie_one_after_the_other) {
  td_tensordict *td = three(), *packed = NULL, *again = NULL;
  TD_CHECK_FLAG(td_is_consolidated, td, 0);
  TD_DO(td_consolidate(td, NULL, NULL, &packed));
  TD_CHECK_EQUAL(td, packed);
  char *a = address(packed, TD_KEY("a"));
  TD_CHECK_INT(address(packed, TD_KEY("n", "b")) - a, 48);
  TD_CHECK_INT(address(packed, TD_KEY("n", "c")) - a, 64);
  TD_CHECK_FLAG(td_is_consolidated, packed, 1);
  TD_CHECK_FLAG(td_is_locked, packed, 1);
  TD_CHECK_FLAG(td_is_locked, td, 0);
  TD_CHECK_FLAG(td_is_consolidated, td, 0);
  TD_DO(td_consolidate(packed, NULL, NULL, &again));
  TD_CHECK(td_is_same_dict(packed, again));
  td_free(again);
  TD_DO(td_clone(packed, 0, &again));
  TD_CHECK_FLAG(td_is_consolidated, again, 0);
  td_free(again);
  TD_DO(td_unlock(packed));
  TD_CHECK_FLAG(td_is_consolidated, packed, 0);
}

TD_TEST(a_locked_dictionary_alone_is_not_consolidated) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(2)));
  TD_DO(td_lock(td));
  TD_CHECK_FLAG(td_is_consolidated, td, 0);
}

TD_TEST(in_place_the_dictionary_itself_changes) {
  td_tensordict *td = three();
  TD_DO(td_consolidate_inplace(td, NULL));
  TD_CHECK_FLAG(td_is_consolidated, td, 1);
  TD_CHECK_INT(address(td, TD_KEY("n", "c")) - address(td, TD_KEY("a")), 64);
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(20, 21, 22));
}

TD_TEST(a_device_is_one_copy_away) {
  td_tensordict *td = three(), *packed = NULL, *moved = NULL;
  td_consolidate_options options = TD_CONSOLIDATE_OPTIONS_INIT;
  options.device_type = TD_DEVICE_CPU;
  TD_DO(td_consolidate(td, NULL, &options, &packed));
  td_device_type type = TD_DEVICE_NONE;
  int32_t index = 0;
  TD_DO(td_device(packed, &type, &index));
  TD_CHECK_INT(type, TD_DEVICE_CPU);
  TD_DO(td_to_device(packed, TD_DEVICE_META, -1, NULL, &moved));
  TD_CHECK_FLAG(td_is_consolidated, moved, 0);
  td_free(moved);
  options.device_type = TD_DEVICE_META;
  TD_EXPECT_NULL(td_consolidate(td, NULL, &options, &moved), TD_ERR_DEVICE, moved);
  options.device_type = 0;
  options.pin_memory = 1;
  if (td_consolidate(td, NULL, &options, &moved) == TD_OK) {
    TD_CHECK_EQUAL(td, moved);
  } else {
    TD_CHECK_INT(td_last_error_code(), TD_ERR_DEVICE);
  }
}

/* The example of the format: 24 bytes of data, the text, its length. */
TD_TEST(the_file_is_that_of_python) {
  static const char text[] =
      "{\"cls\":\"TensorDict\",\"non_tensors\":{},\"leaves\":{\"a\":[\"torch.int16\",[3],0,8,2]},"
      "\"cls_metadata\":{\"device\":null,\"names\":[null],\"batch_size\":[3],\"is_locked\":false},"
      "\"n\":{\"cls\":\"TensorDict\",\"non_tensors\":{},\"leaves\":{\"b\":[\"torch.float32\",[3],8,"
      "24,4]},\"cls_metadata\":{\"device\":null,\"names\":[null],\"batch_size\":[3],\"is_locked\":"
      "false}}}";
  static const unsigned char data[24] = {0, 0, 1,    0,    2, 0, 0,    0,    0, 0, 0x80, 0x3f,
                                         0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f, 0, 0, 0,    0};
  td_tensordict *td = td_empty(TD_SIZES(3)), *mapped = NULL, *loaded = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT16, 0, TD_SIZES(3)));
  td_put(td, TD_KEY("n", "b"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(3)));
  TD_DO(td_consolidate(td, td_here("f"), NULL, &mapped));
  size_t size = 0;
  char *bytes = td_read_file(td_here("f"), &size);
  TD_CHECK_INT(size, 24 + strlen(text) + 8);
  TD_CHECK(memcmp(bytes, data, 24) == 0);
  TD_CHECK(memcmp(bytes + 24, text, strlen(text)) == 0);
  int64_t length = 0;
  memcpy(&length, bytes + size - 8, 8);
  TD_CHECK_INT(length, strlen(text));
  free(bytes);
  TD_CHECK_INT(td_count_entries(td_test_folder()), 1); /* nothing beside it */

  TD_CHECK_FLAG(td_is_consolidated, mapped, 1);
  TD_CHECK_ENTRY(mapped, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  TD_DO(td_consolidated_load(td_here("f"), NULL, &loaded));
  TD_CHECK_EQUAL(loaded, td);
  TD_CHECK_FLAG(td_is_locked, loaded, 0);
  td_tensor *seven = td_filled(TD_DTYPE_INT16, 7, TD_SIZES(3));
  TD_DO(td_set_inplace(loaded, TD_KEY("a"), seven)); /* stays here */
  td_free(loaded);
  TD_DO(td_consolidated_load(td_here("f"), NULL, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 1, 2));
}

TD_TEST(pythons_file_is_read_and_written_again) {
  td_tensordict *td = NULL, *again = NULL;
  TD_DO(td_consolidated_load(td_golden("consolidated"), NULL, &td));
  TD_CHECK_BATCH(td, 4);
  td_tensor *a = td_take(td, TD_KEY("a")), *b = td_take(td, TD_KEY("n", "b"));
  TD_CHECK_SIZES(a, 4, 3);
  TD_CHECK_VALUES(b, 19573, 13151, 10989, 10183);
  td_tensor_free(b);
  td_tensor_free(a);
  TD_DO(td_consolidate(td, td_here("f"), NULL, &again));
  size_t one = 0, other = 0;
  char *mine = td_read_file(td_here("f"), &one),
       *theirs = td_read_file(td_golden("consolidated"), &other);
  TD_CHECK_INT(one, other);
  TD_CHECK(memcmp(mine, theirs, one) == 0);
  free(theirs);
  free(mine);
}

TD_TEST(the_lock_and_the_device_travel) {
  td_tensordict *td = NULL, *mapped = NULL, *loaded = NULL;
  TD_DO(td_create((const int64_t[]){2}, 1, TD_DEVICE_CPU, -1, &td));
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_UINT8, 0, TD_SIZES(2)));
  TD_DO(td_lock(td));
  TD_DO(td_consolidate(td, td_here("f"), NULL, &mapped));
  TD_DO(td_consolidated_load(td_here("f"), NULL, &loaded));
  TD_CHECK_FLAG(td_is_locked, loaded, 1);
  td_device_type type = TD_DEVICE_NONE;
  int32_t index = 0;
  TD_DO(td_device(loaded, &type, &index));
  TD_CHECK_INT(type, TD_DEVICE_CPU);
  td_free(loaded);
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.device_type = TD_DEVICE_META;
  TD_DO(td_consolidated_load(td_here("f"), &options, &loaded));
  TD_DO(td_device(loaded, &type, &index));
  TD_CHECK_INT(type, TD_DEVICE_META);
}

static td_tensor *of_dtype(td_dtype dtype) {
  td_tensor *numbers = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3)), *tensor = NULL;
  TD_DO(td_tensor_to(numbers, dtype, TD_DEVICE_NONE, -1, &tensor));
  return tensor;
}

TD_TEST(all_dtypes_and_layouts) {
  static const td_dtype dtypes[] = {TD_DTYPE_UINT8,     TD_DTYPE_INT8,       TD_DTYPE_INT16,
                                    TD_DTYPE_INT32,     TD_DTYPE_INT64,      TD_DTYPE_FLOAT16,
                                    TD_DTYPE_FLOAT32,   TD_DTYPE_FLOAT64,    TD_DTYPE_BOOL,
                                    TD_DTYPE_COMPLEX64, TD_DTYPE_COMPLEX128, TD_DTYPE_BFLOAT16};
  td_tensordict *td = td_empty(TD_SIZES(3)), *packed = NULL, *loaded = NULL, *across = NULL;
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    char name[16];
    snprintf(name, sizeof name, "t%zu", i);
    const char *path[] = {name};
    td_put(td, path, 1, of_dtype(dtypes[i]));
  }
  td_put(td, TD_KEY("none"), td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(3, 0)));
  td_put(td, TD_KEY("odd"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(3)));
  td_put(td, TD_KEY("wide"), of_dtype(TD_DTYPE_COMPLEX128));
  TD_DO(td_consolidate(td, NULL, NULL, &packed));
  TD_CHECK_EQUAL(td, packed);
  TD_CHECK_INT((uintptr_t)address(packed, TD_KEY("wide")) % 16, 0);
  td_free(packed);
  TD_DO(td_consolidate(td, td_here("f"), NULL, &packed));
  TD_DO(td_consolidated_load(td_here("f"), NULL, &loaded));
  TD_CHECK_EQUAL(td, loaded);
  td_free(loaded);
  td_free(packed);
  td_free(td);
  td = td_sample();
  TD_DO(td_permute(td, TD_SIZES(1, 0), &across));
  TD_DO(td_consolidate(across, td_here("f"), NULL, &packed)); /* over the file that is there */
  TD_CHECK_EQUAL(across, packed);
  TD_DO(td_consolidated_load(td_here("f"), NULL, &loaded));
  TD_CHECK_EQUAL(across, loaded);
}

TD_TEST(values_that_are_no_tensors_travel) {
  td_tensordict *td = NULL, *packed = NULL, *loaded = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1;
  TD_DO(td_memmap_load(td_golden("nontensor"), &options, &td));
  TD_DO(td_consolidate(td, td_here("f"), NULL, &packed));
  TD_DO(td_consolidated_load(td_here("f"), NULL, &loaded));
  TD_CHECK_EQUAL(td, loaded);
  td_free(loaded);
  td_free(packed);
  TD_DO(td_consolidate(td, NULL, NULL, &packed));
  TD_CHECK_EQUAL(td, packed);
}

TD_TEST(empty_and_deep) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *packed = NULL, *loaded = NULL;
  TD_DO(td_consolidate(td, NULL, NULL, &packed));
  TD_CHECK_FLAG(td_is_consolidated, packed, 1);
  td_free(packed);
  TD_DO(td_consolidate(td, td_here("f"), NULL, &packed));
  TD_DO(td_consolidated_load(td_here("f"), NULL, &loaded));
  TD_CHECK_BATCH(loaded, 2);
  td_free(loaded);
  td_free(packed);
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  for (int i = 0; i < 3000; i++) {
    td_tensordict *above = td_empty(TD_SIZES(2));
    td_put_dict(above, TD_KEY("d"), td);
    td = above;
  }
  TD_DO(td_consolidate(td, td_here("f"), NULL, &packed));
  TD_CHECK_EQUAL(td, packed);
  TD_EXPECT_NULL(td_consolidated_load(td_here("f"), NULL, &loaded), TD_ERR_FORMAT, loaded);
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.max_depth = 3000;
  TD_DO(td_consolidated_load(td_here("f"), &options, &loaded));
  TD_CHECK_EQUAL(td, loaded);
}

/* Each level holds the one below it twice: 2^40 paths, 41 dictionaries. */
TD_TEST(shared_dictionaries_are_packed_once) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *packed = NULL, *copy = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  for (int i = 0; i < 40; i++) {
    td_tensordict *above = td_empty(TD_SIZES(2));
    TD_DO(td_set_dict(above, TD_KEY("l"), td));
    TD_DO(td_set_dict(above, TD_KEY("r"), td));
    td_free(td);
    td = above;
  }
  TD_DO(td_clone(td, 0, &copy));
  TD_DO(td_consolidate(td, NULL, NULL, &packed));
  TD_CHECK_FLAG(td_is_consolidated, packed, 1);
  td_free(packed);
  TD_EXPECT_NULL(td_consolidate(td, td_here("f"), NULL, &packed), TD_ERR_UNSUPPORTED, packed);
  TD_CHECK_INT(td_count_entries(td_test_folder()), 0);
}

TD_TEST(what_cannot_be_packed) {
  td_tensordict *td = three(), *result;
  td_put(td, TD_KEY("leaves", "x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  TD_EXPECT_NULL(td_consolidate(td, NULL, NULL, &result), TD_ERR_KEY_INVALID, result);
  TD_CHECK_TEXT(td_last_error_message(), "leaves");
  TD_DO(td_remove(td, TD_KEY("leaves")));
  td_put(td, TD_KEY("cls"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3))); /* a tensor may */
  TD_DO(td_consolidate(td, td_here("f"), NULL, &result));
  td_free(result);
  td_put(td, TD_KEY("<NJT_VALUES>x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(3)));
  TD_EXPECT_NULL(td_consolidate(td, td_here("f"), NULL, &result), TD_ERR_KEY_INVALID, result);
  TD_DO(td_remove(td, TD_KEY("<NJT_VALUES>x")));
  TD_EXPECT_NULL(td_consolidate(td, "", NULL, &result), TD_ERR_IO, result);
  TD_EXPECT_NULL(td_consolidate(td, td_test_folder(), NULL, &result), TD_ERR_IO, result);
  TD_EXPECT_NULL(td_consolidate(td, td_here("no/such/folder"), NULL, &result), TD_ERR_IO, result);
  TD_CHECK_FLAG(td_is_locked, td, 0);
}

/* A file of `data` zeros and this text. */
static void make(const char *text, size_t data) {
  char *bytes = calloc(1, data + strlen(text) + 8);
  const int64_t length = (int64_t)strlen(text);
  TD_CHECK(bytes != NULL);
  memcpy(bytes + data, text, strlen(text));
  memcpy(bytes + data + strlen(text), &length, 8);
  td_write_file(td_here("f"), bytes, data + strlen(text) + 8);
  free(bytes);
}

static void refuse(const char *text, size_t data, td_status want) {
  td_tensordict *td;
  make(text, data);
  TD_EXPECT_NULL(td_consolidated_load(td_here("f"), NULL, &td), want, td);
  TD_CHECK_TEXT(td_last_error_message(), "f\"");
}

#define META(batch, names)                                                         \
  "\"cls_metadata\":{\"device\":null,\"names\":[" names "],\"batch_size\":[" batch \
  "],\"is_locked\":false}"
#define NODE(leaves, data, rest)                                                                  \
  "{\"cls\":\"TensorDict\",\"non_tensors\":{" data "},\"leaves\":{" leaves "}," META("2", "null") \
      rest "}"
#define LEAF "\"a\":[\"torch.int64\",[2],0,16,0]"

TD_TEST(texts_in_another_order_and_with_more_in_it) {
  td_tensordict *td = NULL;
  make(" {\n\"cls_metadata\": {\"batch_size\": [2], \"extra\": {\"x\": [1, {\"y\": 2}]}, \"names\": null},"
       " \"leaves\": {" LEAF "}, \"n\": " NODE("", "", "") ", \"non_tensors\": {}, \"cls\": "
       "\"TensorDict\"} ",
       16);
  TD_DO(td_consolidated_load(td_here("f"), NULL, &td));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 0));
}

TD_TEST(files_that_are_damaged_or_lie) {
  static const char *const texts[] = {
      "",
      "{",
      "[]",
      "7",
      "null",
      "{}",
      NODE(LEAF, "", "") "x",
      NODE(LEAF "," LEAF, "", ""),                        /* a name twice */
      NODE("\"a\":[\"torch.int64\",[2],0,24,0]", "", ""), /* beyond the data */
      NODE("\"a\":[\"torch.int64\",[2],16,0,0]", "", ""),
      NODE("\"a\":[\"torch.int64\",[2],0,16,8]", "", ""),
      NODE("\"a\":[\"torch.int64\",[2],0,16]", "", ""),
      NODE("\"a\":[\"torch.int64\",[2],0,16,0,0]", "", ""),
      NODE("\"a\":[\"torch.int64\",2,0,16,0]", "", ""),
      NODE("\"a\":[\"torch.int64\",[2.5],0,16,0]", "", ""),
      NODE("\"a\":[\"torch.int64\",[-2],0,16,0]", "", ""),
      NODE("\"a\":[\"torch.int64\",[[2]],0,16,0]", "", ""),
      NODE("\"a\":[7,[2],0,16,0]", "", ""),
      NODE("\"a\":[\"torch.what\",[2],0,16,0]", "", ""),
      NODE("\"a\":[\"torch.int64\",[2],18446744073709551615,16,0]", "", ""),
      NODE("\"a\":[\"torch.int64\",[2],9223372036854775807,16,0]", "", ""),
      NODE("\"a\":[\"torch.int64\",[9223372036854775807,9223372036854775807],0,16,0]", "", ""),
      NODE("\"a\":[\"torch.int64\",[9223372036854775807,0],0,0,0]", "", ""),
      NODE("\"a\":{}", "", ""),
      NODE("\"a\":7", "", ""),
      NODE("\"a\":[\"torch.int64\",[1,2],0,16,0]", "", ""), /* not of the batch */
      NODE("\"a\":[\"torch.int8\",[2],0,2,0],\"b\":[\"torch.int8\",[2],1,3,0]", "", ""),
      NODE(LEAF, "\"s\":[\"x\",[3],null]", ""),
      NODE(LEAF, "\"s\":[\"x\",[2]]", ""),
      NODE(LEAF, "\"s\":[\"x\",[2],7]", ""),
      NODE(LEAF, "\"s\":\"x\"", ""),
      NODE(LEAF, "\"a\":[\"x\",[2],null]", ""),
      NODE(LEAF, "", ",\"a\":" NODE("", "", "")),
      NODE(LEAF, "", ",\"n\":7"),
      NODE(LEAF, "", ",\"n\":[]"),
      NODE(LEAF, "", ",\"n\":{}"),
      NODE(LEAF, "", ",\"leaves\":{}"),
      "{\"cls\":\"TensorDict\",\"non_tensors\":{},\"leaves\":{}}",
      "{\"cls\":\"TensorDict\",\"leaves\":{}," META("2", "null,null") "}",
      "{\"cls\":\"TensorDict\",\"leaves\":{}," META("4611686018427387904,4", "") "}",
      "{\"cls\":7,\"leaves\":{}," META("2", "null") "}",
      "{\"cls\":\"LazyStackedTensorDict\",\"leaves\":{},\"cls_metadata\":{\"stack_dim\":0}}",
      "{\"cls\":\"LazyStackedTensorDict\",\"leaves\":{},\"cls_metadata\":{},\"0\":" NODE("", "",
                                                                                         "") "}",
      "{\"cls\":\"LazyStackedTensorDict\",\"leaves\":{},\"cls_metadata\":{\"stack_dim\":2},"
      "\"0\":" NODE("", "", "") "}",
      "{\"cls\":\"LazyStackedTensorDict\",\"leaves\":{},\"cls_metadata\":{\"stack_dim\":0},"
      "\"1\":" NODE("", "", "") "}",
      "{\"cls\":\"LazyStackedTensorDict\",\"leaves\":{" LEAF
      "},\"cls_metadata\":{\"stack_dim\":0},"
      "\"0\":" NODE("", "", "") "}",
      "{\"cls\":\"NonTensorStack\",\"leaves\":{},\"cls_metadata\":{\"stack_dim\":0},\"0\":" NODE(
          "", "", "") "}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) refuse(texts[i], 16, TD_ERR_FORMAT);
  refuse("{\"cls\":\"Mine\",\"leaves\":{}," META("2", "null") "}", 0, TD_ERR_UNSUPPORTED);
  refuse(NODE("\"<NJT_VALUES>a\":[\"torch.int64\",[2],0,16,0]", "", ""), 16, TD_ERR_FORMAT);
  refuse(NODE("\"a\":[\"torch.qint8\",[2],0,2,0]", "", ""), 16, TD_ERR_UNSUPPORTED);
}

TD_TEST(files_that_are_cut) {
  td_tensordict *td;
  size_t size = 0;
  char *bytes = td_read_file(td_golden("consolidated"), &size);
  for (size_t length = 0; length < size; length += 3) {
    td_write_file(td_here("f"), bytes, length);
    TD_EXPECT_NULL(td_consolidated_load(td_here("f"), NULL, &td), TD_ERR_FORMAT, td);
  }
  static const int64_t lengths[] = {-1, INT64_MIN, INT64_MAX, 0, 7, 1 << 20};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    memcpy(bytes + size - 8, &lengths[i], 8);
    td_write_file(td_here("f"), bytes, size);
    TD_EXPECT_NULL(td_consolidated_load(td_here("f"), NULL, &td), TD_ERR_FORMAT, td);
  }
  free(bytes);
  TD_EXPECT_NULL(td_consolidated_load(td_here("nothing"), NULL, &td), TD_ERR_IO, td);
  TD_EXPECT_NULL(td_consolidated_load("", NULL, &td), TD_ERR_IO, td);
  TD_EXPECT_NULL(td_consolidated_load(td_test_folder(), NULL, &td), TD_ERR_IO, td);
  TD_CHECK(symlink(td_golden("consolidated"), td_here("link")) == 0);
  TD_EXPECT_NULL(td_consolidated_load(td_here("link"), NULL, &td), TD_ERR_IO, td);
}

TD_TEST(limits_of_what_is_read) {
  td_tensordict *td = three(), *packed = NULL, *loaded;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  TD_DO(td_consolidate(td, td_here("f"), NULL, &packed));
  options.max_entries = 3;
  TD_EXPECT_NULL(td_consolidated_load(td_here("f"), &options, &loaded), TD_ERR_FORMAT, loaded);
  options.max_entries = 4;
  TD_DO(td_consolidated_load(td_here("f"), &options, &loaded));
}

/* Bytes that are changed one by one: a clear status, or a dictionary. */
TD_TEST(files_with_one_wrong_byte) {
  size_t size = 0;
  char *bytes = td_read_file(td_golden("consolidated"), &size);
  for (size_t at = 104; at < size; at++) {
    static const char others[] = {'\0', '"', '9', '}', '[', '\xff'};
    const char kept = bytes[at];
    bytes[at] = others[at % sizeof others];
    td_write_file(td_here("f"), bytes, size);
    td_tensordict *td = TD_POISON;
    const td_status status = td_consolidated_load(td_here("f"), NULL, &td);
    TD_CHECK((status == TD_OK) == (td != NULL));
    if (status != TD_OK && status != TD_ERR_FORMAT && status != TD_ERR_UNSUPPORTED) {
      td_test_fail(__FILE__, __LINE__, "byte %zu: %s", at, td_last_error_message());
    }
    td_free(td);
    bytes[at] = kept;
  }
  free(bytes);
}

/* A lazy stack of two dictionaries that differ in shapes and keys, beside a stack of values. */
static td_tensordict *mixed(void) {
  td_tensordict *one = td_empty(TD_SIZES(2)), *other = td_empty(TD_SIZES(2)), *stack = NULL;
  td_put(one, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  td_put(other, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 6, TD_SIZES(2, 1)));
  td_put(other, TD_KEY("only"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, other}, 2, 0, &stack));
  td_tensordict *td = td_empty(TD_SIZES(2));
  TD_DO(td_set_dict(td, TD_KEY("lazy"), stack));
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("words"), "[\"a\", \"b\"]"));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("word"), "{\"k\": [1, null, \"\\u00e9\"]}"));
  return td;
}

TD_TEST(lazy_stacks_and_stacks_of_values) {
  static const char text[] =
      "{\"cls\":\"TensorDict\",\"non_tensors\":{\"word\":[{\"k\":[1,null,\"\xc3\xa9\"]},[2],null]},"
      "\"leaves\":{},\"cls_metadata\":{\"device\":null,\"names\":[null],\"batch_size\":[2],"
      "\"is_locked\":false},\"lazy\":{\"cls\":\"LazyStackedTensorDict\",\"non_tensors\":{},"
      "\"leaves\":{},\"cls_metadata\":{\"stack_dim\":0,\"stack_dim_name\":null,\"is_locked\":false}"
      ","
      "\"0\":{\"cls\":\"TensorDict\",\"non_tensors\":{},\"leaves\":{\"x\":[\"torch.float32\",[2,3],"
      "0,"
      "24,0]},\"cls_metadata\":{\"device\":null,\"names\":[null],\"batch_size\":[2],\"is_locked\":"
      "false}},\"1\":{\"cls\":\"TensorDict\",\"non_tensors\":{},\"leaves\":{\"x\":[\"torch."
      "float32\","
      "[2,1],24,32,0],\"only\":[\"torch.int8\",[2],32,40,6]},\"cls_metadata\":{\"device\":null,"
      "\"names\":[null],\"batch_size\":[2],\"is_locked\":false}}},\"words\":{\"cls\":"
      "\"NonTensorStack\",\"non_tensors\":{\"0\":[\"a\",[],null],\"1\":[\"b\",[],null]},\"leaves\":"
      "{},"
      "\"cls_metadata\":{\"stack_dim\":0,\"stack_dim_name\":null,\"is_locked\":false}}}";
  td_tensordict *td = mixed(), *packed = NULL, *loaded = NULL;
  TD_DO(td_consolidate(td, NULL, NULL, &packed));
  TD_CHECK_FLAG(td_is_consolidated, packed, 1);
  TD_CHECK_EQUAL(td, packed);
  td_free(packed);
  TD_DO(td_consolidate(td, td_here("f"), NULL, &packed));
  size_t size = 0;
  char *bytes = td_read_file(td_here("f"), &size);
  bytes[size - 8] = '\0';
  TD_CHECK_SAME_TEXT(bytes + 40, text);
  free(bytes);
  TD_DO(td_consolidated_load(td_here("f"), NULL, &loaded));
  TD_CHECK_EQUAL(td, loaded);
  td_free(loaded);
  td_free(packed);
  TD_DO(td_share_memory(td));
  char name[128];
  size_t length = 0;
  TD_DO(td_shared_name(td, name, sizeof name, &length));
  TD_DO(td_shared_open(name, &loaded));
  TD_CHECK_EQUAL(td, loaded);
}

TD_TEST(a_lazy_stack_as_root) {
  td_tensordict *td = mixed(), *lazy = td_take_dict(td, TD_KEY("lazy")), *packed = NULL;
  TD_DO(td_consolidate_inplace(lazy, NULL));
  TD_CHECK_FLAG(td_is_consolidated, lazy, 1);
  TD_DO(td_consolidate(lazy, td_here("f"), NULL, &packed));
  TD_CHECK_EQUAL(lazy, packed);
}

TD_TEST(names_of_dimensions_travel) {
  td_tensordict *td = td_sample(), *packed = NULL, *loaded = NULL;
  td_keys *names = NULL;
  const char *const *path = NULL;
  size_t length = 0;
  TD_DO(td_set_names(td, (const char *const[]){"time", NULL}, 2));
  TD_DO(td_consolidate(td, td_here("f"), NULL, &packed));
  TD_DO(td_consolidated_load(td_here("f"), NULL, &loaded));
  TD_DO(td_names(loaded, &names));
  TD_CHECK_INT(td_keys_len(names), 2);
  TD_DO(td_keys_at(names, 0, &path, &length));
  TD_CHECK_SAME_TEXT(path[0], "time");
}

TD_TEST(tensorclasses_stay_tensorclasses_in_memory) {
  td_field field;
  td_tensorclass *type = NULL, *found = NULL;
  td_tensordict *td = td_empty(TD_SIZES(2)), *packed = NULL, *loaded = NULL;
  memset(&field, 0, sizeof field);
  field.name = "x";
  TD_DO(td_tensorclass_create("Point", &field, 1, NULL, &type));
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_DO(td_set_tensorclass(td, type));
  TD_DO(td_consolidate(td, NULL, NULL, &packed));
  TD_DO(td_tensorclass_of(packed, &found));
  TD_CHECK(found != NULL);
  td_tensorclass_free(found);
  td_free(packed);
  TD_DO(td_consolidate(td, td_here("f"), NULL, &packed));
  TD_DO(td_consolidated_load(td_here("f"), NULL, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("x"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_DO(td_set_tensorclass(loaded, type)); /* a dictionary until then */
}

TD_TEST(threads_write_the_same_bytes) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *one = NULL, *many = NULL;
  td_tensor *large = NULL;
  void *data = NULL;
  TD_DO(td_tensor_zeros(TD_SIZES(2, 3 << 20), TD_DTYPE_INT32, TD_DEVICE_CPU, -1, &large));
  TD_DO(td_tensor_data(large, &data));
  for (int32_t i = 0; i < 6 << 20; i++) ((int32_t *)data)[i] = i;
  td_put(td, TD_KEY("large"), large);
  td_put(td, TD_KEY("small"), td_arange(TD_DTYPE_INT8, 1, TD_SIZES(2, 3)));
  td_put(td, TD_KEY("none"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2, 0)));
  td_consolidate_options options = TD_CONSOLIDATE_OPTIONS_INIT;
  TD_DO(td_consolidate(td, NULL, &options, &one));
  options.num_threads = 3;
  TD_DO(td_consolidate(td, NULL, &options, &many));
  TD_CHECK_EQUAL(one, many);
  TD_CHECK_EQUAL(td, many);
  td_free(many);
  options.durable = 1;
  TD_DO(td_consolidate(td, td_here("c"), &options, &many));
  TD_CHECK_EQUAL(td, many);
  td_free(many);
  options.num_threads = -1;
  TD_EXPECT_NULL(td_consolidate(td, NULL, &options, &many), TD_ERR_INVALID_ARGUMENT, many);
  TD_EXPECT_NULL(td_consolidate(td, td_here("d"), &options, &many), TD_ERR_INVALID_ARGUMENT, many);
  TD_CHECK(!td_exists(td_here("d")));
}

TD_TEST(a_file_to_write_to) {
  td_tensordict *td = three(), *file = NULL, *other = NULL;
  TD_DO(td_consolidate(td, td_here("c"), NULL, &file));
  td_free(file);
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  TD_DO(td_consolidated_load(td_here("c"), &options, &other));
  options.write_through = 1;
  TD_DO(td_consolidated_load(td_here("c"), &options, &file));
  *(float *)address(file, TD_KEY("n", "b")) = 5;
  TD_CHECK_ENTRY(other, TD_KEY("n", "b"), TD_SIZES(3),
                 TD_VALUES(5, 21, 22)); /* not touched before */
  *(float *)address(other, TD_KEY("n", "b")) = 6;
  TD_CHECK_ENTRY(file, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(5, 21, 22));
  td_free(other);
  td_free(file);
  TD_DO(td_consolidated_load(td_here("c"), NULL, &file));
  TD_CHECK_ENTRY(file, TD_KEY("n", "b"), TD_SIZES(3), TD_VALUES(5, 21, 22));
}
