#include "core/tensor/blocks.h"

namespace td {

namespace {

// The place of a common dtype among Blocks' lanes; -1 of any other.
int lane_number(c10::ScalarType dtype) noexcept {
  switch (dtype) {
    case c10::ScalarType::Float: return 0;
    case c10::ScalarType::Double: return 1;
    case c10::ScalarType::Long: return 2;
    case c10::ScalarType::Int: return 3;
    case c10::ScalarType::Short: return 4;
    case c10::ScalarType::Char: return 5;
    case c10::ScalarType::Byte: return 6;
    case c10::ScalarType::Bool: return 7;
    default: return -1;
  }
}

}  // namespace

bool Blocks::suits(const at::Tensor& tensor) noexcept {
  return fast::plain_cpu(tensor) && lane_number(tensor.scalar_type()) >= 0 &&
         tensor.is_contiguous() && tensor.numel() != 0 && tensor.nbytes() <= tensor_bytes;
}

Blocks::Lane& Blocks::lane_of(c10::ScalarType dtype) noexcept {
  return lanes_[static_cast<std::size_t>(lane_number(dtype))];
}

void Blocks::expect(const at::Tensor& like) noexcept {
  if (suits(like)) lane_of(like.scalar_type()).expected += place_bytes(like.nbytes());
}

at::Tensor Blocks::make(const at::Tensor& like) {
  const c10::ScalarType dtype = like.scalar_type();
  Lane& lane = lane_of(dtype);
  const std::size_t bytes = place_bytes(like.nbytes());
  if (lane.end - lane.begin < bytes) {
    const std::size_t all = std::min(lane.expected, most_bytes);
    if (all <= bytes) {  // it would be alone
      lane.expected -= std::min(lane.expected, bytes);
      return fast::make_dense(like.sizes(), dtype);
    }
    lane.block = fast::make_storage(all);
    lane.expected -= all;
    lane.begin = 0;
    lane.end = all;
  }
  at::Tensor result = fast::make_part(lane.block, dtype, lane.begin, like.sizes());
  lane.begin += bytes;
  return result;
}

}  // namespace td
