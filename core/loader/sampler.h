// core/loader/sampler.h: which items are drawn, and in what order. An item is a row, or a slice of rows.
#pragma once

#include "core/loader/permutation.h"

#include <ATen/core/Tensor.h>

#include <memory>

namespace td {

enum class Drawing {
  in_order,
  shuffled,          // each item once
  with_replacement,  // any item any number of times
  weighted,          // the same, each as often as its weight says
};

// The draws of one epoch. Any of them can be asked for at any time, on any thread, and is the same each
// time: nothing has to be passed from one batch to the next, or saved to go on later.
class Sampler {
 public:
  virtual ~Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // The items of the draws from `first` on.
  virtual void draw(std::int64_t first, std::int64_t count, std::int64_t* items) const = 0;

  // How many draws an epoch has.
  std::int64_t length() const noexcept { return length_; }

 protected:
  explicit Sampler(std::int64_t length) : length_(length) {}

 private:
  std::int64_t length_;
};

// How often items are drawn, as sums: made once for any number of epochs.
using WeightSums = std::vector<double>;

// Throws Code::shape when there are not `rows` weights, Code::invalid_argument when one is negative or not
// a number. `first_row(item)` says whose weight an item has.
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

// `draws` is the length of an epoch with replacement; 0 stands for as many draws as items.
std::unique_ptr<const Sampler> make_sampler(Drawing drawing, std::int64_t items, std::uint64_t seed,
                                            std::int64_t draws,
                                            std::shared_ptr<const WeightSums> sums = nullptr);

}  // namespace td
