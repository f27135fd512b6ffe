/* tensordict/td_writer.h: writes row after row into existing tensors, without allocating (C: td_writer_open, td_writer_put, …; Python: no equivalent). */
#ifndef TENSORDICT_TD_WRITER_H
#define TENSORDICT_TD_WRITER_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Writes rows into the tensors of a dictionary. A row is one element of the batch. With several
 * batch dimensions, rows follow in row-major order.
 */
typedef struct td_writer td_writer;

/**
 * Options of td_writer_open(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_writer_options {
  uint32_t struct_size; /**< sizeof(td_writer_options) */
  uint32_t reserved;    /**< zero */
  int64_t first_row;    /**< the first row to write */
  int64_t capacity;     /**< number of rows that may be written, from first_row; 0: up to the last */
} td_writer_options;
#define TD_WRITER_OPTIONS_INIT {sizeof(td_writer_options), 0, 0, 0}

/**
 * Opens a writer. The dictionary must be on the CPU and already hold the tensors; see td_expand()
 * with td_memmap_like(), or td_set() of zeros.
 *
 * @param td      borrowed; the writer keeps what it needs and will change its values
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_writer_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_SHAPE (no batch dimension), TD_ERR_INDEX (rows outside the batch)
 * @threadsafety needs exclusive access to `td`, here and in each td_writer_put()
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_open(td_tensordict *td, const td_writer_options *TD_NULLABLE options,
                         td_writer **result) TD_NOEXCEPT;

/**
 * Looks a tensor up once and gives it a field number: 0, 1, 2 … in the order of the calls. The
 * dictionary must store the tensor. An entry that is computed when you read it, such as one of a
 * lazy stack or of a sub-tensordict with a mask, is refused. Do not move, map, share or replace the
 * tensor while the writer is open; td_writer_flush() and td_writer_close() report it if you did.
 *
 * A writer from td_writer_open_append() also finds an entry with a text for each row, for
 * td_writer_put_text().
 *
 * @param writer   borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param result   the field number; -1 on failure
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not a tensor),
 *         TD_ERR_DEVICE (not on the CPU), TD_ERR_SHAPE (rows are not contiguous),
 *         TD_ERR_UNSUPPORTED (the dictionary does not store the tensor)
 * @threadsafety needs exclusive access to `writer`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_bind(td_writer *writer, const char *const *path, size_t path_len,
                         int32_t *result) TD_NOEXCEPT;

/**
 * Like td_writer_bind(), but also requires these sizes and this dtype, and creates the tensor as
 * zeros if the dictionary lacks it. So you know what td_writer_put() must get.
 *
 * @param writer   borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param sizes    borrowed; of one row, without the batch size; NULL only when dims is 0
 * @param dims     number of sizes; 0 for a scalar
 * @param dtype    element type
 * @param result   the field number for td_writer_put(); -1 on failure
 *
 * @return TD_OK, TD_ERR_DTYPE and TD_ERR_SHAPE (the tensor has others), TD_ERR_LOCKED (a new entry
 *         in a locked dictionary), TD_ERR_KEY_NOT_FOUND (in a growing folder), otherwise as
 *         td_writer_bind()
 * @threadsafety needs exclusive access to `writer`, and to the dictionary if it creates the entry
 */
TD_API(0, 2) TD_MUST_USE
td_status td_writer_field(td_writer *writer, const char *const *path, size_t path_len,
                          const int64_t *TD_NULLABLE sizes, size_t dims, td_dtype dtype,
                          int32_t *result) TD_NOEXCEPT;

/**
 * Gets the size of one row of a field in bytes.
 *
 * @param writer borrowed
 * @param field  a number from td_writer_bind()
 * @param result written on success; bytes
 *
 * @return TD_OK, TD_ERR_INDEX (no such field), TD_ERR_WRONG_ENTRY (a field of texts)
 * @threadsafety safe while other threads only read `writer`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_row_bytes(const td_writer *writer, int32_t field, size_t *result) TD_NOEXCEPT;

/**
 * Copies one field of the current row. Allocates nothing.
 *
 * @param writer borrowed; changed
 * @param field  a number from td_writer_bind()
 * @param data   borrowed; row-major values in the dtype of the tensor
 * @param bytes  size of `data`; must equal what td_writer_row_bytes() gives
 *
 * @return TD_OK, TD_ERR_INDEX (no such field), TD_ERR_SHAPE (`bytes` differs), TD_ERR_CAPACITY (no
 *         row left), TD_ERR_WRONG_ENTRY (a field of texts), TD_ERR_INVALID_ARGUMENT (the writer is
 *         closed)
 * @threadsafety needs exclusive access to `writer`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_put(td_writer *writer, int32_t field, const void *data,
                        size_t bytes) TD_NOEXCEPT;

/**
 * Copies the text of a field of the current row. A row whose text you do not put has an empty one. See
 * td_writer_open_append() for what texts cost. Allocates if the text is long.
 *
 * @param writer borrowed; changed
 * @param field  a number from td_writer_bind()
 * @param text   borrowed; NUL-terminated UTF-8
 *
 * @return TD_OK, TD_ERR_INDEX (no such field), TD_ERR_WRONG_ENTRY (a field of bytes),
 *         TD_ERR_INVALID_ARGUMENT (not UTF-8, or the writer is closed), TD_ERR_CAPACITY (no row left)
 * @threadsafety needs exclusive access to `writer`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_writer_put_text(td_writer *writer, int32_t field, const char *text) TD_NOEXCEPT;

/**
 * Moves on to the next row. Allocates nothing. Fields that you did not put keep their values.
 *
 * @param writer borrowed; changed
 *
 * @return TD_OK, TD_ERR_CAPACITY (already past the last row), TD_ERR_INVALID_ARGUMENT (the writer
 *         is closed)
 * @threadsafety needs exclusive access to `writer`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_next(td_writer *writer) TD_NOEXCEPT;

/**
 * Gets how many rows td_writer_next() has completed.
 *
 * @param writer borrowed
 * @param result written on success; rows
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `writer`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_rows(const td_writer *writer, int64_t *result) TD_NOEXCEPT;

/**
 * Waits until everything you put is on the disk. Does nothing for tensors without a file.
 *
 * @param writer borrowed; changed
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_WRONG_ENTRY (an entry is no longer the tensor that you bound;
 *         rows went to its old memory)
 * @threadsafety needs exclusive access to `writer`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_flush(td_writer *writer) TD_NOEXCEPT;

/**
 * Flushes and releases the dictionary. Later puts fail. You still have to call td_writer_free().
 *
 * @param writer borrowed; changed
 *
 * @return TD_OK, also if it is already closed; TD_ERR_IO, TD_ERR_WRONG_ENTRY (see
 *         td_writer_flush()); the writer is closed in any case
 * @threadsafety needs exclusive access to `writer`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_writer_close(td_writer *writer) TD_NOEXCEPT;

/**
 * Frees a writer. If it is still open, closes it without waiting for the disk.
 *
 * @param writer consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 */
TD_API(0, 1) void td_writer_free(td_writer *TD_NULLABLE writer) TD_NOEXCEPT;

TD_END_C

#endif
