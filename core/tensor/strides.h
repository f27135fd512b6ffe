// core/tensor/strides.h: strides of tensors in row-major order.
#pragma once

#include "core/tensor/sizes.h"

#include <algorithm>
#include <cstdint>

namespace td {

// The stride of the dimension before one of `size`, as libtorch counts: a size of 0 counts as 1. A tensor without
// elements may have sizes whose product cannot be counted; its strides are never used, and wrap.
inline std::int64_t stride_before(std::int64_t stride, std::int64_t size) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) *
                                   static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1)));
}

// In elements, or in bytes if an element has more than one.
inline Sizes dense_strides(SizesView sizes, std::size_t item_bytes = 1) {
  Sizes strides(sizes.size());
  auto last = static_cast<std::int64_t>(item_bytes);
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = last;
    last = stride_before(last, sizes[i]);
  }
  return strides;
}

}  // namespace td
