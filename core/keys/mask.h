// core/keys/mask.h: masks over the batch decide which values are taken or written.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

// The tensor with dimensions added behind and expanded to `sizes`; its own sizes must begin those, or be
// 1. Shares memory.
at::Tensor expand_right(const at::Tensor& tensor, SizesView sizes);

// What a mask over the leading dimensions picks; further dimensions of size 1 do not count.
TensorDict masked_select(const TensorDict& td, const at::Tensor& mask);

// Writes a value where the mask is true, or gives copies in which it is written. The mask fits the
// leading dimensions of every tensor.
void masked_fill_(const TensorDict& td, const at::Tensor& mask, const at::Tensor& value);
TensorDict masked_fill(const TensorDict& td, const at::Tensor& mask, const at::Tensor& value);

// Values of `td` where the condition is true, those of the other elsewhere. `pad` stands in for an entry
// that one of them lacks.
TensorDict where(const TensorDict& td, const at::Tensor& condition, const TensorDict& other,
                 const std::optional<at::Tensor>& pad = std::nullopt);
TensorDict where(const TensorDict& td, const at::Tensor& condition, const at::Tensor& other);

}  // namespace td
