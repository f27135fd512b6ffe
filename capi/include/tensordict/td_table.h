/* tensordict/td_table.h: tables, CSV and JSON (Python: from_pandas, to_pandas). */
#ifndef TENSORDICT_TD_TABLE_H
#define TENSORDICT_TD_TABLE_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How a table is written down.
 */
typedef int32_t td_table_format;
enum {
  TD_TABLE_CSV = 0, /**< names in the first line, commas, quotes where needed (RFC 4180) */
  TD_TABLE_JSON = 1 /**< a list of objects, one for each row */
};

/**
 * How a table is read and written. Zero in every field but the first means the default.
 */
typedef struct td_table_options {
  uint32_t struct_size;              /**< sizeof(td_table_options) */
  td_table_format format;            /**< one of TD_TABLE_ */
  const char *TD_NULLABLE separator; /**< borrowed; splits names of columns into nested keys, and joins
                                          these; NULL or "": names are not split */
} td_table_options;
#define TD_TABLE_OPTIONS_INIT {(uint32_t)sizeof(td_table_options), 0, NULL}

/**
 * Reads a table into a dictionary of batch size [number of rows].
 *
 * A column of whole numbers becomes a tensor of int64, one of numbers and missing values of float64, one
 * of `true` and `false` of bool, any other a non-tensor value for each row. In a CSV file what
 * stands in quotes is text.
 *
 * @param file    borrowed; UTF-8 path
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT (the text says where), TD_ERR_KEY_EXISTS (two columns of one
 *         name), TD_ERR_KEY_INVALID, TD_ERR_INVALID_ARGUMENT (no such format)
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_table_load(const char *file, const td_table_options *TD_NULLABLE options,
                        td_tensordict **result) TD_NOEXCEPT;

/**
 * Writes a dictionary of one batch dimension as a table. Numbers are written so that the same ones are
 * read; a NaN is a missing value. What stood in the file is there until all is written.
 *
 * @param td      borrowed; its tensors have one dimension
 * @param file    borrowed; UTF-8 path; replaced
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_SHAPE (more than one dimension), TD_ERR_DTYPE (complex numbers),
 *         TD_ERR_INVALID_ARGUMENT (a nested key without separator; no such format), TD_ERR_KEY_EXISTS
 *         (two columns of one name), TD_ERR_DEVICE (a meta tensor), TD_ERR_UNSUPPORTED (a lazy stack)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_table_save(const td_tensordict *td, const char *file,
                        const td_table_options *TD_NULLABLE options) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
