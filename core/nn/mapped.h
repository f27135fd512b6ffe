// core/nn/mapped.h: vmap of functorch: operators that do not know of a leading dimension, run over it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace td {

// A level of the calling thread, which ends with the object.
class MappedLevel {
 public:
  explicit MappedLevel(std::int64_t size);
  ~MappedLevel();
  MappedLevel(const MappedLevel&) = delete;
  MappedLevel& operator=(const MappedLevel&) = delete;

  std::int64_t size() const noexcept { return size_; }

  // The tensor without its first dimension, of `size()`, as operators see it.
  at::Tensor wrap(const at::Tensor& tensor) const;

  // The opposite; a tensor that does not depend on the dimension gets it.
  at::Tensor unwrap(const at::Tensor& tensor) const;

 private:
  std::int64_t size_;
  std::int64_t level_;
};

}  // namespace td
