// core/tensor/foreign.h: tensors over foreign memory, and tensors as memory for others.
#pragma once

#include "core/base/error.h"
#include "core/tensor/dlpack_abi.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

namespace td {

// A tensor over memory that `owner` keeps alive. Strides count elements; nullopt: row-major.
at::Tensor from_memory(void* data, c10::ScalarType dtype, SizesView sizes,
                       std::optional<SizesView> strides, c10::Device device,
                       std::shared_ptr<void> owner);

// A new tensor from row-major bytes.
at::Tensor from_bytes(const void* data, std::size_t bytes, c10::ScalarType dtype, SizesView sizes);

// Normalises the bytes of a contiguous bool tensor to 0 or 1: other bytes are undefined for libtorch.
void make_bools_valid(const at::Tensor& tensor);

at::Tensor zeros(SizesView sizes, c10::ScalarType dtype, c10::Device device);
at::Tensor uninitialised(SizesView sizes, c10::ScalarType dtype, c10::Device device);

// Contiguous values on the CPU, without libtorch's lazy flags; the same tensor if it is already that.
at::Tensor plain_values(const at::Tensor& tensor);

// Copy row-major bytes from and to a tensor on any device.
void copy_out(const at::Tensor& tensor, void* data, std::size_t bytes);
void copy_in(const at::Tensor& tensor, const void* data, std::size_t bytes);

// The address of the first element; nullptr without elements and on the meta device. Throws Code::unsupported
// for tensors without plain memory.
void* data_of(const at::Tensor& tensor);
std::size_t bytes_of(const at::Tensor& tensor) noexcept;

void set_requires_grad(const at::Tensor& tensor, bool required);

// Whether only the caller, with `held` references, holds the tensor and its memory.
bool uniquely_owned(const at::Tensor& tensor, std::size_t held) noexcept;

// DLPack. Import always consumes its argument; export returns a struct whose deleter frees it.
at::Tensor from_dlpack(dlpack::ManagedTensorVersioned* source);
at::Tensor from_dlpack(dlpack::ManagedTensor* source);
dlpack::ManagedTensorVersioned* to_dlpack_versioned(const at::Tensor& tensor);
dlpack::ManagedTensor* to_dlpack(const at::Tensor& tensor);

}  // namespace td
