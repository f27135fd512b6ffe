/* tensordict/td_non_tensor.h: non-tensor data, as texts, JSON or bytes (C: td_set_text, td_set_non_tensor_json, …; Python: NonTensorData, NonTensorStack). */
#ifndef TENSORDICT_TD_NON_TENSOR_H
#define TENSORDICT_TD_NON_TENSOR_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Stores non-tensor data under a path, one value for the whole batch, as JSON text: a string,
 * number, true, false, null, list or object. A number stays a number; it does not become a tensor.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     borrowed; NUL-terminated JSON
 *
 * @return TD_OK, TD_ERR_FORMAT (not JSON), TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (the path runs
 *         through a tensor), TD_ERR_LOCKED
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_non_tensor_json(td_tensordict *td, const char *const *path, size_t path_len,
                                 const char *text) TD_NOEXCEPT;

/**
 * Like td_set_non_tensor_json(), but stores one value per element of the batch: lists nested like
 * the batch dimensions. Indexing, stacking and reshaping then move the values like a tensor.
 * Python: NonTensorStack.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     borrowed; NUL-terminated JSON
 *
 * @return TD_OK, TD_ERR_FORMAT (not JSON), TD_ERR_SHAPE (the lists do not match the batch size),
 *         TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (the path runs through a tensor), TD_ERR_LOCKED
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_non_tensor_stack_json(td_tensordict *td, const char *const *path, size_t path_len,
                                       const char *text) TD_NOEXCEPT;

/**
 * Gets the value of each element of the batch, as lists nested like the batch dimensions. A value
 * for the whole batch is repeated. Without batch dimensions you get the value alone. Python:
 * tolist.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not non-tensor
 *         data), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_non_tensor_stack_json(const td_tensordict *td, const char *const *path,
                                       size_t path_len, char *TD_NULLABLE text, size_t text_cap,
                                       size_t *length) TD_NOEXCEPT;

/**
 * Gets the one value that all elements of the batch have.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not non-tensor data,
 *         or the values differ), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_non_tensor_value_json(const td_tensordict *td, const char *const *path,
                                       size_t path_len, char *TD_NULLABLE text, size_t text_cap,
                                       size_t *length) TD_NOEXCEPT;

/**
 * Stores a text under a path, one for the whole batch: non-tensor data, a string of JSON.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     borrowed; copied; NUL-terminated UTF-8, without quotes
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (not UTF-8), TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (the
 *         path runs through a tensor), TD_ERR_LOCKED
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_set_text(td_tensordict *td, const char *const *path, size_t path_len,
                      const char *text) TD_NOEXCEPT;

/**
 * Gets the text that all elements of the batch have.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL. A text of JSON may hold NUL itself
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not a text, or the
 *         values differ), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_get_text(const td_tensordict *td, const char *const *path, size_t path_len,
                      char *TD_NULLABLE text, size_t text_cap, size_t *length) TD_NOEXCEPT;

/**
 * Stores one text per element of the batch. Indexing, stacking and reshaping then move the texts
 * like a tensor.
 *
 * @param td        borrowed; changed
 * @param path      borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len  number of names, at least 1
 * @param texts     borrowed; copied; NUL-terminated UTF-8; row-major over the batch dimensions
 * @param texts_len number of texts: the elements of the batch
 *
 * @return TD_OK, TD_ERR_SHAPE (another number than the batch has, or no batch dimensions),
 *         TD_ERR_INVALID_ARGUMENT (not UTF-8), TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (the path runs
 *         through a tensor), TD_ERR_LOCKED
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_set_texts(td_tensordict *td, const char *const *path, size_t path_len,
                       const char *const *texts, size_t texts_len) TD_NOEXCEPT;

/**
 * Gets the text of one row: that of the element, or that all elements of the row have.
 *
 * @param td       borrowed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param row      index in the first batch dimension; negative: from the end
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_INDEX (no such row), TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID,
 *         TD_ERR_WRONG_ENTRY (not a text, or the values of the row differ),
 *         TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_get_row_text(const td_tensordict *td, const char *const *path, size_t path_len,
                          int64_t row, char *TD_NULLABLE text, size_t text_cap,
                          size_t *length) TD_NOEXCEPT;

/**
 * Turns one value for the whole batch into one value per element. Nothing changes if there already
 * is one per element, or without batch dimensions. Python: maybe_to_stack.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not non-tensor
 *         data), TD_ERR_LOCKED
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_spread_non_tensor(td_tensordict *td, const char *const *path,
                               size_t path_len) TD_NOEXCEPT;

/**
 * Stores bytes under a path, one value for the whole batch.
 *
 * @param td        borrowed; changed
 * @param path      borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len  number of names, at least 1
 * @param bytes     borrowed; copied; NULL only when bytes_len is 0
 * @param bytes_len number of bytes
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS (the path runs through a tensor),
 *         TD_ERR_LOCKED
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_non_tensor_bytes(td_tensordict *td, const char *const *path, size_t path_len,
                                  const void *TD_NULLABLE bytes, size_t bytes_len) TD_NOEXCEPT;

/**
 * Gets the bytes stored under a path.
 *
 * @param td        borrowed
 * @param path      borrowed; one name per level, NUL-terminated UTF-8
 * @param path_len  number of names, at least 1
 * @param bytes     written when all of them fit
 * @param bytes_cap room in `bytes`, in bytes; 0 asks for the length only
 * @param length    number of bytes; also written on TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (not non-tensor data,
 *         or not bytes), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_non_tensor_bytes(const td_tensordict *td, const char *const *path, size_t path_len,
                                  void *TD_NULLABLE bytes, size_t bytes_cap,
                                  size_t *length) TD_NOEXCEPT;

TD_END_C

#endif
