/* tensordict/td_consolidate.h: all tensors in one buffer or file (C: td_consolidate, td_consolidated_load, …; Python: consolidate, from_consolidated). */
#ifndef TENSORDICT_TD_CONSOLIDATE_H
#define TENSORDICT_TD_CONSOLIDATE_H

#include "tensordict/td_memmap.h"

TD_BEGIN_C

/**
 * Options of td_consolidate(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_consolidate_options {
  uint32_t struct_size;       /**< sizeof(td_consolidate_options) */
  td_device_type device_type; /**< device of the buffer; TD_DEVICE_NONE: that of the dictionary, or
                                   the CPU */
  int32_t device_index;       /**< index among the devices of that type; -1 for the current one */
  int32_t pin_memory;         /**< 1: pinned memory, from which an accelerator copies asynchronously */
  int32_t num_threads;        /**< number of threads that copy; 0 and 1: the calling thread */
  int32_t durable;            /**< 1: with a file, returns when it is on the disk */
} td_consolidate_options;
#define TD_CONSOLIDATE_OPTIONS_INIT {sizeof(td_consolidate_options), 0, -1, 0, 0, 0}

/**
 * Copies all tensors of a dictionary into one buffer, in key order, each at a multiple of 8 bytes.
 * The result is locked. Its tensors are views of the buffer, and td_to_device() moves it in one
 * copy.
 *
 * With `file`, the buffer is written there, in the format of Python's consolidate(), and mapped
 * privately: later writes to the tensors do not reach the file. An existing file is replaced once
 * the new one is complete.
 *
 * @param td      borrowed
 * @param file    borrowed; UTF-8 path; NULL stays in memory; excludes a device and pinned memory
 * @param options borrowed; NULL for the defaults
 * @param result  new; free with td_free(); NULL on failure; a handle on `td` if it is already
 *                consolidated
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_KEY_INVALID (a name reserved by the format), TD_ERR_DTYPE,
 *         TD_ERR_DEVICE, TD_ERR_UNSUPPORTED (a tensor is not dense), TD_ERR_INVALID_ARGUMENT
 *         (options that exclude each other)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_consolidate(const td_tensordict *td, const char *TD_NULLABLE file,
                         const td_consolidate_options *TD_NULLABLE options,
                         td_tensordict **result) TD_NOEXCEPT;

/**
 * Like td_consolidate(), but moves the tensors of the dictionary itself into one buffer and locks
 * it.
 *
 * @param td      borrowed; its tensors are replaced; unchanged on failure
 * @param options borrowed; NULL for the defaults
 *
 * @return TD_OK, TD_ERR_KEY_INVALID (a name reserved by the format), TD_ERR_DTYPE, TD_ERR_DEVICE,
 *         TD_ERR_LOCKED, TD_ERR_UNSUPPORTED (a tensor is not dense, or a sub-tensordict),
 *         TD_ERR_INVALID_ARGUMENT
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_consolidate_inplace(td_tensordict *td,
                                 const td_consolidate_options *TD_NULLABLE options) TD_NOEXCEPT;

/**
 * Tells whether a dictionary is locked and all its tensors are in one buffer, as td_consolidate()
 * arranges them. Clones and dictionaries that were unlocked are not.
 *
 * @param td     borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_consolidated(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Maps a file that td_consolidate() or Python's consolidate() wrote.
 *
 * Writes to the tensors do not reach the file unless you set `write_through`. The result is locked
 * if the dictionary was locked when it was saved. A tensorclass comes back as a dictionary;
 * td_set_tensorclass() restores its type.
 *
 * @param file    borrowed; UTF-8 path
 * @param options borrowed; NULL for the defaults; options about names are ignored
 * @param result  new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_IO, TD_ERR_FORMAT, TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_DEVICE
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_consolidated_load(const char *file, const td_load_options *TD_NULLABLE options,
                               td_tensordict **result) TD_NOEXCEPT;

TD_END_C

#endif
