/* tensordict/td_share.h: shared memory between processes (C: td_share_memory, td_shared_open; Python: share_memory_, is_shared). */
#ifndef TENSORDICT_TD_SHARE_H
#define TENSORDICT_TD_SHARE_H

#include "tensordict/td_dict.h"

TD_BEGIN_C

/**
 * Moves the tensors of a dictionary into one block of shared memory and locks the dictionary.
 *
 * Child processes forked later see what is written to the tensors, and so does every process that
 * opens the dictionary with td_shared_open(). Handles that you opened on its tensors refer to the
 * shared memory too. Addresses that td_tensor_data() gave before stay readable while such a handle
 * is open, but no longer show what others write. The memory has no file: it is released when the
 * last process that uses it ends, even by a crash. A dictionary that is already shared or on a CUDA
 * device stays unchanged.
 *
 * @param td borrowed; changed; unchanged on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (mapped from files), TD_ERR_DEVICE (a tensor is on another
 *         device), TD_ERR_DTYPE, TD_ERR_UNSUPPORTED (a tensor is not dense, or a sub-tensordict),
 *         TD_ERR_KEY_INVALID (a name reserved by the format), TD_ERR_OUT_OF_MEMORY, TD_ERR_IO
 * @threadsafety needs exclusive access to `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_share_memory(td_tensordict *td) TD_NOEXCEPT;

/**
 * Tells whether a dictionary is flagged as shared. Its views and nested dictionaries are; clones
 * are not, and unlocking it clears the flag. A dictionary on a CUDA device always is.
 *
 * @param td     borrowed
 * @param result written on success; 1 or 0
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (a lazy stack with only some elements shared)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_shared(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * Gets the name by which another process of the same user can open a shared dictionary: a short
 * text without white space.
 *
 * The name is valid while the process that called td_share_memory() runs and holds a handle on the
 * dictionary or one of its tensors.
 *
 * @param td       borrowed; the shared dictionary itself, not a nested dictionary or a view of it
 * @param text     written, with a closing NUL, when `text_cap` is larger than the length
 * @param text_cap room in `text`, in bytes; 0 asks for the length only
 * @param length   length of the text in bytes, without the NUL; also written on
 *                 TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, TD_ERR_INVALID_ARGUMENT (not shared, nested, or a view),
 *         TD_ERR_UNSUPPORTED (it holds no tensor; or nested dictionaries that stand in several
 *         places make more than 65,536 paths)
 * @threadsafety safe while other threads only read `td`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_shared_name(const td_tensordict *td, char *TD_NULLABLE text, size_t text_cap,
                         size_t *length) TD_NOEXCEPT;

/**
 * Opens a dictionary that another process shares. The result has the same structure over the same
 * memory. It is locked and flagged as shared. Non-tensor data has the values from the time of
 * sharing.
 *
 * The shared memory is validated like a file. A tensorclass comes back as a dictionary;
 * td_set_tensorclass() restores its type.
 *
 * @param name   borrowed; from td_shared_name()
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (a malformed name), TD_ERR_IO (the name leads nowhere, or
 *         belongs to another user), TD_ERR_FORMAT (the memory holds no valid shared dictionary),
 *         TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_shared_open(const char *name, td_tensordict **result) TD_NOEXCEPT;

TD_END_C

#endif
