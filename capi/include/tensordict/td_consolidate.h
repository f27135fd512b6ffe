/* tensordict/td_consolidate.h: all tensors in one buffer, or in one file (Python: consolidate). */
#ifndef TENSORDICT_TD_CONSOLIDATE_H
#define TENSORDICT_TD_CONSOLIDATE_H

#include "tensordict/td_memmap.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Where the buffer lies. Zero in every field but the first means the default.
 */
typedef struct td_consolidate_options {
  uint32_t struct_size;       /**< sizeof(td_consolidate_options) */
  td_device_type device_type; /**< none: that of the dictionary, or the CPU if it has none */
  int32_t device_index;       /**< which device of that kind; -1 for the current one */
  int32_t pin_memory;         /**< 1: memory that an accelerator copies from without waiting */
  int32_t num_threads;        /**< how many threads copy in memory; 0 and 1: the calling one */
  int32_t durable;            /**< 1: of a file: returns when it is on the disk */
} td_consolidate_options;
#define TD_CONSOLIDATE_OPTIONS_INIT {(uint32_t)sizeof(td_consolidate_options), 0, -1, 0, 0, 0}

/**
 * Puts all tensors of a dictionary into one buffer, each at a multiple of 8 bytes, in the order of the
 * keys. The result is locked; its tensors are views of the buffer, and td_to_device() moves it in one
 * piece.
 *
 * With a file, the buffer is written there, in the format of Python's consolidate(), and mapped: what is
 * written to the tensors later does not reach the file. A file that was there is replaced once the new
 * one is whole.
 *
 * @param td      borrowed
 * @param file    borrowed; UTF-8 path; NULL stays in memory; goes with no device or pinned memory
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure; a handle on `td` when it is
 *                consolidated already
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_KEY_INVALID (a name that the format needs), TD_ERR_DTYPE,
 *         TD_ERR_DEVICE, TD_ERR_UNSUPPORTED (no dense tensor), TD_ERR_INVALID_ARGUMENT
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_consolidate(const td_tensordict *td, const char *TD_NULLABLE file,
                         const td_consolidate_options *TD_NULLABLE options,
                         td_tensordict **result) TD_NOEXCEPT;

/**
 * Puts the tensors of a dictionary itself into one buffer, as td_consolidate() does for a new one. It is
 * locked afterwards.
 *
 * @param td      borrowed; its tensors are replaced; left as it was on failure
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_KEY_INVALID (a name that the format needs), TD_ERR_DTYPE, TD_ERR_DEVICE,
 *         TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (no dense tensor, a sub-tensordict), TD_ERR_INVALID_ARGUMENT
 * @threadsafety needs `td` for itself
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_consolidate_inplace(td_tensordict *td,
                                 const td_consolidate_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Whether a dictionary is locked and all its tensors lie in one buffer as td_consolidate() puts them
 * there. A clone is not, nor is one that was unlocked.
 *
 * @param td     borrowed
 * @param result 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_consolidated(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Maps a file that td_consolidate() or Python's consolidate() has written.
 *
 * What is written to the tensors does not reach the file unless `write_through` is given. The result is
 * locked if the dictionary was when the file was written. A tensorclass comes back as a dictionary, of
 * which td_set_tensorclass() makes one again.
 *
 * @param file    borrowed; UTF-8 path
 * @param options borrowed; NULL for the defaults; names have no meaning here
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_DEVICE
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_consolidated_load(const char *file, const td_load_options *TD_NULLABLE options,
                               td_tensordict **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
