// core/tensor/buffer.h: one piece of memory that the tensors of a dictionary share, and views of it.
#pragma once

#include "core/base/error.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <c10/core/Storage.h>

#include <memory>

namespace td {

class SharedMemory;

// The storages made here carry a mark by which a tensor is known to lie in a buffer.
class Buffer {
 public:
  // New memory, not filled.
  static c10::Storage make(std::size_t bytes, c10::Device device, bool pinned = false);

  // The same on the CPU, as a tensor of that many bytes.
  static at::Tensor row(std::size_t bytes);

  // Memory of a mapped file, which `owner` keeps mapped.
  static c10::Storage over(void* data, std::size_t bytes, std::shared_ptr<void> owner);

  // A piece of shared memory. `before` lives on as long: somebody may have its address.
  static c10::Storage over(std::shared_ptr<SharedMemory> memory, std::size_t bytes,
                           c10::Storage before = {});

  // A row-major view that begins `start` bytes into a buffer; `start` is a multiple of the item size.
  static at::Tensor view(const c10::Storage& buffer, std::size_t start, SizesView sizes,
                         c10::ScalarType dtype);

  // The buffer that a tensor lies in, as something to compare; nullptr when it lies in none.
  static const void* of(const at::Tensor& tensor) noexcept;

  // Whether a tensor lies in a buffer over a mapped file, or over shared memory: others may have mapped it,
  // too.
  static bool over_mapping(const at::Tensor& tensor) noexcept;

  // The shared memory that a tensor lies in, or nullptr.
  static std::shared_ptr<SharedMemory> shared(const at::Tensor& tensor) noexcept;
};

}  // namespace td
