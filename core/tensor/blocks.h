// core/tensor/blocks.h: memory for small tensors, many of one dtype in one block.
#pragma once

#include "core/tensor/fast_path.h"

#include <array>
#include <cstddef>

namespace td {

// One allocation serves the small tensors of a result. Each has a version of its own; together they keep their block
// alive. Blocks hold one dtype, since torch.save refuses a storage with several.
class Blocks {
 public:
  // A larger tensor has memory of its own. One that is kept keeps no more than `most_bytes` alive.
  static constexpr std::size_t tensor_bytes = 16 * 1024, most_bytes = 64 * 1024, alignment = 64;
  static constexpr std::size_t place_bytes(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }

  // Whether a tensor can be in a block: a few bytes in main memory without gaps, of a common dtype.
  static bool suits(const at::Tensor& tensor) noexcept;

  // Counts a tensor that will be made; call for all of them first.
  void expect(const at::Tensor& like) noexcept;
  // Uninitialised memory of that shape and dtype. Requires suits(like).
  at::Tensor make(const at::Tensor& like);

 private:
  struct Lane {
    std::size_t expected = 0;  // bytes that no block was allocated for
    c10::Storage block;
    std::size_t begin = 0, end = 0;  // what is free of it
  };
  Lane& lane_of(c10::ScalarType dtype) noexcept;

  std::array<Lane, 8> lanes_;
};

}  // namespace td
