// core/tensor/known_sizes.h: checks batch sizes before arithmetic. A lazy stack has -1 in dimensions where
// its elements differ.
#pragma once

#include <c10/util/ArrayRef.h>

#include <cstddef>
#include <cstdint>

namespace td {

// Code::shape: "batch size [2, -1]: the elements of the lazy stack differ along dimension 1".
[[noreturn]] void fail_uneven(c10::IntArrayRef batch, std::size_t dim);

// The size of one dimension, counted from 0.
inline std::int64_t known_size(c10::IntArrayRef batch, std::size_t dim) {
  if (batch[dim] < 0) fail_uneven(batch, dim);
  return batch[dim];
}

inline c10::IntArrayRef known_sizes(c10::IntArrayRef batch) {
  for (std::size_t dim = 0; dim < batch.size(); ++dim) known_size(batch, dim);
  return batch;
}

inline bool is_uneven(c10::IntArrayRef batch) noexcept {
  for (const std::int64_t size : batch) {
    if (size < 0) return true;
  }
  return false;
}

}  // namespace td
