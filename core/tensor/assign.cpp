#include "core/tensor/assign.h"

#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/rows.h"

#include <ATen/ATen.h>

#include <cstring>

namespace td {

bool broadcasts(SizesView from, SizesView to) noexcept {
  if (from.size() > to.size()) return false;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    const std::int64_t size = from[from.size() - i];
    if (size != 1 && size != to[to.size() - i]) return false;
  }
  return true;
}

void assign(const at::Tensor& target, const at::Tensor& source, bool fast) {
  if (fast && fast::writable_rows(target) && fast::plain_cpu(source) &&
      target.scalar_type() == source.scalar_type() && target.sizes() == source.sizes()) {
    rows::copy_strided(static_cast<char*>(target.data_ptr()), target.strides(),
                       static_cast<const char*>(source.data_ptr()), source.strides(),
                       target.sizes(), target.element_size());
    fast::bump_version(target);
    return;
  }
  target.copy_(source);
}

at::Tensor convert(const at::Tensor& tensor, std::optional<c10::ScalarType> dtype,
                   std::optional<c10::Device> device) {
  at::TensorOptions options = tensor.options();
  if (dtype) options = options.dtype(*dtype);
  if (device) options = options.device(resolve_device(*device));
  return tensor.to(options);
}

at::Tensor copy_of(const at::Tensor& tensor, bool fast) {
  if (!fast || !fast::plain_cpu(tensor) || !tensor.is_contiguous()) return tensor.clone();
  at::Tensor copy = fast::make_dense(tensor.sizes(), tensor.scalar_type());
  const std::size_t bytes = tensor.nbytes();
  if (bytes != 0) {
    rows::copy(static_cast<char*>(copy.data_ptr()), static_cast<const char*>(tensor.data_ptr()),
               bytes);
  }
  return copy;
}

}  // namespace td
