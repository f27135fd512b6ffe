/* Tables in text files. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_values.h"

#define TABLE(format, separator) \
  (&(const td_table_options){(uint32_t)sizeof(td_table_options), (format), (separator), 0, 0, 0})

static const char *file_of(const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", td_test_folder(), name);
  return path;
}

static const char *written(const char *name, const char *text) {
  const char *path = file_of(name);
  FILE *file = fopen(path, "wb");
  TD_CHECK(file != NULL);
  TD_CHECK(fwrite(text, 1, strlen(text), file) == strlen(text));
  fclose(file);
  return path;
}

static void check_file(const char *name, const char *want) {
  char text[1024] = {0};
  FILE *file = fopen(file_of(name), "rb");
  TD_CHECK(file != NULL);
  const size_t length = fread(text, 1, sizeof text - 1, file);
  text[length] = 0;
  fclose(file);
  TD_CHECK_SAME_TEXT(text, want);
}

static td_tensordict *read(const char *text, td_table_format format, const char *separator) {
  td_tensordict *td = NULL;
  TD_DO(td_table_load(written("in", text), TABLE(format, separator), &td));
  return td;
}

TD_TEST(columns_of_a_csv_file) {
  td_tensordict *td = read(
      "i,f,gap,b,s,\"q,\"\"x\"\"\",mixed\r\n"
      "1,0.5,1,True,one,\"2\",1\r\n"
      "-2,1e3,,false,\"two, \"\"three\"\"\nfour\",\"\",x\r\n",
      TD_TABLE_CSV, NULL);
  TD_CHECK_BATCH(td, 2);
  TD_CHECK_DTYPE(td, TD_KEY("i"), TD_DTYPE_INT64);
  TD_CHECK_ENTRY(td, TD_KEY("i"), TD_SIZES(2), TD_VALUES(1, -2));
  TD_CHECK_DTYPE(td, TD_KEY("f"), TD_DTYPE_FLOAT64);
  TD_CHECK_ENTRY(td, TD_KEY("f"), TD_SIZES(2), TD_VALUES(0.5, 1000));
  TD_CHECK_DTYPE(td, TD_KEY("gap"), TD_DTYPE_FLOAT64);
  td_tensor *gap = td_take(td, TD_KEY("gap"));
  double values[2];
  TD_DO(td_tensor_copy_to(gap, values, sizeof values));
  TD_CHECK(values[0] == 1 && values[1] != values[1]);
  TD_CHECK_DTYPE(td, TD_KEY("b"), TD_DTYPE_BOOL);
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(2), TD_VALUES(1, 0));
  TD_CHECK_JSON(td, TD_KEY("s"), "[\"one\", \"two, \\\"three\\\"\\nfour\"]");
  TD_CHECK_JSON(td, TD_KEY("q,\"x\""), "[\"2\", \"\"]");
  TD_CHECK_JSON(td, TD_KEY("mixed"), "[1, \"x\"]");
}

TD_TEST(columns_of_a_json_file) {
  td_tensordict *td = read(
      "[{\"i\": 1, \"f\": 1, \"b\": true, \"s\": \"x\", \"n.x\": 1},\n"
      " {\"i\": 2, \"f\": null, \"b\": false, \"s\": [1, {\"k\": null}], \"n.x\": 2.5, \"late\": "
      "7}]",
      TD_TABLE_JSON, ".");
  TD_CHECK_BATCH(td, 2);
  TD_CHECK_DTYPE(td, TD_KEY("i"), TD_DTYPE_INT64);
  TD_CHECK_DTYPE(td, TD_KEY("f"), TD_DTYPE_FLOAT64);
  TD_CHECK_DTYPE(td, TD_KEY("b"), TD_DTYPE_BOOL);
  TD_CHECK_JSON(td, TD_KEY("s"), "[\"x\", [1,{\"k\":null}]]");
  TD_CHECK_ENTRY(td, TD_KEY("n", "x"), TD_SIZES(2), TD_VALUES(1, 2.5));
  TD_CHECK_DTYPE(td, TD_KEY("late"), TD_DTYPE_FLOAT64); /* missing in the first row */
}

TD_TEST(integers_stay_what_they_are) {
  for (td_table_format format = TD_TABLE_CSV; format <= TD_TABLE_JSON; format++) {
    td_tensordict *td =
        format == TD_TABLE_CSV
            ? read(
                  "gap,exact,large,beyond,sign\n"
                  "9007199254740993,9007199254740992,18446744073709551615,1,-9223372036854775808\n"
                  ",,1,1180591620717411303424,9223372036854775808\n",
                  format, NULL)
            : read(
                  "[{\"gap\": 9007199254740993, \"exact\": 9007199254740992, \"large\": "
                  "18446744073709551615, "
                  "\"beyond\": 1, \"sign\": -9223372036854775808},"
                  "{\"gap\": null, \"exact\": null, \"large\": 1, \"beyond\": "
                  "1180591620717411303424, "
                  "\"sign\": 9223372036854775808}]",
                  format, NULL);
    TD_CHECK_JSON(td, TD_KEY("gap"), "[9007199254740993, null]"); /* no double is this number */
    TD_CHECK_DTYPE(td, TD_KEY("exact"), TD_DTYPE_FLOAT64);
    TD_CHECK_JSON(td, TD_KEY("beyond"), "[1, 1180591620717411303424]");
    TD_CHECK_JSON(td, TD_KEY("sign"), "[-9223372036854775808, 9223372036854775808]");
    td_entry_kind kind = TD_ENTRY_NONE;
    TD_DO(td_get_kind(td, TD_KEY("large"), &kind));
    if (kind == TD_ENTRY_TENSOR) { /* where libtorch has it */
      uint64_t numbers[2] = {0, 0};
      td_tensor *large = td_take(td, TD_KEY("large"));
      TD_CHECK_DTYPE(td, TD_KEY("large"), TD_DTYPE_UINT64);
      TD_DO(td_tensor_copy_to(large, numbers, sizeof numbers));
      TD_CHECK(numbers[0] == UINT64_MAX && numbers[1] == 1);
      td_tensor_free(large);
    } else {
      TD_CHECK_JSON(td, TD_KEY("large"), "[18446744073709551615, 1]");
    }
    TD_DO(td_table_save(td, file_of("out"), TABLE(TD_TABLE_CSV, NULL)));
    check_file("out",
               "gap,exact,large,beyond,sign\n"
               "9007199254740993,9007199254740992.0,18446744073709551615,1,-9223372036854775808\n"
               ",,1,1180591620717411303424,9223372036854775808\n");
  }
}

TD_TEST(what_is_written_is_read_again) {
  static const char *const texts[] = {"csv", "json"};
  for (td_table_format format = TD_TABLE_CSV; format <= TD_TABLE_JSON; format++) {
    td_tensordict *td = td_empty(TD_SIZES(3)), *again = NULL, *names = NULL;
    td_tensor *f = NULL, *mask = td_mask((const int64_t[]){1, 0, 1}, 3);
    const double fractions[] = {0.1, -HUGE_VAL, 1e300};
    const int64_t three = 3;
    TD_DO(td_tensor_from_data(fractions, sizeof fractions, &three, 1, TD_DTYPE_FLOAT64, &f));
    td_put(td, TD_KEY("f"), f);
    td_put(td, TD_KEY("n", "i"), td_arange(TD_DTYPE_INT64, -1, TD_SIZES(3)));
    td_put(td, TD_KEY("n", "b"), mask);
    names = read("s\n\"a\"\n\"1\"\n\"\"\n", TD_TABLE_CSV, NULL);
    TD_DO(td_table_save(td, file_of(texts[format]), TABLE(format, "/")));
    TD_DO(td_table_load(file_of(texts[format]), TABLE(format, "/"), &again));
    TD_CHECK_EQUAL(td, again);
    td_free(again);
    TD_DO(td_table_save(names, file_of(texts[format]), TABLE(format, NULL)));
    TD_DO(td_table_load(file_of(texts[format]), TABLE(format, NULL), &again));
    TD_CHECK_JSON(again, TD_KEY("s"), "[\"a\", \"1\", \"\"]");
    td_free(again);
    td_free(names);
    td_free(td);
  }
}

TD_TEST(forms_of_what_is_written) {
  td_tensordict *td =
      read("a,f,b,\"s,\"\n1,0.5,True,\"x \"\"y\"\"\"\n2,,False,\n", TD_TABLE_CSV, NULL);
  td_put(td, TD_KEY("h"), td_filled(TD_DTYPE_FLOAT32, 0.1, TD_SIZES(2)));
  TD_DO(td_table_save(td, file_of("out"), TABLE(TD_TABLE_CSV, NULL)));
  check_file("out", "a,f,b,\"s,\",h\n1,0.5,True,\"x \"\"y\"\"\",0.1\n2,,False,,0.1\n");
  TD_DO(td_table_save(td, file_of("out"), TABLE(TD_TABLE_JSON, NULL)));
  check_file("out",
             "[\n{\"a\":1,\"f\":0.5,\"b\":true,\"s,\":\"x \\\"y\\\"\",\"h\":0.1},\n"
             "{\"a\":2,\"f\":null,\"b\":false,\"s,\":null,\"h\":0.1}\n]\n");
}

TD_TEST(tables_without_rows_or_columns) {
  td_tensordict *td = read("a,b\n", TD_TABLE_CSV, NULL);
  TD_CHECK_BATCH(td, 0);
  TD_CHECK_DTYPE(td, TD_KEY("b"), TD_DTYPE_FLOAT64);
  TD_DO(td_table_save(td, file_of("out"), TABLE(TD_TABLE_CSV, NULL)));
  check_file("out", "a,b\n");
  td = read("", TD_TABLE_CSV, NULL);
  TD_CHECK_BATCH(td, 0);
  td = read("[]", TD_TABLE_JSON, NULL);
  TD_CHECK_BATCH(td, 0);
  td = read("[{}, {}]", TD_TABLE_JSON, NULL);
  TD_CHECK_BATCH(td, 2);
  TD_EXPECT(td_table_save(td, file_of("out"), TABLE(TD_TABLE_CSV, NULL)), TD_ERR_INVALID_ARGUMENT);
  td = read(
      "\xEF\xBB\xBF"
      "a\n1",
      TD_TABLE_CSV, NULL); /* a mark, and no end of line */
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(1), TD_VALUES(1));
}

TD_TEST(files_that_hold_no_table) {
  static const struct {
    td_table_format format;
    const char *text, *separator, *message;
    td_status status;
  } cases[] = {
      {TD_TABLE_CSV, "a,b\n1\n", NULL, "line 2 has 1 cells", TD_ERR_FORMAT},
      {TD_TABLE_CSV, "a\n1,2\n", NULL, "line 2 has 2 cells", TD_ERR_FORMAT},
      {TD_TABLE_CSV, "a\n\"1", NULL, "not closed", TD_ERR_FORMAT},
      {TD_TABLE_CSV, "a\n\"1\"2\n", NULL, "follows a closing quote", TD_ERR_FORMAT},
      {TD_TABLE_CSV, "a\n\xff\n", NULL, "UTF-8", TD_ERR_FORMAT},
      {TD_TABLE_CSV, "a,a\n1,2\n", NULL, "two columns", TD_ERR_KEY_EXISTS},
      {TD_TABLE_CSV, "a,a.b\n1,2\n", ".", "", TD_ERR_KEY_EXISTS},
      {TD_TABLE_JSON, "", NULL, "no JSON at byte 1", TD_ERR_FORMAT},
      {TD_TABLE_JSON, "{}", NULL, "list of rows", TD_ERR_FORMAT},
      {TD_TABLE_JSON, "[1]", NULL, "row 0", TD_ERR_FORMAT},
      {2, "", NULL, "format is 2", TD_ERR_INVALID_ARGUMENT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    td_tensordict *td;
    const char *path = written("in", cases[i].text);
    TD_EXPECT_NULL(td_table_load(path, TABLE(cases[i].format, cases[i].separator), &td),
                   cases[i].status, td);
    TD_CHECK_TEXT(td_last_error_message(), cases[i].message);
  }
  td_tensordict *td;
  TD_EXPECT_NULL(td_table_load(file_of("nothing"), TABLE(TD_TABLE_CSV, NULL), &td), TD_ERR_IO, td);
  enum { open = 5000 };
  char *deep = malloc(2 * open + 16);
  strcpy(deep, "[{\"a\":");
  memset(deep + 6, '[', open);
  memset(deep + 6 + open, ']', open);
  strcpy(deep + 6 + 2 * open, "}]");
  TD_EXPECT_NULL(td_table_load(written("in", deep), TABLE(TD_TABLE_JSON, NULL), &td), TD_ERR_FORMAT,
                 td);
  free(deep);
}

TD_TEST(names_that_make_many_entries) {
  const char *path = written("in", "a.b.c,a.b.d,e\n1,x,3\n");
  td_table_options options = TD_TABLE_OPTIONS_INIT;
  td_tensordict *td = NULL;
  options.separator = ".";
  options.max_entries = 4; /* a, b, c, d, e */
  TD_EXPECT_NULL(td_table_load(path, &options, &td), TD_ERR_FORMAT, td);
  TD_CHECK_TEXT(td_last_error_message(), "more than 4 entries");
  options.max_entries = 5;
  TD_DO(td_table_load(path, &options, &td));
  options.max_depth = 2;
  TD_EXPECT_NULL(td_table_load(path, &options, &td), TD_ERR_FORMAT, td);
  TD_CHECK_TEXT(td_last_error_message(), "deeper than 2 levels");
  options.struct_size = offsetof(td_table_options, max_depth); /* a client that knows no limits */
  TD_DO(td_table_load(path, &options, &td));
}

TD_TEST(dictionaries_that_are_no_table) {
  td_tensordict *td = td_sample();
  const char *path = written("out", "as it was");
  TD_EXPECT(td_table_save(td, path, TABLE(TD_TABLE_CSV, ".")), TD_ERR_SHAPE);
  td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("n", "x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  TD_EXPECT(td_table_save(td, path, TABLE(TD_TABLE_CSV, NULL)), TD_ERR_INVALID_ARGUMENT);
  td_put(td, TD_KEY("n.x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  TD_EXPECT(td_table_save(td, path, TABLE(TD_TABLE_CSV, ".")), TD_ERR_KEY_EXISTS);
  td_put(td, TD_KEY("n.x"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2, 1)));
  TD_EXPECT(td_table_save(td, path, TABLE(TD_TABLE_CSV, ".")), TD_ERR_SHAPE);
  td_tensor *complex_numbers = NULL;
  TD_DO(td_tensor_zeros(TD_SIZES(2), TD_DTYPE_COMPLEX64, TD_DEVICE_CPU, -1, &complex_numbers));
  TD_DO(td_remove(td, TD_KEY("n.x")));
  td_put(td, TD_KEY("c"), complex_numbers);
  TD_EXPECT(td_table_save(td, path, TABLE(TD_TABLE_CSV, ".")), TD_ERR_DTYPE);
  TD_DO(td_remove(td, TD_KEY("c")));
  td_tensor *meta = NULL;
  TD_DO(td_tensor_zeros(TD_SIZES(2), TD_DTYPE_INT8, TD_DEVICE_META, -1, &meta));
  td_put(td, TD_KEY("m"), meta);
  TD_EXPECT(td_table_save(td, path, TABLE(TD_TABLE_CSV, ".")), TD_ERR_DEVICE);
  TD_DO(td_remove(td, TD_KEY("m")));
  TD_EXPECT(td_table_save(td, path, TABLE(-1, ".")), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_table_save(td, file_of("no/such/folder"), TABLE(TD_TABLE_CSV, ".")), TD_ERR_IO);
  check_file("out", "as it was");
}

static td_tensordict *flat(const char *text, td_table_format format) {
  td_table_options options = TD_TABLE_OPTIONS_INIT;
  td_tensordict *td = NULL;
  options.format = format;
  options.separator = ".";
  options.flags = TD_TABLE_FLATTEN;
  TD_DO(td_table_load(written("in", text), &options, &td));
  return td;
}

static td_status save_flat(const td_tensordict *td, td_table_format format) {
  td_table_options options = TD_TABLE_OPTIONS_INIT;
  options.format = format;
  options.separator = ".";
  options.flags = TD_TABLE_FLATTEN;
  return td_table_save(td, file_of("out"), &options);
}

TD_TEST(a_recording_as_a_table) {
  static const char want[] =
      "episode,step,a[0],a[1],n.done,tag\n"
      "0,0,0.0,1.0,False,\"x\"\n0,1,2.0,3.0,True,\"x\"\n"
      "1,0,4.0,5.0,False,\"x\"\n1,1,6.0,7.0,True,\"x\"\n";
  td_tensordict *td = NULL, *again;
  TD_DO(td_create(TD_SIZES(2, 2), TD_DEVICE_NONE, -1, &td));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 2, 2)));
  const uint8_t done[] = {0, 1, 0, 1};
  TD_DO(td_set_data(td, TD_KEY("n", "done"), done, sizeof done, TD_SIZES(2, 2), TD_DTYPE_BOOL));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("tag"), "\"x\""));
  TD_DO(save_flat(td, TD_TABLE_CSV));
  check_file("out", want);
  again = flat(want, TD_TABLE_CSV);
  TD_CHECK_BATCH(again, 2, 2);
  TD_CHECK_ENTRY(again, TD_KEY("a"), TD_SIZES(2, 2, 2), TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7));
  TD_CHECK_ENTRY(again, TD_KEY("n", "done"), TD_SIZES(2, 2), TD_VALUES(0, 1, 0, 1));
  TD_DO(save_flat(again, TD_TABLE_CSV));
  check_file("out", want);
  TD_EXPECT(td_table_save(td, file_of("out"), TABLE(TD_TABLE_CSV, ".")), TD_ERR_SHAPE);
}

/* A dictionary that is nested may get another batch size through a handle of its own. */
TD_TEST(values_of_another_batch_size_are_refused) {
  const int64_t *const batches[] = {NULL, (const int64_t[]){2, 3}};
  const size_t dims[] = {0, 2};
  for (size_t i = 0; i < 2; i++) {
    td_tensordict *td = NULL, *inner = NULL;
    TD_DO(td_create(TD_SIZES(2), TD_DEVICE_NONE, -1, &td));
    TD_DO(td_create(TD_SIZES(2), TD_DEVICE_NONE, -1, &inner));
    TD_DO(td_set_dict(td, TD_KEY("n"), inner));
    td_free(inner);
    TD_DO(td_get_dict(td, TD_KEY("n"), &inner));
    TD_DO(td_set_batch_size(inner, batches[i], dims[i]));
    TD_DO(td_set_non_tensor_json(inner, TD_KEY("tag"), "\"x\""));
    written("out", "as it was");
    TD_EXPECT(save_flat(td, TD_TABLE_CSV), TD_ERR_SHAPE);
    TD_CHECK_TEXT(td_last_error_message(), "\"n\"/\"tag\" has shape");
    check_file("out", "as it was");
    td_free(inner);
    td_free(td);
  }
}

TD_TEST(elements_that_are_not_complete_stay_columns) {
  static const char *const texts[] = {
      "a[0],a[2]\n1,2\n",                   /* one is missing */
      "a[0],a[1]\n1,2.5\n",                 /* of two dtypes */
      "a[0],a\n1,2\n",                      /* another has the name */
      "a[0],\"a[0,1]\"\n1,2\n",             /* of two shapes */
      "a[0],a[9223372036854775807]\n1,2\n", /* too large */
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    td_tensordict *td = flat(texts[i], TD_TABLE_CSV);
    TD_CHECK_ENTRY(td, TD_KEY("a[0]"), TD_SIZES(1), TD_VALUES(1));
  }
  td_tensordict *td = flat("a[0],a[-1],a[00],[0]\n1,2,3,4\n", TD_TABLE_CSV);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(1, 1), TD_VALUES(1));
  TD_CHECK_ENTRY(td, TD_KEY("a[-1]"), TD_SIZES(1), TD_VALUES(2));
  TD_CHECK_ENTRY(td, TD_KEY("a[00]"), TD_SIZES(1), TD_VALUES(3));
  TD_CHECK_ENTRY(td, TD_KEY("[0]"), TD_SIZES(1), TD_VALUES(4));
  td = flat("[{\"g[0,1]\":2,\"g[0,0]\":1,\"g[1,1]\":4,\"g[1,0]\":3}]", TD_TABLE_JSON);
  TD_CHECK_ENTRY(td, TD_KEY("g"), TD_SIZES(1, 2, 2), TD_VALUES(1, 2, 3, 4));
}

TD_TEST(batches_that_rows_count) {
  td_tensordict *td = flat("episode,step,x\n0,0,1\n0,1,2\n1,0,3\n", TD_TABLE_CSV);
  td_dict_kind kind;
  TD_DO(td_kind(td, &kind));
  TD_CHECK(kind == TD_DICT_LAZY_STACK);
  TD_CHECK_BATCH(td, 2, -1);
  TD_DO(save_flat(td, TD_TABLE_CSV));
  check_file("out", "episode,step,x\n0,0,1\n0,1,2\n1,0,3\n");
  td = flat("dim0,dim1,dim2,x\n0,0,0,1\n0,0,1,2\n0,1,0,3\n0,1,1,4\n", TD_TABLE_CSV);
  TD_CHECK_BATCH(td, 1, 2, 2);
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(1, 2, 2), TD_VALUES(1, 2, 3, 4));
  TD_DO(save_flat(td, TD_TABLE_JSON));
  check_file("out",
             "[\n{\"dim0\":0,\"dim1\":0,\"dim2\":0,\"x\":1},\n{\"dim0\":0,\"dim1\":0,\"dim2\":1,"
             "\"x\":2},\n"
             "{\"dim0\":0,\"dim1\":1,\"dim2\":0,\"x\":3},\n{\"dim0\":0,\"dim1\":1,\"dim2\":1,\"x\":"
             "4}\n]\n");
  static const char *const others[] = {
      "episode,step,x\n0,1,1\n0,2,2\n", "episode,step,x\n1,0,1\n1,1,2\n",
      "episode,step,x\n0,0,1\n0,2,2\n", "episode,step,x\n0,0,1\n0,-1,2\n",
      "x,episode,step\n1,0,0\n2,0,1\n", "dim0,dim1,dim2,x\n0,0,0,1\n0,0,4611686018427387904,2\n",
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    td = flat(others[i], TD_TABLE_CSV); /* the columns stay */
    TD_CHECK_BATCH(td, 2);
    TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(2), TD_VALUES(1, 2));
  }
}

TD_TEST(what_a_flat_table_cannot_hold) {
  td_table_options options = TD_TABLE_OPTIONS_INIT;
  td_tensordict *td, *none = NULL;
  options.flags = 2;
  TD_EXPECT_NULL(td_table_load(written("in", "a\n1\n"), &options, &td), TD_ERR_INVALID_ARGUMENT,
                 td);
  TD_DO(td_create(NULL, 0, TD_DEVICE_NONE, -1, &none));
  TD_EXPECT(save_flat(none, TD_TABLE_CSV), TD_ERR_SHAPE);
  TD_DO(td_create(TD_SIZES(1, 1), TD_DEVICE_NONE, -1, &td));
  td_put(td, TD_KEY("step"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1, 1)));
  TD_EXPECT(save_flat(td, TD_TABLE_CSV), TD_ERR_KEY_EXISTS);
  TD_CHECK_TEXT(td_last_error_message(), "\"step\"");
}
