/* Files that pyarrow has written (tests/data/tables). */
#include <stdio.h>

#include "td_arrow_files.h"

static const char *table_file(const char *name) { return td_path(td_golden("../tables"), name); }

static const char *const tables[] = {"groups.parquet",  "gzip.parquet",  "plain.parquet",
                                     "foreign.parquet", "batches.arrow", "lz4.feather",
                                     "zstd.feather"};

TD_TEST(columns_of_another_program) {
  need_arrow();
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    td_tensordict *td = NULL;
    char words[256] = "";
    size_t length = 0;
    TD_DO(td_file_load(table_file(tables[i]), NULL, &td));
    TD_CHECK_BATCH(td, 7);
    TD_CHECK_ENTRY(td, TD_KEY("i"), TD_SIZES(7), TD_VALUES(0, 1, 2, 3, 4, 5, 6));
    TD_CHECK_ENTRY(td, TD_KEY("u"), TD_SIZES(7), TD_VALUES(0, 1, 2, 3, 4, 5, 6));
    TD_CHECK_ENTRY(td, TD_KEY("f"), TD_SIZES(7), TD_VALUES(0, 0.5, 1, 1.5, 2, 2.5, 3));
    TD_CHECK_DTYPE(td, TD_KEY("f"), TD_DTYPE_FLOAT32);
    TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(7), TD_VALUES(1, 0, 0, 1, 0, 0, 1));
    TD_CHECK_DTYPE(td, TD_KEY("b"), TD_DTYPE_BOOL);
    TD_CHECK_ENTRY(td, TD_KEY("when"), TD_SIZES(7),
                   TD_VALUES(0, 1000, 2000, 3000, 4000, 5000, 6000));
    TD_DO(td_get_non_tensor_stack_json(td, TD_KEY("word"), words, sizeof words, &length));
    TD_CHECK_SAME_TEXT(words, "[\"left\", \"right\", null, \"left\", \"right\", null, \"left\"]");
    TD_CHECK_ENTRY(td, TD_KEY("at", "x"), TD_SIZES(7), TD_VALUES(10, 11, 12, 13, 14, 15, 16));
    if (strcmp(tables[i], "foreign.parquet") != 0) {
      TD_CHECK_ENTRY(td, TD_KEY("pair"), TD_SIZES(7, 2),
                     TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13));
      TD_CHECK_DTYPE(td, TD_KEY("pair"), TD_DTYPE_INT32);
    }
  }
}

TD_TEST(what_has_no_place_in_a_dictionary) {
  need_arrow();
  td_tensordict *td = TD_POISON;
  static const char *const missing[] = {"missing.parquet", "missing.arrow"};
  for (size_t i = 0; i < 2; i++) { /* as td_from_arrow_stream() has it */
    TD_EXPECT_NULL(td_file_load(table_file(missing[i]), NULL, &td), TD_ERR_UNSUPPORTED, td);
    TD_CHECK_TEXT(td_last_error_message(), missing[i]);
    TD_CHECK_TEXT(td_last_error_message(), "column \"a\"");
  }
  TD_EXPECT_NULL(td_file_load(table_file("ragged.parquet"), NULL, &td), TD_ERR_UNSUPPORTED, td);
  TD_CHECK_TEXT(td_last_error_message(), "fixed-size list");
}

TD_TEST(a_table_without_columns) {
  need_arrow();
  td_tensordict *td = NULL;
  TD_DO(td_file_load(table_file("none.parquet"), NULL, &td));
  TD_CHECK_BATCH(td, 0);
}

/* One value two million times: a small file that is large in memory is no attack. */
TD_TEST(a_file_that_is_packed_well) {
  need_arrow();
  td_tensordict *td = NULL;
  int64_t sum = 0;
  TD_CHECK(td_file_size(table_file("dense.parquet")) < 10000);
  TD_DO(td_file_load(table_file("dense.parquet"), NULL, &td));
  TD_CHECK_BATCH(td, 1 << 21);
  td_tensor *a = td_take(td, TD_KEY("a"));
  void *data = NULL;
  TD_DO(td_tensor_data(a, &data));
  for (size_t i = 0; i < 1u << 21; i++) sum += ((const int64_t *)data)[i];
  TD_CHECK_INT(sum, INT64_C(7) << 21);
}
