// core/tensor/bundle.h: small tensors of one dtype side by side in one buffer.
#pragma once

#include "core/tensor/blocks.h"

#include <cstddef>
#include <vector>

namespace td {

// libtorch needs a microsecond for each call, however small the tensor is. Small tensors are copied into one buffer, computed
// there, and given back as parts of one result, or copied back.
class Bundle {
 public:
  // With fewer tensors the copies cost more than the calls.
  static constexpr std::size_t few = 3;

  // A tensor without dimensions promotes dtypes in another way.
  static bool suits(const at::Tensor& tensor) noexcept {
    return Blocks::suits(tensor) && tensor.dim() != 0;
  }

  explicit Bundle(c10::ScalarType dtype) : dtype_(dtype) {}

  bool has_room(const at::Tensor& tensor) const noexcept {
    return tensor.scalar_type() == dtype_ && bytes_ + tensor.nbytes() <= Blocks::most_bytes;
  }
  // Gives a tensor that suits the next place.
  void add(const at::Tensor& tensor);
  std::size_t size() const noexcept { return places_.size(); }

  // The values of `source(i)` at place i, one after the other, with zeros between them. A source with fewer elements than
  // its place repeats each of them.
  template <class F>
  at::Tensor gather(F&& source) const {
    at::Tensor all = empty();
    for (std::size_t i = 0; i < places_.size(); ++i) put(all, i, source(i));
    return all;
  }
  // Copies the values back into `target(i)`.
  template <class F>
  void scatter(const at::Tensor& all, F&& target) const noexcept {
    for (std::size_t i = 0; i < places_.size(); ++i) copy_back(all, i, target(i));
  }
  // Place i of a buffer of any dtype as a tensor that knows nothing of the others: it has a version of its own.
  at::Tensor part(const at::Tensor& all, std::size_t i, SizesView sizes) const;

 private:
  struct Place {
    std::size_t offset, bytes;
  };
  at::Tensor empty() const;
  void put(const at::Tensor& all, std::size_t i, const at::Tensor& source) const noexcept;
  void copy_back(const at::Tensor& all, std::size_t i, const at::Tensor& target) const noexcept;

  c10::ScalarType dtype_;
  std::size_t bytes_ = 0;
  std::vector<Place> places_;
};

}  // namespace td
