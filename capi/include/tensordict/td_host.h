/* tensordict/td_host.h: tensors of hosts that use libtorch themselves (C: td_tensor_from_torch, td_tensor_to_torch; Python: no equivalent).
 *
 * td_torch.hpp and td_module.hpp use these functions; other languages do not need them. */
#ifndef TENSORDICT_TD_HOST_H
#define TENSORDICT_TD_HOST_H

#include "tensordict/td_tensor.h"

TD_BEGIN_C

/**
 * Opens a handle on a tensor of the host: the very tensor with its autograd history, not only its
 * memory.
 *
 * @param impl          borrowed; a c10::TensorImpl of the loaded libtorch
 * @param torch_version 10000 * TORCH_VERSION_MAJOR + 100 * TORCH_VERSION_MINOR of the host
 * @param result        new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_VERSION (the host was built for another libtorch)
 * @threadsafety any thread
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_from_torch(void *impl, int32_t torch_version, td_tensor **result) TD_NOEXCEPT;

/**
 * Gets the tensor behind a handle for the host's libtorch.
 *
 * @param tensor        borrowed
 * @param torch_version 10000 * TORCH_VERSION_MAJOR + 100 * TORCH_VERSION_MINOR of the host
 * @param result        borrowed; a c10::TensorImpl; valid while `tensor` is; NULL on failure
 *
 * @return TD_OK, TD_ERR_VERSION (the host was built for another libtorch)
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 1) TD_MUST_USE
td_status td_tensor_to_torch(const td_tensor *tensor, int32_t torch_version,
                             void **result) TD_NOEXCEPT;

/**
 * Makes an at::Tensor of the tensor behind a handle, for a host that keeps pointers to them, as TorchSharp
 * does: the very tensor, not only its memory.
 *
 * @param tensor        borrowed
 * @param torch_version 10000 * TORCH_VERSION_MAJOR + 100 * TORCH_VERSION_MINOR of the host
 * @param result        new; an at::Tensor made by `new`, which the host deletes; NULL on failure
 *
 * @return TD_OK, TD_ERR_VERSION (the host was built for another libtorch), TD_ERR_OUT_OF_MEMORY
 * @threadsafety safe while other threads only read `tensor`
 */
TD_API(0, 3) TD_MUST_USE
td_status td_tensor_to_torch_tensor(const td_tensor *tensor, int32_t torch_version,
                                    void **result) TD_NOEXCEPT;

TD_END_C

#endif
