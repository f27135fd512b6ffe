// core/tensor/ownership.h: who else can reach the memory of a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>

namespace td {

// Whether a tensor or its base is in memory mapped by this library, which other tensors or processes may also
// have mapped.
bool in_mapping(const at::Tensor& tensor) noexcept;

// Whether only the caller, with `held` references, holds the tensor and its memory, and the memory is not
// mapped.
bool solely_owned(const at::Tensor& tensor, std::size_t held) noexcept;

// Marks a tensor's memory as a pool's. The pool keeps the tensor for reuse; its reference does not count as a
// holder.
void mark_pooled(const at::Tensor& tensor);
bool is_pooled(const at::Tensor& tensor) noexcept;

}  // namespace td
