// core/tensor/join_tensors.h: several tensors stacked or concatenated into one.
#pragma once

#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

namespace td {

enum class Join { stack, cat };

// One tensor of several whose shapes fit; `sizes` are those of the result. One memcpy for each tensor in
// place of the dispatcher where nobody can tell.
at::Tensor join_tensors(Join kind, c10::ArrayRef<const at::Tensor*> tensors, std::int64_t dim,
                        SizesView sizes, bool fast);

}  // namespace td
