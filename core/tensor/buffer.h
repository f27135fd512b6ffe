// core/tensor/buffer.h: one block of memory shared by the tensors of a dictionary, and views of it.
#pragma once

#include "core/base/error.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <c10/core/Storage.h>

#include <memory>

namespace td {

class SharedMemory;

// Storages made here are marked, to recognise tensors in a buffer.
class Buffer {
 public:
  // Uninitialised memory.
  static c10::Storage make(std::size_t bytes, c10::Device device, bool pinned = false);

  // Uninitialised CPU memory as a tensor of `bytes` bytes.
  static at::Tensor row(std::size_t bytes);

  // Memory of a mapped file, which `owner` keeps mapped.
  static c10::Storage over(void* data, std::size_t bytes, std::shared_ptr<void> owner);

  // Shared memory. Keeps `before` alive, since a caller may have its address.
  static c10::Storage over(std::shared_ptr<SharedMemory> memory, std::size_t bytes,
                           c10::Storage before = {});

  // A contiguous view from byte `start` on, which must be a multiple of the item size.
  static at::Tensor view(const c10::Storage& buffer, std::size_t start, SizesView sizes,
                         c10::ScalarType dtype);

  // Identifies the buffer of a tensor, for comparison; nullptr if it is in no buffer.
  static const void* of(const at::Tensor& tensor) noexcept;

  // Whether a tensor is in a buffer over a mapped file or shared memory, which other tensors or processes may
  // also have mapped.
  static bool over_mapping(const at::Tensor& tensor) noexcept;

  static std::shared_ptr<SharedMemory> shared(const at::Tensor& tensor) noexcept;
};

}  // namespace td
