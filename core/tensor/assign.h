// core/tensor/assign.h: writes the values of one tensor into another.
#pragma once

#include "core/base/error.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <string_view>

namespace td {

// Whether sizes start with a batch size, as those of every entry must.
inline bool begins_with(SizesView sizes, SizesView batch) noexcept {
  if (sizes.size() < batch.size()) return false;
  for (std::size_t i = 0; i < batch.size(); ++i) {  // too few for a call of memcmp
    if (sizes[i] != batch[i]) return false;
  }
  return true;
}

bool broadcasts(SizesView from, SizesView to) noexcept;

// target.copy_(source): broadcasts, and converts to the target's dtype and device. The caller has checked
// sizes, and that the two share no memory: otherwise use Writes, or a new target.
void assign(const at::Tensor& target, const at::Tensor& source, bool fast);

// Converts dtype, device or both; returns the same tensor if nothing changes.
at::Tensor convert(const at::Tensor& tensor, std::optional<c10::ScalarType> dtype,
                   std::optional<c10::Device> device);

// A contiguous copy.
at::Tensor copy_of(const at::Tensor& tensor, bool fast);

}  // namespace td
