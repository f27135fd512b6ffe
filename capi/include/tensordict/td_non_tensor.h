/* tensordict/td_non_tensor.h: entries that are no tensors, as JSON or bytes (Python: NonTensorData, NonTensorStack). */
#ifndef TENSORDICT_TD_NON_TENSOR_H
#define TENSORDICT_TD_NON_TENSOR_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Stores a non-tensor value under a path, one for the whole batch: a text, a number, true,
 * false, null, a list or a map, as JSON text. A number stays a number and does not become a tensor.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     borrowed; NUL-terminated JSON
 *
 * @return TD_OK, TD_ERR_FORMAT (no JSON), TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS, TD_ERR_LOCKED
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_non_tensor_json(td_tensordict *td, const char *const *path, size_t path_len,
                                 const char *text) TD_NOEXCEPT;

/**
 * As td_set_non_tensor_json(), one value for each element of the batch: lists nested as the batch
 * dimensions are. Indexing, stacking and reshaping then move the values as they move a tensor.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     borrowed; NUL-terminated JSON
 *
 * @return TD_OK, TD_ERR_FORMAT (no JSON), TD_ERR_SHAPE (lists that do not fit the batch),
 *         TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS, TD_ERR_LOCKED
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_non_tensor_stack_json(td_tensordict *td, const char *const *path, size_t path_len,
                                       const char *text) TD_NOEXCEPT;

/**
 * Writes the value of each element of the batch, as lists nested as the batch dimensions are. A
 * value for the whole batch is repeated; without batch dimensions it stands alone.
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     written with a closing NUL when `text_cap` is larger than the length
 * @param text_cap bytes that `text` can take; 0 asks for the length only
 * @param length   bytes of the text without the NUL; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY,
 *         TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_non_tensor_stack_json(const td_tensordict *td, const char *const *path,
                                       size_t path_len, char *TD_NULLABLE text, size_t text_cap,
                                       size_t *length) TD_NOEXCEPT;

/**
 * Writes the one value that all elements of the batch have.
 *
 * @param td       borrowed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param text     written with a closing NUL when `text_cap` is larger than the length
 * @param text_cap bytes that `text` can take; 0 asks for the length only
 * @param length   bytes of the text without the NUL; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (no value, or values
 *         that differ), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_non_tensor_value_json(const td_tensordict *td, const char *const *path,
                                       size_t path_len, char *TD_NULLABLE text, size_t text_cap,
                                       size_t *length) TD_NOEXCEPT;

/**
 * Makes the value of the whole batch one value for each element. Nothing changes where that is done
 * already, or without batch dimensions.
 *
 * @param td       borrowed; changed
 * @param path     borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY, TD_ERR_LOCKED
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_spread_non_tensor(td_tensordict *td, const char *const *path,
                               size_t path_len) TD_NOEXCEPT;

/**
 * Stores bytes under a path, one value for the whole batch.
 *
 * @param td        borrowed; changed
 * @param path      borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len  number of names, at least 1
 * @param bytes     borrowed; copied; NULL only when bytes_len is 0
 * @param bytes_len number of bytes
 *
 * @return TD_OK, TD_ERR_KEY_INVALID, TD_ERR_KEY_EXISTS, TD_ERR_LOCKED
 * @threadsafety needs the dictionary for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_set_non_tensor_bytes(td_tensordict *td, const char *const *path, size_t path_len,
                                  const void *TD_NULLABLE bytes, size_t bytes_len) TD_NOEXCEPT;

/**
 * Writes the bytes stored under a path.
 *
 * @param td        borrowed
 * @param path      borrowed; one name for each level, NUL-terminated UTF-8
 * @param path_len  number of names, at least 1
 * @param bytes     written when all of them fit
 * @param bytes_cap bytes that `bytes` can take; 0 asks for the length only
 * @param length    number of bytes; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_KEY_NOT_FOUND, TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY (no value, or no
 *         bytes), TD_ERR_BUFFER_TOO_SMALL
 * @threadsafety safe beside calls that only read `td`
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_get_non_tensor_bytes(const td_tensordict *td, const char *const *path, size_t path_len,
                                  void *TD_NULLABLE bytes, size_t bytes_cap,
                                  size_t *length) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
