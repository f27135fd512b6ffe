/* tensordict/td_writer.h: rows of plain memory into a dictionary, for a hot loop. */
#ifndef TENSORDICT_TD_WRITER_H
#define TENSORDICT_TD_WRITER_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes rows into the tensors of a dictionary. A row is one element of the batch; with several
 * batch dimensions rows follow in row-major order.
 */
typedef struct td_writer td_writer;

/**
 * How a writer is opened. Zero in every field but the first means the default.
 */
typedef struct td_writer_options {
  uint32_t struct_size; /**< sizeof(td_writer_options) */
  uint32_t reserved;    /**< zero */
  int64_t first_row;    /**< where writing begins */
  int64_t capacity;     /**< rows that may be written, from first_row; 0: up to the last */
} td_writer_options;
#define TD_WRITER_OPTIONS_INIT {(uint32_t)sizeof(td_writer_options), 0, 0, 0}

/**
 * Opens a writer. The dictionary must be on the CPU and hold the tensors already; see td_expand()
 * with td_memmap_like(), or td_set() of zeros.
 *
 * @param td      borrowed; the writer keeps what it needs of it; its values will change
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_writer_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (no batch dimension), TD_ERR_INDEX (rows outside the batch)
 * @threadsafety needs the dictionary for itself, here and in each put
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_open(td_tensordict *td, const td_writer_options *TD_NULLABLE options,
                         td_writer **result) TD_NOEXCEPT;

/**
 * Finds a tensor once and gives it a number: 0, 1, 2 … in the order of the calls.
 *
 * @param writer   borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   the number of the field; -1 on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY, TD_ERR_DEVICE (not
 *         on the CPU), TD_ERR_SHAPE (rows that do not lie densely)
 * @threadsafety needs the writer for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_bind(td_writer *writer, const char *const *path, size_t path_len,
                         int32_t *result) TD_NOEXCEPT;

/**
 * How many bytes one row of a field takes.
 *
 * @param writer borrowed
 * @param field  a number from td_writer_bind()
 * @param result written on success; bytes
 *
 * @return TD_OK, TD_ERR_INDEX (no such field)
 * @threadsafety safe beside calls that only read `writer`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_row_bytes(const td_writer *writer, int32_t field, size_t *result) TD_NOEXCEPT;

/**
 * Copies one field of the current row. Allocates nothing.
 *
 * @param writer borrowed; changed
 * @param field  a number from td_writer_bind()
 * @param data   borrowed; row-major values of the dtype of the tensor
 * @param bytes  size of `data`; must be what td_writer_row_bytes() gives
 *
 * @return TD_OK, TD_ERR_INDEX (no such field), TD_ERR_SHAPE (another number of bytes),
 *         TD_ERR_CAPACITY (no row left), TD_ERR_INVALID_ARGUMENT (closed)
 * @threadsafety needs the writer for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_put(td_writer *writer, int32_t field, const void *data,
                        size_t bytes) TD_NOEXCEPT;

/**
 * Moves on to the next row. Allocates nothing. Fields that were not put keep what was there.
 *
 * @param writer borrowed; changed
 *
 * @return TD_OK, TD_ERR_CAPACITY (the last row was passed before), TD_ERR_INVALID_ARGUMENT (closed)
 * @threadsafety needs the writer for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_next(td_writer *writer) TD_NOEXCEPT;

/**
 * How many rows were completed by td_writer_next().
 *
 * @param writer borrowed
 * @param result written on success; rows
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `writer`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_rows(const td_writer *writer, int64_t *result) TD_NOEXCEPT;

/**
 * Waits until what was put is on the disk. Nothing to do for tensors without a file.
 *
 * @param writer borrowed; changed
 *
 * @return TD_OK, TD_ERR_IO
 * @threadsafety needs the writer for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_flush(td_writer *writer) TD_NOEXCEPT;

/**
 * Flushes, and lets go of the dictionary. Further puts fail; td_writer_free() is still needed.
 *
 * @param writer borrowed; changed
 *
 * @return TD_OK, also when it is closed already; TD_ERR_IO
 * @threadsafety needs the writer for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_close(td_writer *writer) TD_NOEXCEPT;

/**
 * Gives a writer back. Closes it without waiting for the disk if that was not done.
 *
 * @param writer consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) void td_writer_free(td_writer *TD_NULLABLE writer) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
