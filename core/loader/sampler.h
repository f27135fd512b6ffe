// core/loader/sampler.h: which items (rows or slices) are drawn, and in what order.
#pragma once

#include "core/loader/permutation.h"

#include <ATen/core/Tensor.h>

#include <memory>

namespace td {

enum class Drawing {
  in_order,
  shuffled,          // each item once
  with_replacement,  // uniform
  weighted,          // in proportion to weights
};

// The draws of one epoch, with random access from any thread. Draws are deterministic: no state passes
// between batches or must be saved.
class Sampler {
 public:
  virtual ~Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // The items of the draws from `first` on.
  virtual void draw(std::int64_t first, std::int64_t count, std::int64_t* items) const = 0;

  // Draws in an epoch.
  std::int64_t length() const noexcept { return length_; }

 protected:
  explicit Sampler(std::int64_t length) : length_(length) {}

 private:
  std::int64_t length_;
};

// Cumulative weights, shared by epochs.
using WeightSums = std::vector<double>;

// Throws Code::shape unless there are `rows` weights, Code::invalid_argument for a negative weight or NaN.
// `first_row(item)` is the row whose weight counts for the item.
template <class FirstRow>
std::shared_ptr<const WeightSums> weight_sums(c10::ArrayRef<double> weights, std::int64_t items,
                                              FirstRow&& first_row) {
  auto sums = std::make_shared<WeightSums>(static_cast<std::size_t>(items));
  double sum = 0;
  for (std::int64_t i = 0; i < items; ++i) {
    sum += weights[static_cast<std::size_t>(first_row(i))];
    (*sums)[static_cast<std::size_t>(i)] = sum;
  }
  return sums;
}
std::vector<double> checked_weights(const at::Tensor& weights, std::int64_t rows);

// `draws`: length of an epoch with replacement; 0: the number of items.
std::unique_ptr<const Sampler> make_sampler(Drawing drawing, std::int64_t items, std::uint64_t seed,
                                            std::int64_t draws,
                                            std::shared_ptr<const WeightSums> sums = nullptr);

}  // namespace td
