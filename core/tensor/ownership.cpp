#include "core/tensor/ownership.h"

#include "core/tensor/buffer.h"
#include "core/tensor/foreign.h"
#include "core/tensor/mapped_tensor.h"

namespace td {

bool in_mapping(const at::Tensor& tensor) noexcept {
  return mapping_of(tensor) != nullptr || Buffer::over_mapping(tensor);
}

bool solely_owned(const at::Tensor& tensor, std::size_t held) noexcept {
  return uniquely_owned(tensor, held) && !in_mapping(tensor);
}

}  // namespace td
