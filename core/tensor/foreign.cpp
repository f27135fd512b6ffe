#include "core/tensor/foreign.h"

#include "core/tensor/device.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/sizes.h"

#include <ATen/ATen.h>

#include <cstring>

namespace td {

namespace {

// The tensor's size in bytes. Refuses sizes beyond any memory.
std::size_t bytes_for(SizesView sizes, c10::ScalarType dtype) {
  require_dims(sizes.size());
  for (const std::int64_t size : sizes) {
    if (size < 0) fail(Code::shape, "shape ", show_sizes(sizes), " has a negative size");
  }
  if (const auto bytes = td::checked_bytes(sizes, c10::elementSize(dtype)))
    return static_cast<std::size_t>(*bytes);
  fail(Code::shape, "shape ", show_sizes(sizes), " needs more bytes than can be addressed");
}

// The bytes from the first to the last element. Refuses strides that lead beyond the address space.
std::size_t extent_of(SizesView sizes, SizesView strides, c10::ScalarType dtype) {
  auto extent = static_cast<std::int64_t>(c10::elementSize(dtype));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (strides[i] < 0)
      fail(Code::shape, "strides ", show_sizes(strides), " include a negative one");
    std::int64_t step;
    if (sizes[i] > 1 &&
        (__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) ||
         __builtin_mul_overflow(step, static_cast<std::int64_t>(c10::elementSize(dtype)), &step) ||
         __builtin_add_overflow(extent, step, &extent))) {
      fail(Code::shape, "shape ", show_sizes(sizes), " with strides ", show_sizes(strides),
           " reaches further than can be addressed");
    }
  }
  return static_cast<std::size_t>(extent);
}

void require_bytes(const at::Tensor& tensor, std::size_t bytes) {
  const std::size_t need = bytes_of(tensor);
  if (bytes != need) {
    fail(Code::shape, "a tensor of shape ", show_sizes(tensor.sizes()), " takes ", need,
         " bytes, not ", bytes);
  }
}

}  // namespace

at::Tensor from_memory(void* data, c10::ScalarType dtype, SizesView sizes,
                       std::optional<SizesView> strides, c10::Device device,
                       std::shared_ptr<void> owner) {
  const std::size_t bytes = bytes_for(sizes, dtype);
  if (data == nullptr && bytes != 0) {
    fail(Code::null_argument, "data is NULL for a tensor of shape ", show_sizes(sizes));
  }
  const std::size_t extent = strides ? extent_of(sizes, *strides, dtype) : bytes;
  device = resolve_device(device);
  const auto options = at::TensorOptions().dtype(dtype).device(device);
  if (bytes == 0) return at::empty(sizes, options);  // releases the owner here
  const auto let_go = [](void* held) { delete static_cast<std::shared_ptr<void>*>(held); };
  c10::DataPtr memory(data, new std::shared_ptr<void>(std::move(owner)), let_go, device);
  at::Tensor tensor = fast::over_memory(std::move(memory), extent, dtype, sizes,
                                        c10::DispatchKeySet(options.computeDispatchKey()));
  if (strides) tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, *strides);
  return tensor;
}

at::Tensor from_bytes(const void* data, std::size_t bytes, c10::ScalarType dtype, SizesView sizes) {
  const std::size_t need = bytes_for(sizes, dtype);
  if (bytes != need) {
    fail(Code::shape, "a tensor of shape ", show_sizes(sizes), " takes ", need, " bytes, not ",
         bytes);
  }
  at::Tensor tensor = fast::make_dense(sizes, dtype);
  if (bytes != 0) {
    if (data == nullptr) fail(Code::null_argument, "data is NULL");
    std::memcpy(tensor.data_ptr(), data, bytes);
  }
  return tensor;
}

void make_bools_valid(const at::Tensor& tensor) {
  char* data = static_cast<char*>(tensor.data_ptr());
  for (std::int64_t i = 0; i < tensor.numel(); ++i) data[i] = data[i] != 0 ? 1 : 0;
}

at::Tensor zeros(SizesView sizes, c10::ScalarType dtype, c10::Device device) {
  bytes_for(sizes, dtype);
  return at::zeros(sizes, at::TensorOptions().dtype(dtype).device(resolve_device(device)));
}

at::Tensor uninitialised(SizesView sizes, c10::ScalarType dtype, c10::Device device) {
  bytes_for(sizes, dtype);
  return at::empty(sizes, at::TensorOptions().dtype(dtype).device(resolve_device(device)));
}

at::Tensor plain_values(const at::Tensor& tensor) {
  if (fast::plain_cpu(tensor) && tensor.is_contiguous()) return tensor;
  return tensor.detach().resolve_conj().resolve_neg().to(at::kCPU).contiguous();
}

void copy_out(const at::Tensor& tensor, void* data, std::size_t bytes) {
  require_bytes(tensor, bytes);
  if (bytes == 0) return;
  if (data == nullptr) fail(Code::null_argument, "data is NULL");
  const at::Tensor plain = plain_values(tensor);
  std::memcpy(data, plain.data_ptr(), bytes);
}

void copy_in(const at::Tensor& tensor, const void* data, std::size_t bytes) {
  require_bytes(tensor, bytes);
  if (bytes == 0) return;
  if (data == nullptr) fail(Code::null_argument, "data is NULL");
  if (fast::can_skip_dispatcher() && fast::writable_rows(tensor) && tensor.is_contiguous()) {
    std::memcpy(tensor.data_ptr(), data, bytes);
    fast::bump_version(tensor);
    return;
  }
  const at::Tensor source = from_bytes(data, bytes, tensor.scalar_type(), tensor.sizes());
  tensor.copy_(source);
}

void* data_of(const at::Tensor& tensor) {
  if (tensor.layout() != c10::Layout::Strided || tensor.is_conj() || tensor.is_neg()) {
    fail(Code::unsupported, "the tensor has no plain memory");
  }
  const bool none = tensor.device().type() == c10::DeviceType::Meta || tensor.numel() == 0;
  return none ? nullptr : tensor.data_ptr();
}

std::size_t bytes_of(const at::Tensor& tensor) noexcept {
  return static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
}

void set_requires_grad(const at::Tensor& tensor, bool required) {
  if (required && !at::isFloatingType(tensor.scalar_type()) &&
      !at::isComplexType(tensor.scalar_type())) {
    fail(Code::dtype, "a tensor of ", dtype_name(tensor.scalar_type()),
         " cannot require gradients");
  }
  tensor.requires_grad_(required);
}

bool uniquely_owned(const at::Tensor& tensor, std::size_t held) noexcept {
  return tensor.use_count() == held && tensor.has_storage() && tensor.storage().use_count() == 1;
}

}  // namespace td
