// core/tensor/foreign.h: memory of others as tensors, and tensors as memory for others.
#pragma once

#include "core/base/error.h"
#include "core/tensor/dlpack_abi.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

namespace td {

// A tensor over memory that `owner` keeps alive. Strides count elements; none means row-major.
at::Tensor from_memory(void* data, c10::ScalarType dtype, SizesView sizes,
                       std::optional<SizesView> strides, c10::Device device,
                       std::shared_ptr<void> owner);

// A tensor of its own from row-major bytes.
at::Tensor from_bytes(const void* data, std::size_t bytes, c10::ScalarType dtype, SizesView sizes);

// A dense bool tensor whose bytes came from elsewhere: any byte but 0 is true, and a bool of libtorch is 0 or 1.
void make_bools_valid(const at::Tensor& tensor);

at::Tensor zeros(SizesView sizes, c10::ScalarType dtype, c10::Device device);
at::Tensor uninitialised(SizesView sizes, c10::ScalarType dtype, c10::Device device);

// Row-major values on the CPU, without flags that only libtorch understands; the tensor itself where it is such.
at::Tensor plain_values(const at::Tensor& tensor);

// Row-major bytes out of and into a tensor on any device.
void copy_out(const at::Tensor& tensor, void* data, std::size_t bytes);
void copy_in(const at::Tensor& tensor, const void* data, std::size_t bytes);

// The first element; null for zero elements and on the meta device. Throws Code::unsupported when there
// is no plain memory.
void* data_of(const at::Tensor& tensor);
std::size_t bytes_of(const at::Tensor& tensor) noexcept;

void set_requires_grad(const at::Tensor& tensor, bool required);

// Nobody else holds the tensor or its memory. `held` is how many references the caller has.
bool uniquely_owned(const at::Tensor& tensor, std::size_t held) noexcept;

// DLPack. Import consumes its argument whatever happens; export gives one whose deleter frees it.
at::Tensor from_dlpack(dlpack::ManagedTensorVersioned* source);
at::Tensor from_dlpack(dlpack::ManagedTensor* source);
dlpack::ManagedTensorVersioned* to_dlpack_versioned(const at::Tensor& tensor);
dlpack::ManagedTensor* to_dlpack(const at::Tensor& tensor);

}  // namespace td
