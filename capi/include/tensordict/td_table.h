/* tensordict/td_table.h: tables in CSV and JSON files (C: td_table_load, td_table_save; Python: from_csv, to_csv, from_json, from_pandas). */
#ifndef TENSORDICT_TD_TABLE_H
#define TENSORDICT_TD_TABLE_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * The format of a table.
 */
typedef int32_t td_table_format;
enum {
  TD_TABLE_CSV = 0, /**< column names in the first line, commas, quotes where needed (RFC 4180) */
  TD_TABLE_JSON = 1 /**< a list of objects, one per row */
};

/**
 * How td_table_load() and td_table_save() treat more than one dimension.
 */
typedef uint32_t td_table_flags;
enum {
  TD_TABLE_FLATTEN = 1 /**< a column for each element of a row, such as "action[0]" or "grid[0,1]",
                            and a row for each element of the batch, with columns that say which */
};

/**
 * Options of td_table_load() and td_table_save(). Set a field after `struct_size` to 0 for its
 * default.
 */
typedef struct td_table_options {
  uint32_t struct_size;              /**< sizeof(td_table_options) */
  td_table_format format;            /**< one of TD_TABLE_ */
  const char *TD_NULLABLE separator; /**< borrowed; splits column names into nested keys, or joins
                                          these; NULL or "": does not split */
  uint32_t max_depth;                /**< loading: deepest accepted nesting; 0: 1,000 */
  uint32_t max_entries;              /**< loading: accepted number of entries on all levels together,
                                          dictionaries that the names make included; 0: 1,000,000 */
  td_table_flags flags;              /**< TD_TABLE_FLATTEN, or 0 */
} td_table_options;
#define TD_TABLE_OPTIONS_INIT {sizeof(td_table_options), 0, NULL, 0, 0, 0}

/**
 * Reads a table into a dictionary of batch size [rows].
 *
 * A column of integers becomes an int64 tensor, or uint64 if libtorch has it and one needs it; numbers
 * or missing values float64; `true` and `false` bool; anything else non-tensor data, one value per row,
 * and so do integers that none of these tensors would hold exactly. Quoted text in a CSV file stays
 * text.
 *
 * With TD_TABLE_FLATTEN, columns "a[0]", "a[1]" and so on become one tensor [rows, 2] if no element
 * is missing and all have one dtype; otherwise they stay columns. Leading columns "episode" and
 * "step" that count the rows become the batch size [episodes, steps], or a lazy stack of episodes
 * [steps] if these differ in length; so do "dim0", "dim1" and so on of more dimensions.
 *
 * @param file    borrowed; UTF-8 path
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT (the message says where), TD_ERR_KEY_EXISTS (two columns
 *         of one name), TD_ERR_KEY_INVALID, TD_ERR_INVALID_ARGUMENT (no such format or flag)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_table_load(const char *file, const td_table_options *TD_NULLABLE options,
                        td_tensordict **result) TD_NOEXCEPT;

/**
 * Writes a dictionary with one batch dimension as a table. Numbers read back exactly; a NaN is a
 * missing value. An existing file is replaced once the new one is complete.
 *
 * With TD_TABLE_FLATTEN, tensors may have any shape, and the batch any number of dimensions but 0.
 * The rows are the elements of the batch in row-major order. Two batch dimensions give the first
 * columns "episode" and "step", more give "dim0", "dim1" and so on. A lazy stack along dimension 0
 * gives the rows of its elements one after the other; a cell that its element lacks is empty.
 *
 * @param td      borrowed; without TD_TABLE_FLATTEN, its tensors have one dimension
 * @param file    borrowed; UTF-8 path
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_SHAPE (more than one dimension), TD_ERR_DTYPE (complex numbers),
 *         TD_ERR_INVALID_ARGUMENT (a nested key without separator, or no such format or flag),
 *         TD_ERR_KEY_EXISTS (two columns of one name), TD_ERR_DEVICE (a meta tensor),
 *         TD_ERR_UNSUPPORTED (a lazy stack)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_table_save(const td_tensordict *td, const char *file,
                        const td_table_options *TD_NULLABLE options) TD_NOEXCEPT;

TD_END_C

#endif
