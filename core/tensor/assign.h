// core/tensor/assign.h: writing the values of one tensor into another.
#pragma once

#include "core/base/error.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <string_view>

namespace td {

// Whether sizes begin with a batch size, as those of every entry must.
inline bool begins_with(SizesView sizes, SizesView batch) noexcept {
  return sizes.size() >= batch.size() && std::equal(batch.begin(), batch.end(), sizes.begin());
}

// Whether a tensor of sizes `from` can be broadcast to sizes `to`.
bool broadcasts(SizesView from, SizesView to) noexcept;

// target.copy_(source): dtype and device of the target are kept, values are broadcast. The caller has
// made sure that they can be, and that the two share no memory: write through Writes, or into new memory.
void assign(const at::Tensor& target, const at::Tensor& source, bool fast);

// Another dtype, another device, or both; the same tensor when nothing changes.
at::Tensor convert(const at::Tensor& tensor, std::optional<c10::ScalarType> dtype,
                   std::optional<c10::Device> device);

// A dense copy in new memory.
at::Tensor copy_of(const at::Tensor& tensor, bool fast);

}  // namespace td
