/* Tables in text files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_values.h"

#define TABLE(format, separator) \
  (&(const td_table_options){(uint32_t)sizeof(td_table_options), (format), (separator)})

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
  td_tensor_free(gap);
  TD_CHECK_DTYPE(td, TD_KEY("b"), TD_DTYPE_BOOL);
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(2), TD_VALUES(1, 0));
  TD_CHECK_JSON(td, TD_KEY("s"), "[\"one\", \"two, \\\"three\\\"\\nfour\"]");
  TD_CHECK_JSON(td, TD_KEY("q,\"x\""), "[\"2\", \"\"]");
  TD_CHECK_JSON(td, TD_KEY("mixed"), "[1, \"x\"]");
  td_free(td);
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
  td_free(td);
}

TD_TEST(what_is_written_is_read_again) {
  static const char *const texts[] = {"csv", "json"};
  for (td_table_format format = TD_TABLE_CSV; format <= TD_TABLE_JSON; format++) {
    td_tensordict *td = td_empty(TD_SIZES(3)), *again = NULL, *names = NULL;
    td_tensor *f = NULL, *mask = td_mask((const int64_t[]){1, 0, 1}, 3);
    const double fractions[] = {0.1, 1, 1e300};
    const int64_t three = 3;
    TD_DO(td_tensor_from_data(fractions, sizeof fractions, &three, 1, TD_DTYPE_FLOAT64, &f));
    td_put(td, TD_KEY("f"), f);
    td_put(td, TD_KEY("n", "i"), td_arange(TD_DTYPE_INT64, -1, TD_SIZES(3)));
    td_put(td, TD_KEY("n", "b"), mask);
    names = read("s\n\"a\"\n\"1\"\n\"\"\n", TD_TABLE_CSV, NULL);
    TD_DO(td_table_save(td, file_of(texts[format]), TABLE(format, "/")));
    TD_DO(td_table_load(file_of(texts[format]), TABLE(format, "/"), &again));
    int32_t equal = 0;
    TD_DO(td_equal(td, again, &equal));
    TD_CHECK_INT(equal, 1);
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
  td_free(td);
}

TD_TEST(tables_without_rows_or_columns) {
  td_tensordict *td = read("a,b\n", TD_TABLE_CSV, NULL);
  TD_CHECK_BATCH(td, 0);
  TD_CHECK_DTYPE(td, TD_KEY("b"), TD_DTYPE_FLOAT64);
  TD_DO(td_table_save(td, file_of("out"), TABLE(TD_TABLE_CSV, NULL)));
  check_file("out", "a,b\n");
  td_free(td);
  td = read("", TD_TABLE_CSV, NULL);
  TD_CHECK_BATCH(td, 0);
  td_free(td);
  td = read("[]", TD_TABLE_JSON, NULL);
  TD_CHECK_BATCH(td, 0);
  td_free(td);
  td = read("[{}, {}]", TD_TABLE_JSON, NULL);
  TD_CHECK_BATCH(td, 2);
  TD_EXPECT(td_table_save(td, file_of("out"), TABLE(TD_TABLE_CSV, NULL)), TD_ERR_INVALID_ARGUMENT);
  td_free(td);
  td = read(
      "\xEF\xBB\xBF"
      "a\n1",
      TD_TABLE_CSV, NULL); /* a mark, and no end of line */
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(1), TD_VALUES(1));
  td_free(td);
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
      {TD_TABLE_JSON, "", NULL, "list of rows", TD_ERR_FORMAT},
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

TD_TEST(dictionaries_that_are_no_table) {
  td_tensordict *td = td_sample();
  const char *path = written("out", "as it was");
  TD_EXPECT(td_table_save(td, path, TABLE(TD_TABLE_CSV, ".")), TD_ERR_SHAPE);
  td_free(td);
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
  td_free(td);
}
