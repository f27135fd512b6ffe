/* td_arrow_files.h: what the tests of Parquet and Arrow files share. */
#ifndef TD_ARROW_FILES_H
#define TD_ARROW_FILES_H

#include <string.h>

#include "td_files.h"
#include "td_values.h"

static inline const char *file_named(const char *name) { return td_path(td_test_folder(), name); }

/* Whether this build has the module. */
static inline int has_arrow(void) {
  td_tensordict *td = td_empty(TD_SIZES(1));
  const td_status status = td_file_save(td, file_named("probe.arrow"), NULL);
  if (status == TD_ERR_UNSUPPORTED) return 0;
  TD_CHECK_INT(status, TD_OK);
  return 1;
}

static inline void need_arrow(void) {
  if (!has_arrow()) td_test_skip("%s", td_last_error_message());
}

/* Of every dtype that tables have, also as lists and lists of lists; texts, values, nested dictionaries. */
static inline td_tensordict *arrow_sample(int64_t rows) {
  static const struct {
    const char *name;
    td_dtype dtype;
  } columns[] = {{"bool", TD_DTYPE_BOOL},  {"u1", TD_DTYPE_UINT8},   {"i1", TD_DTYPE_INT8},
                 {"i2", TD_DTYPE_INT16},   {"i4", TD_DTYPE_INT32},   {"i8", TD_DTYPE_INT64},
                 {"f2", TD_DTYPE_FLOAT16}, {"f4", TD_DTYPE_FLOAT32}, {"f8", TD_DTYPE_FLOAT64}};
  td_tensordict *td = td_empty(TD_SIZES(rows)), *lists = td_empty(TD_SIZES(rows)),
                *deep = td_empty(TD_SIZES(rows));
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    td_put(td, TD_KEY(columns[i].name), td_converted(columns[i].dtype, TD_SIZES(rows)));
    td_put(lists, TD_KEY(columns[i].name), td_converted(columns[i].dtype, TD_SIZES(rows, 3)));
    td_put(deep, TD_KEY(columns[i].name), td_converted(columns[i].dtype, TD_SIZES(rows, 2, 2)));
  }
  TD_DO(td_set_non_tensor_json(deep, TD_KEY("below"), "{\"k\":[1,null]}"));
  td_put_dict(lists, TD_KEY("deep.er"), deep);
  td_put_dict(td, TD_KEY("lists"), lists);
  TD_DO(td_set_non_tensor_json(td, TD_KEY("all"), "[1,\"two\"]"));
  return td;
}

/* Whether a file holds what a dictionary does. */
static inline void check_holds(const char *path, const td_tensordict *want, const char *where) {
  td_tensordict *got = NULL;
  int32_t same = 0;
  TD_DO(td_file_load(path, NULL, &got));
  TD_DO(td_equal(got, want, &same));
  if (!same)
    td_test_fail(__FILE__, __LINE__, "%s: %s, not %s", where, td_printed(got), td_printed(want));
  td_free(got);
}

#endif
