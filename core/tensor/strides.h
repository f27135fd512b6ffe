// core/tensor/strides.h: row-major strides.
#pragma once

#include "core/tensor/sizes.h"

#include <algorithm>
#include <cstdint>

namespace td {

// The stride of the dimension before one of `size`; as in libtorch, size 0 counts as 1. The largest number on
// overflow, which only happens for tensors without elements, whose strides are unused: libtorch takes negative
// strides for a request to compute them.
inline std::int64_t stride_before(std::int64_t stride, std::int64_t size) noexcept {
  std::int64_t result;
  const bool overflow = __builtin_mul_overflow(stride, std::max<std::int64_t>(size, 1), &result);
  return overflow ? INT64_MAX : result;
}

// In elements, or in bytes with `item_bytes`.
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
