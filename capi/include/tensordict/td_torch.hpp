// tensordict/td_torch.hpp: for C++ hosts that use libtorch themselves: at::Tensor in and out of a handle.
//
// Not part of the ABI: host and library must use the same libtorch. Everything here is made of the C
// functions, so that it works with any build of the library.
#ifndef TENSORDICT_TD_TORCH_HPP
#define TENSORDICT_TD_TORCH_HPP

#include "tensordict/td.h"

#include <ATen/ATen.h>
#include <ATen/DLConvertor.h>

#include <stdexcept>
#include <string>

namespace td_torch {

// Throws what the library says about a call that failed.
inline void check(td_status status) {
  if (status == TD_OK) return;
  throw std::runtime_error(std::string(td_last_error_function()) + ": " + td_status_name(status) + ": " +
                           td_last_error_message());
}

// A new handle on the memory of a tensor; free it with td_tensor_free().
inline td_tensor* to_handle(const at::Tensor& tensor) {
  td_tensor* handle = nullptr;
  check(td_tensor_from_dlpack_legacy(at::toDLPack(tensor), &handle));
  return handle;
}

// A tensor over the memory behind a borrowed handle.
inline at::Tensor from_handle(const td_tensor* handle) {
  DLManagedTensor* lent = nullptr;
  check(td_tensor_to_dlpack_legacy(handle, &lent));
  return at::fromDLPack(lent);
}

}  // namespace td_torch

#endif
