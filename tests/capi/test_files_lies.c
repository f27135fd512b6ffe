/* Files of other programs whose headers lie: numbers that do not fit, names that come twice, nesting without end. */
#include <sys/resource.h>

#include "td_hostile_files.h"

/* A safetensors file of a header and so many bytes of data. */
static int header(const char *text, size_t data) {
  const uint64_t length = strlen(text);
  char *bytes = calloc(1, 8 + length + data);
  memcpy(bytes, &length, 8);
  memcpy(bytes + 8, text, length);
  const int answer = try("f.safetensors", bytes, 8 + length + data);
  free(bytes);
  return answer;
}

TD_TEST(headers_that_lie) {
  TD_CHECK_INT(header("{}", 0), 1);
  TD_CHECK_INT(header("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2), 1);
  TD_CHECK_INT(header("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}   ", 0), 1);
  static const char *const bad[] = {
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", /* not up to the end */
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,2]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,0]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
      "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", /* on one another */
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
      "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[2,2]}}", /* twice */
      "{\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,2]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[-2],\"data_offsets\":[0,2]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2.0],\"data_offsets\":[0,2]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[4611686018427387904,4611686018427387904],"
      "\"data_offsets\":[0,2]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[0,4611686018427387904,4611686018427387904],"
      "\"data_offsets\":[0,0]},\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,18446744073709551615]}}",
      "{\"a\":{\"dtype\":\"F8_E8M0\",\"shape\":[2],\"data_offsets\":[0,2]}}",
      "{\"a\":{\"dtype\":\"X\",\"shape\":[2],\"data_offsets\":[0,2]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2,3]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[[2]],\"data_offsets\":[0,2]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2],\"more\":1}}",
      "{\"a\":[1]}",
      "{\"__metadata__\":{\"a\":1},\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
      "{\"__metadata__\":{\"tensordict\":\"{}\"},"
      "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
      "{\"__metadata__\":{\"tensordict\":\"{\\\"format\\\":1,\\\"dicts\\\":[{\\\"path\\\":[],"
      "\\\"batch_size\\\":[3]}]}\"},\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}",
      "[]",
      "{\"a.\\u0000b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (header(bad[i], 2)) td_test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
  }
}

TD_TEST(depth_and_number) {
  enum { LEVELS = 100000 };
  char *text = malloc(6 * LEVELS + 200);
  memset(text, '[', LEVELS);
  text[LEVELS] = 0;
  text[0] = '{';
  TD_CHECK_INT(header(text, 0), 0);
  /* A name of many levels. */
  size_t n = (size_t)sprintf(text, "{\"");
  for (int i = 0; i < LEVELS; i++) n += (size_t)sprintf(text + n, "a.");
  sprintf(text + n, "b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}");
  TD_CHECK_INT(header(text, 2), 0);
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.separator = "";
  td_tensordict *td = NULL;
  TD_DO(td_file_load(file_named("f.safetensors"), &options, &td));
  options.max_depth = LEVELS + 1;
  options.separator = ".";
  TD_DO(td_file_load(file_named("f.safetensors"), &options, &td));
  TD_DO(td_file_save(td, file_named("g.safetensors"), NULL));
  free(text);
  size_t size = 0;
  char *bytes = td_read_file(td_path(td_golden("../files"), "model.safetensors"), &size);
  td_write_file(file_named("m.safetensors"), bytes, size);
  options.max_depth = 0;
  options.max_entries = 3;
  TD_EXPECT_NULL(td_file_load(file_named("m.safetensors"), &options, &td), TD_ERR_FORMAT, td);
  free(bytes);
}

/* Dictionaries that joined names make on their way count as entries. */
TD_TEST(joined_names_make_entries) {
  td_file_options options = TD_FILE_OPTIONS_INIT;
  td_tensordict *td = td_empty(NULL, 0), *found = NULL;
  td_put(td, TD_KEY("a", "b", "c"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("a", "b", "d"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("e"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  static const char *const names[] = {"m.safetensors", "m.npz"};
  for (int i = 0; i < 2; i++) {
    TD_DO(td_file_save(td, file_named(names[i]), NULL));
    options.max_entries = 4; /* a, b, c, d, e */
    TD_EXPECT_NULL(td_file_load(file_named(names[i]), &options, &found), TD_ERR_FORMAT, found);
    TD_CHECK_TEXT(td_last_error_message(), "more than 4 entries");
    options.max_entries = 5;
    TD_DO(td_file_load(file_named(names[i]), &options, &found));
    td_free(found);
  }
}

/* A .npy file of a header and so many bytes. */
static int array(const char *text, size_t data) {
  const size_t length = strlen(text);
  char *bytes = calloc(1, 10 + length + data);
  memcpy(bytes, "\x93NUMPY\x01", 7);
  bytes[8] = (char)(length & 255);
  bytes[9] = (char)(length >> 8);
  memcpy(bytes + 10, text, length);
  const int answer = try("f.npy", bytes, 10 + length + data);
  free(bytes);
  return answer;
}

TD_TEST(arrays_that_lie) {
  TD_CHECK_INT(array("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8), 1);
  TD_CHECK_INT(array("{\"shape\":(2,3L),'fortran_order':True,'descr':'=i2'}", 12), 1);
  TD_CHECK_INT(array("{'descr': [], 'fortran_order': False, 'shape': (3,)}", 0), 1);
  TD_CHECK_INT(
      array("{'descr': [(('title', 'a'), '<i2')], 'fortran_order': False, 'shape': (3,)}", 6), 1);
  static const char *const bad[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
      "{'descr': '<f4', 'fortran_order': 1, 'shape': (2,), }",
      "{'descr': '<f4', 'shape': (2,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
      "{'descr': '<q4', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': __import__('os'), 'fortran_order': False, 'shape': (2,)}",
      "{'descr': [('a', '<f4'), ('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
      "{'descr': [('a', '|V4')], 'fortran_order': False, 'shape': (1,)}",
      "{'descr': [('', '|V999999999999')], 'fortran_order': False, 'shape': (1,)}",
      "{'descr': [('a', '<f4', (99999999999, 99999999999))], 'fortran_order': False, 'shape': "
      "(0,)}",
      "{'descr': [('a', [('b', '<f4')], (2,))], 'fortran_order': False, 'shape': (1,)}",
      "{'descr': [('a', '<f4'), 'fortran_order': False, 'shape': (1,)}",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (array(bad[i], 8)) td_test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
  }
  /* Records in records. */
  enum { LEVELS = 4000 };
  char *text = malloc(12 * LEVELS);
  size_t n = (size_t)sprintf(text, "{'descr': ");
  for (int i = 0; i < LEVELS; i++) n += (size_t)sprintf(text + n, "[('a', ");
  TD_CHECK_INT(array(text, 8), 0);
  free(text);
}

/* A stored zip archive of one file, archive/data.pkl. */
static int pickle(const void *content, size_t bytes) {
  static const char name[] = "archive/data.pkl";
  const uint32_t size = (uint32_t)bytes;
  const uint16_t length = sizeof name - 1;
  char *file = calloc(1, 30 + 46 + 22 + 2 * (size_t)length + bytes), *at = file;
  memcpy(at, "PK\x03\x04\x14", 5);
  memcpy(at + 18, &size, 4);
  memcpy(at + 22, &size, 4);
  memcpy(at + 26, &length, 2);
  memcpy(at + 30, name, length);
  memcpy(at + 30 + length, content, bytes);
  at += 30 + length + bytes;
  const uint32_t directory = (uint32_t)(at - file), directory_bytes = 46u + length;
  uint32_t crc = 0xffffffff;
  for (size_t i = 0; i < bytes; i++) {
    crc ^= ((const unsigned char *)content)[i];
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  crc = ~crc;
  memcpy(file + 14, &crc, 4);
  memcpy(at, "PK\x01\x02\x14\x03\x14", 7);
  memcpy(at + 16, &crc, 4);
  memcpy(at + 20, &size, 4);
  memcpy(at + 24, &size, 4);
  memcpy(at + 28, &length, 2);
  memcpy(at + 46, name, length);
  at += 46 + length;
  memcpy(at, "PK\x05\x06", 4);
  at[8] = at[10] = 1;
  memcpy(at + 12, &directory_bytes, 4);
  memcpy(at + 16, &directory, 4);
  const int answer = try("f.pt", file, (size_t)(at - file) + 22);
  free(file);
  return answer;
}
#define PICKLE(text) pickle(text, sizeof(text) - 1)

TD_TEST(pickles_that_lie) {
  TD_CHECK_INT(PICKLE("\x80\x02}X\x01\0\0\0aK\x07s."), 1);
  TD_CHECK_INT(PICKLE("\x80\x02"
                      "ccollections\nOrderedDict\n)R."),
               1);
  TD_CHECK_INT(PICKLE("\x80\x02}."), 1);
  TD_CHECK_INT(PICKLE("\x80\x02."), 0);
  TD_CHECK_INT(PICKLE("\x80\x02}}."), 0); /* something is left */
  TD_CHECK_INT(PICKLE("\x80\x02}(."), 0);
  TD_CHECK_INT(PICKLE("\x80\x02K\x01K\x02s."), 0); /* no dict */
  TD_CHECK_INT(PICKLE("\x80\x02}(K\x01u."), 0);    /* a key without a value */
  TD_CHECK_INT(PICKLE("\x80\x02"
                      "0."),
               0);
  TD_CHECK_INT(PICKLE("\x80\x02h\x05."), 0);
  TD_CHECK_INT(PICKLE("\x80\x01}."), 0);
  TD_CHECK_INT(PICKLE("\x80\x02X\xff\xff\xff\xff"
                      "a."),
               0);
  TD_CHECK_INT(PICKLE("\x80\x02\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
                      "a."),
               0);
  TD_CHECK_INT(PICKLE("\x80\x02"
                      "cos\nsystem\nX\x02\0\0\0ls\x85R."),
               0);
  TD_CHECK_INT(PICKLE("\x80\x02"
                      "cbuiltins\neval\n."),
               0);
  TD_CHECK_INT(PICKLE("\x80\x04\x8c\x02os\x8c\x06system\x93."), 0);
  TD_CHECK_INT(PICKLE("\x80\x02"
                      "ctorch._utils\n_rebuild_tensor_v2\n)R."),
               0);
  TD_CHECK_INT(PICKLE("\x80\x02"
                      "ctorch\nFloatStorage\n)R."),
               0);
  TD_CHECK_INT(PICKLE("\x80\x02"
                      "ctorch\nSize\n(K\x01ttR."),
               0);
  TD_CHECK_INT(PICKLE("\x80\x02K\x01Q."), 0);
  TD_CHECK_INT(PICKLE("\x80\x02K\x01."), 0); /* no dictionary */
  TD_CHECK_INT(PICKLE("\x80\x02}K\x01K\x02s."), 1);
  TD_CHECK_INT(PICKLE("\x80\x02}NK\x02s."), 0);
  TD_CHECK_INT(PICKLE("\x80\x02}q\0X\x01\0\0\0ah\0s."), 0); /* it holds itself */
}

static long most_kilobytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/* Lists that hold the one before twice are few bytes and very many values. */
TD_TEST(a_small_pickle_may_say_much) {
  const long before = most_kilobytes();
  char text[1024] = "\x80\x02}X\x01\0\0\0a]";
  size_t n = 10;
  for (int i = 0; i < 60; i++) {
    text[n++] = 'q';
    text[n++] = (char)i;
    text[n++] = 'h';
    text[n++] = (char)i;
    text[n++] = '\x86';
  }
  text[n++] = 's';
  text[n++] = '.';
  TD_CHECK_INT(pickle(text, n), 0);
  TD_CHECK(most_kilobytes() - before < 300000);
  n = 4 + 200000;
  char *deep = malloc(n + 8);
  memcpy(deep, "\x80\x02}X\x01\0\0\0a", 9);
  n = 9;
  for (int i = 0; i < 100000; i++) deep[n++] = ')';
  for (int i = 1; i < 100000; i++) deep[n++] = '\x85';
  TD_CHECK_INT(pickle(deep, n), 0); /* too early an end */
  deep[9] = ')';
  n = 10;
  for (int i = 0; i < 100000; i++) deep[n++] = '\x85';
  deep[n++] = 's';
  deep[n++] = '.';
  TD_CHECK_INT(pickle(deep, n), 0);
  free(deep);
}

/* A file of Parquet without rows, whose only column is nested so deep: a footer in Thrift's compact protocol. */
static int nested(size_t depth) {
  static const char group[] = {0x35, 0, 0x18, 1, 'n', 0x15, 2, 0},
                    leaf[] = {0x15, 4, 0x25, 0, 0x18, 1, 'x', 0}, end[] = {0x16, 0, 0x19, 0x0c, 0};
  char *bytes = malloc(100 + sizeof group * depth), *at = bytes;
  memcpy(at, "PAR1\x15\2\x19\xfc", 8);
  at += 8;
  for (size_t rest = depth + 1, more = 1; more; rest >>= 7) {
    more = rest > 127;
    *at++ = (char)(rest % 128 + (more ? 128 : 0));
  }
  for (size_t i = 0; i < depth; i++, at += sizeof group) memcpy(at, group, sizeof group);
  memcpy(at, leaf, sizeof leaf);
  memcpy(at + sizeof leaf, end, sizeof end);
  at += sizeof leaf + sizeof end;
  const uint32_t length = (uint32_t)(at - bytes - 4);
  memcpy(at, &length, 4);
  memcpy(at + 4, "PAR1", 4);
  const int answer = try("n.parquet", bytes, (size_t)(at + 8 - bytes));
  free(bytes);
  return answer;
}

/* The libraries of Arrow would use up the stack. */
TD_TEST(columns_that_are_nested_deep) {
  need_arrow();
  TD_CHECK_INT(nested(2), 1);
  TD_CHECK_INT(nested(900), 1);
  for (size_t depth = 1100; depth < 1000000; depth *= 4) {
    TD_CHECK_INT(nested(depth), 0);
    TD_CHECK_TEXT(td_last_error_message(), "nested deeper than 1000 levels");
  }
}
