/* tensordict/td_host.h: for hosts that use libtorch themselves: their tensors in handles, and back.
 *
 * For td_torch.hpp and td_module.hpp; other languages have no use for it. */
#ifndef TENSORDICT_TD_HOST_H
#define TENSORDICT_TD_HOST_H

#include "tensordict/td_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A handle on a tensor of the host: the very tensor, with its history, not only its memory.
 *
 * @param impl          borrowed; a c10::TensorImpl of the libtorch that is loaded
 * @param torch_version 10000 * TORCH_VERSION_MAJOR + 100 * TORCH_VERSION_MINOR of the host
 * @param result        new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_VERSION (the host was built for another libtorch)
 * @threadsafety any thread
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_from_torch(void *impl, int32_t torch_version, td_tensor **result) TD_NOEXCEPT;

/**
 * The tensor behind a handle as the host's libtorch knows it.
 *
 * @param tensor        borrowed
 * @param torch_version 10000 * TORCH_VERSION_MAJOR + 100 * TORCH_VERSION_MINOR of the host
 * @param result        borrowed; a c10::TensorImpl; valid as long as `tensor` is; NULL on failure
 *
 * @return TD_OK, TD_ERR_VERSION (the host was built for another libtorch)
 * @threadsafety safe beside calls that only read `tensor`
 * @since 0.1
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_to_torch(const td_tensor *tensor, int32_t torch_version,
                             void **result) TD_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
