// core/keys/masked.h: reads and writes values selected by masks over the batch.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

// Appends dimensions and expands to `sizes`; existing sizes must match their prefix, or be 1. Shares memory.
at::Tensor expand_right(const at::Tensor& tensor, SizesView sizes);

// The elements where a mask over the leading dimensions is true; ignores its trailing dimensions of size 1.
TensorDict masked_select(const TensorDict& td, const at::Tensor& mask);

// Writes a value where the mask is true, into the tensors or into copies. The mask must match the leading
// dimensions of each tensor.
void masked_fill_(const TensorDict& td, const at::Tensor& mask, const at::Tensor& value);
TensorDict masked_fill(const TensorDict& td, const at::Tensor& mask, const at::Tensor& value);

// Values of `td` where the condition is true, else of `other`. `pad` replaces missing entries.
TensorDict where(const TensorDict& td, const at::Tensor& condition, const TensorDict& other,
                 const std::optional<at::Tensor>& pad = std::nullopt);
TensorDict where(const TensorDict& td, const at::Tensor& condition, const at::Tensor& other);

}  // namespace td
