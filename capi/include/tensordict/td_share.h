/* tensordict/td_share.h: memory that other processes see too (Python: share_memory_, is_shared). */
#ifndef TENSORDICT_TD_SHARE_H
#define TENSORDICT_TD_SHARE_H

#include "tensordict/td_dict.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Moves the tensors of a dictionary to one piece of shared memory. It becomes locked.
 *
 * Child processes made from then on see what is written to the tensors, and so does every process that
 * opens the dictionary with td_shared_open(). Handles that were opened on its tensors speak of the
 * shared memory too; addresses that td_tensor_data() gave before stay readable as long as such a
 * handle is, but no longer tell what others write. The memory has no file: it is gone when the last
 * process that has it has ended, however it ended. A dictionary that is shared already stays as it is,
 * and so does one on a CUDA device.
 *
 * @param td borrowed; changed; left as it was on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (mapped from files), TD_ERR_DEVICE (a tensor is on another
 *         device), TD_ERR_DTYPE, TD_ERR_UNSUPPORTED (no dense tensor; a sub-tensordict),
 *         TD_ERR_KEY_INVALID (a name that the format needs), TD_ERR_OUT_OF_MEMORY, TD_ERR_IO
 * @threadsafety needs the dictionary for itself
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_share_memory(td_tensordict *td) TD_NOEXCEPT;

/**
 * Whether a dictionary is flagged as shared. Views of it are, and its parts; clones are not, nor is it
 * itself any longer once it was unlocked. A dictionary on a CUDA device always is.
 *
 * @param td     borrowed
 * @param result 1 or 0
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (a lazy stack of which only some elements are)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_is_shared(const td_tensordict *td, int32_t *result) TD_NOEXCEPT;

/**
 * The name by which another process of the same user opens a shared dictionary: a short text without
 * white space.
 *
 * It is good as long as the process that called td_share_memory() runs and has a handle on the
 * dictionary or one of its tensors.
 *
 * @param td       borrowed; shared, and neither a part nor a view of what was shared
 * @param text     written with a closing NUL when `text_cap` is larger than the length
 * @param text_cap bytes that `text` can take; 0 asks for the length only
 * @param length   bytes of the text without the NUL; also written with TD_ERR_BUFFER_TOO_SMALL
 *
 * @return TD_OK, TD_ERR_BUFFER_TOO_SMALL, TD_ERR_INVALID_ARGUMENT (not shared, a part, a view),
 *         TD_ERR_UNSUPPORTED (it holds no tensor)
 * @threadsafety safe beside calls that only read `td`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_shared_name(const td_tensordict *td, char *TD_NULLABLE text, size_t text_cap,
                         size_t *length) TD_NOEXCEPT;

/**
 * Opens what another process has shared: a dictionary of the same structure whose tensors are the very
 * same memory. It is locked and flagged. Non-tensor values are those of the time of sharing.
 *
 * What lies behind the name is checked as a file is. A tensorclass comes as a dictionary, of which
 * td_set_tensorclass() makes one again.
 *
 * @param name   borrowed; from td_shared_name()
 * @param result new; free with td_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (no such name can be), TD_ERR_IO (it leads nowhere, or not
 *         for this user), TD_ERR_FORMAT (what is there is no shared dictionary, or damaged),
 *         TD_ERR_DTYPE, TD_ERR_UNSUPPORTED, TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 * @since 0.2
 */
TD_API(0, 2) TD_MUST_USE
td_status td_shared_open(const char *name, td_tensordict **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
