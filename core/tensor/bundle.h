// core/tensor/bundle.h: small tensors of one dtype side by side in one buffer.
#pragma once

#include "core/tensor/blocks.h"

#include <cstddef>
#include <vector>

namespace td {

// libtorch needs a microsecond for each call, however small the tensor is, and on a GPU some five, in which a kernel is launched.
// Small tensors are copied into one buffer, computed there, and given back as parts of one result, or copied back. On a GPU
// libtorch copies them, all in one call.
class Bundle {
 public:
  // On a GPU. A larger tensor is computed alone; one that is kept keeps no more than `gpu_most_bytes` alive.
  static constexpr std::size_t gpu_tensor_bytes = 256 * 1024, gpu_most_bytes = 1024 * 1024;
  // With fewer tensors the copies cost more than the calls.
  static constexpr std::size_t few = 3;
  // Room for so many is made at once.
  static constexpr std::size_t usual = 16;

  // A tensor without dimensions promotes dtypes in another way.
  static bool suits(const at::Tensor& tensor) noexcept {
    return tensor.dim() != 0 && (Blocks::suits(tensor) || suits_on_gpu(tensor));
  }

  // For tensors of the dtype and on the device of this one.
  explicit Bundle(const at::Tensor& like) : dtype_(like.scalar_type()), device_(like.device()) {
    places_.reserve(usual);
  }

  bool has_room(const at::Tensor& tensor) const noexcept {
    return tensor.scalar_type() == dtype_ && tensor.device() == device_ &&
           bytes_ + tensor.nbytes() <= (is_cpu() ? Blocks::most_bytes : gpu_most_bytes);
  }
  // Gives a tensor that suits the next place.
  void add(const at::Tensor& tensor);
  std::size_t size() const noexcept { return places_.size(); }

  // The values of `source(i)` at place i, one after the other, with zeros between them. A source with fewer elements than
  // its place repeats each of them, in main memory only.
  template <class F>
  at::Tensor gather(F&& source) const {
    if (!is_cpu()) {
      std::vector<at::Tensor> sources;
      sources.reserve(places_.size());
      for (std::size_t i = 0; i < places_.size(); ++i) sources.push_back(source(i));
      return joined(std::move(sources));
    }
    at::Tensor all = empty();
    const at::Tensor* before = nullptr;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const at::Tensor& next = source(i);
      if (before != nullptr && next.is_same(*before) && places_[i].bytes == places_[i - 1].bytes) {
        repeat(all, i);
      } else {
        put(all, i, next);
      }
      before = &next;
    }
    return all;
  }
  // Copies the values back into `target(i)`.
  template <class F>
  void scatter(const at::Tensor& all, F&& target) const {
    if (!is_cpu()) {
      std::vector<at::Tensor> targets;
      targets.reserve(places_.size());
      for (std::size_t i = 0; i < places_.size(); ++i) targets.push_back(target(i));
      return copy_back(all, targets);
    }
    for (std::size_t i = 0; i < places_.size(); ++i) copy_back(all, i, target(i));
  }
  // Place i of a buffer of any dtype as a tensor that knows nothing of the others: it has a version of its own.
  at::Tensor part(const at::Tensor& all, std::size_t i, SizesView sizes) const;

 private:
  struct Place {
    std::size_t offset, bytes;
  };
  std::size_t end_of(std::size_t i) const noexcept {
    return i + 1 < places_.size() ? places_[i + 1].offset : bytes_;
  }
  static bool suits_on_gpu(const at::Tensor& tensor) noexcept;
  bool is_cpu() const noexcept { return device_.type() == c10::DeviceType::CPU; }
  at::Tensor joined(std::vector<at::Tensor> sources) const;
  void copy_back(const at::Tensor& all, const std::vector<at::Tensor>& targets) const;
  at::Tensor empty() const;
  void put(const at::Tensor& all, std::size_t i, const at::Tensor& source) const noexcept;
  void repeat(const at::Tensor& all, std::size_t i) const noexcept;  // the place before
  void copy_back(const at::Tensor& all, std::size_t i, const at::Tensor& target) const noexcept;

  c10::ScalarType dtype_;
  c10::Device device_;
  std::size_t bytes_ = 0;
  std::vector<Place> places_;
};

}  // namespace td
