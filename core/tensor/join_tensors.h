// core/tensor/join_tensors.h: stacks or concatenates tensors.
#pragma once

#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

namespace td {

enum class Join { stack, cat };

// Joins tensors whose shapes fit; `sizes` are the result's. Copies by memcpy where that cannot be observed.
at::Tensor join_tensors(Join kind, c10::ArrayRef<const at::Tensor*> tensors, std::int64_t dim,
                        SizesView sizes, bool fast);

}  // namespace td
