// core/nn/mapped.h: functorch's vmap: runs operators over a leading dimension that they do not see.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace td {

// A vmap level of the calling thread, for the lifetime of the object.
class MappedLevel {
 public:
  explicit MappedLevel(std::int64_t size);
  ~MappedLevel();
  MappedLevel(const MappedLevel&) = delete;
  MappedLevel& operator=(const MappedLevel&) = delete;

  std::int64_t size() const noexcept { return size_; }

  // Hides the first dimension, of `size()`, from operators.
  at::Tensor wrap(const at::Tensor& tensor) const;

  // Makes the dimension visible again, or adds it by expanding a tensor that does not depend on it.
  at::Tensor unwrap(const at::Tensor& tensor) const;

 private:
  std::int64_t size_;
  std::int64_t level_;
};

}  // namespace td
