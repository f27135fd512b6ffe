// tensordict/td_torch.hpp: at::Tensor to td_tensor and back, and a dictionary as a C++ value, for C++ hosts that use libtorch (C++: td_torch::to_handle, from_handle, Dict; Python: torch.Tensor, TensorDict).
//
// Not part of the ABI: host and library must use the same libtorch. Everything here calls C functions, so
// it works with any build of the library. It does not use DLPack, because in older versions of libtorch
// DLPack does not support bool.
#ifndef TENSORDICT_TD_TORCH_HPP
#define TENSORDICT_TD_TORCH_HPP

#include "tensordict/td.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace td_torch {

// Throws the library's message if a call failed.
inline void check(td_status status) {
  if (status == TD_OK) return;
  throw std::runtime_error(std::string(td_last_error_function()) + ": " + td_status_name(status) + ": " +
                           td_last_error_message());
}

namespace detail {

struct Dtype {
  td_dtype number;
  at::ScalarType type;
};
constexpr Dtype dtypes[] = {
    {TD_DTYPE_UINT8, at::kByte},
    {TD_DTYPE_INT8, at::kChar},
    {TD_DTYPE_INT16, at::kShort},
    {TD_DTYPE_INT32, at::kInt},
    {TD_DTYPE_INT64, at::kLong},
    {TD_DTYPE_FLOAT16, at::kHalf},
    {TD_DTYPE_FLOAT32, at::kFloat},
    {TD_DTYPE_FLOAT64, at::kDouble},
    {TD_DTYPE_COMPLEX32, at::kComplexHalf},
    {TD_DTYPE_COMPLEX64, at::kComplexFloat},
    {TD_DTYPE_COMPLEX128, at::kComplexDouble},
    {TD_DTYPE_BOOL, at::kBool},
    {TD_DTYPE_BFLOAT16, at::kBFloat16},
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
    {TD_DTYPE_UINT16, at::ScalarType::UInt16},
    {TD_DTYPE_UINT32, at::ScalarType::UInt32},
    {TD_DTYPE_UINT64, at::ScalarType::UInt64},
#endif
};

struct DeviceKind {
  td_device_type number;
  at::DeviceType type;
};
constexpr DeviceKind devices[] = {
    {TD_DEVICE_CPU, at::DeviceType::CPU},
    {TD_DEVICE_CUDA, at::DeviceType::CUDA},
    {TD_DEVICE_XPU, at::DeviceType::XPU},
};

[[noreturn]] inline void refuse(const at::Tensor& tensor, const char* why) {
  throw std::invalid_argument("td_torch: a tensor of " + std::string(at::toString(tensor.scalar_type())) +
                              " on " + tensor.device().str() + " " + why);
}

inline td_dtype dtype_of(const at::Tensor& tensor) {
  for (const Dtype& row : dtypes) {
    if (row.type == tensor.scalar_type()) return row.number;
  }
  refuse(tensor, "has a dtype without a number");
}

inline td_device_type device_of(const at::Tensor& tensor) {
  for (const DeviceKind& row : devices) {
    if (row.type == tensor.device().type()) return row.number;
  }
  refuse(tensor, "has no memory that could be shared");
}

inline void release(void* tensor) { delete static_cast<at::Tensor*>(tensor); }

}  // namespace detail

// Opens a new handle on the memory of a tensor; free it with td_tensor_free(). Throws if the memory does
// not hold the plain values: for sparse tensors, and for lazy results of conj() and of its imag() (use
// resolve_conj() and resolve_neg()).
inline td_tensor* to_handle(const at::Tensor& tensor) {
  if (!tensor.defined()) throw std::invalid_argument("td_torch: the tensor is undefined");
  if (tensor.layout() != at::kStrided || tensor.is_conj() || tensor.is_neg()) {
    detail::refuse(tensor, "does not lie in memory as it is");
  }
  const td_dtype dtype = detail::dtype_of(tensor);
  const td_device_type device = detail::device_of(tensor);
  const int32_t index = tensor.device().has_index() ? tensor.device().index() : -1;
  td_tensor* handle = nullptr;
  // The call takes it over, whatever it returns.
  auto* held = new at::Tensor(tensor);
  check(td_tensor_from_blob(tensor.data_ptr(), tensor.sizes().data(), tensor.strides().data(), static_cast<size_t>(tensor.dim()), dtype, device, index, detail::release, held, &handle));
  return handle;
}

// A tensor over the memory of a borrowed handle. It keeps its own handle open.
inline at::Tensor from_handle(const td_tensor* handle) {
  td_tensor* shared = nullptr;
  check(td_tensor_dup(handle, &shared));
  std::shared_ptr<td_tensor> owner(shared, td_tensor_free);
  int64_t sizes[64], strides[64];
  size_t dims = 0;
  td_dtype number = TD_DTYPE_OTHER;
  td_device_type kind = TD_DEVICE_NONE;
  int32_t index = -1;
  void* data = nullptr;
  check(td_tensor_sizes(shared, sizes, 64, &dims));
  check(td_tensor_strides(shared, strides, 64, &dims));
  check(td_tensor_dtype(shared, &number));
  check(td_tensor_device(shared, &kind, &index));
  check(td_tensor_data(shared, &data));
  at::TensorOptions options;
  bool known = false;
  for (const detail::Dtype& row : detail::dtypes) {
    if (row.number != number) continue;
    options = options.dtype(row.type);
    known = true;
  }
  if (!known) throw std::invalid_argument("td_torch: the dtype of the tensor has no number");
  if (kind == TD_DEVICE_META) options = options.device(at::kMeta);
  for (const detail::DeviceKind& row : detail::devices) {
    if (row.number == kind) {
      options = options.device(at::Device(row.type, static_cast<at::DeviceIndex>(index)));
    }
  }
  const at::IntArrayRef shape(sizes, dims), steps(strides, dims);
  if (data == nullptr) return at::empty_strided(shape, steps, options);
  return at::from_blob(
      data, shape, steps, [owner](void*) mutable { owner.reset(); }, options);
}

namespace detail {

// Calls twice: for the length, then for the text.
template <class Ask>
std::string text_of(Ask&& ask) {
  std::size_t length = 0;
  const td_status status = ask(nullptr, 0, &length);
  if (status != TD_ERR_BUFFER_TOO_SMALL) check(status);
  std::string text(length + 1, '\0');
  check(ask(&text[0], text.size(), &length));
  text.resize(length);
  return text;
}

}  // namespace detail

// A reference-counted handle on a dictionary.
class Dict {
 public:
  Dict() = default;
  // Takes ownership of the handle.
  explicit Dict(td_tensordict* handle) : handle_(handle, td_free) {}
  explicit Dict(at::IntArrayRef batch_size) {
    td_tensordict* made = nullptr;
    check(td_create(batch_size.data(), batch_size.size(), TD_DEVICE_NONE, -1, &made));
    handle_.reset(made, td_free);
  }
  explicit Dict(std::initializer_list<std::int64_t> batch_size)
      : Dict(at::IntArrayRef(batch_size.begin(), batch_size.size())) {}

  td_tensordict* handle() const noexcept { return handle_.get(); }
  bool defined() const noexcept { return handle_ != nullptr; }

  std::vector<std::int64_t> batch_size() const {
    std::vector<std::int64_t> sizes(64);
    std::size_t dims = 0;
    check(td_batch_size(handle(), sizes.data(), sizes.size(), &dims));
    sizes.resize(dims);
    return sizes;
  }

  std::string to_string() const {
    return detail::text_of([this](char* text, std::size_t room, std::size_t* length) {
      return td_to_string(handle(), text, room, length);
    });
  }

 private:
  std::shared_ptr<td_tensordict> handle_;
};

inline std::ostream& operator<<(std::ostream& out, const Dict& dict) { return out << dict.to_string(); }

}  // namespace td_torch

#endif
