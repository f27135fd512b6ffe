// core/tensor/ownership.h: who else may reach the memory of a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>

namespace td {

// Whether a tensor, or the one it is a view of, lies in memory that this library has mapped: others may
// have mapped it, too.
bool in_mapping(const at::Tensor& tensor) noexcept;

// Nobody else holds the tensor or its memory, nor could have mapped it. `held` is how many references the
// caller has.
bool solely_owned(const at::Tensor& tensor, std::size_t held) noexcept;

// Marks the memory of a tensor as that of a pool, which keeps the tensor to use it again. One holder is the pool
// then, and counts for nobody.
void mark_pooled(const at::Tensor& tensor);
bool is_pooled(const at::Tensor& tensor) noexcept;

}  // namespace td
