#include "core/loader/sampler.h"

#include "core/base/error.h"
#include "core/tensor/dtype.h"
#include "core/tensor/sizes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace td {

namespace {

class InOrder final : public Sampler {
 public:
  explicit InOrder(std::int64_t items) : Sampler(items) {}
  void draw(std::int64_t first, std::int64_t count, std::int64_t* items) const override {
    std::iota(items, items + count, first);
  }
};

class Shuffled final : public Sampler {
 public:
  Shuffled(std::int64_t items, std::uint64_t seed) : Sampler(items), order_(items, seed) {}
  void draw(std::int64_t first, std::int64_t count, std::int64_t* items) const override {
    for (std::int64_t i = 0; i < count; ++i) items[i] = order_(first + i);
  }

 private:
  Permutation order_;
};

class WithReplacement final : public Sampler {
 public:
  WithReplacement(std::int64_t items, std::uint64_t seed, std::int64_t draws)
      : Sampler(items == 0 ? 0 : draws), items_(items), seed_(seed) {}
  void draw(std::int64_t first, std::int64_t count, std::int64_t* items) const override {
    for (std::int64_t i = 0; i < count; ++i)
      items[i] = below(mixed(seed_, static_cast<std::uint64_t>(first + i)), items_);
  }

 private:
  std::int64_t items_;
  std::uint64_t seed_;
};

class Weighted final : public Sampler {
 public:
  Weighted(std::shared_ptr<const WeightSums> sums, std::uint64_t seed, std::int64_t draws)
      : Sampler(sums->empty() ? 0 : draws), sums_(std::move(sums)), seed_(seed) {}
  void draw(std::int64_t first, std::int64_t count, std::int64_t* items) const override {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t random = mixed(seed_, static_cast<std::uint64_t>(first + i));
      const double at = static_cast<double>(random >> 11) * 0x1p-53 * sums_->back();
      // The first sum above the target, which never selects an item of weight 0. Rounding may reach the last
      // sum: then take the first item that reaches it.
      auto found = std::upper_bound(sums_->begin(), sums_->end(), at);
      if (found == sums_->end()) found = std::lower_bound(sums_->begin(), sums_->end(), at);
      items[i] = found - sums_->begin();
    }
  }

 private:
  std::shared_ptr<const WeightSums> sums_;
  std::uint64_t seed_;
};

}  // namespace

std::vector<double> checked_weights(const at::Tensor& weights, std::int64_t rows) {
  if (weights.numel() != rows) {
    fail(Code::shape, "there are weights of shape ", show_sizes(weights.sizes()), " for ", rows,
         " rows");
  }
  if (weights.is_complex()) {
    fail(Code::dtype, "weights are real numbers, not of dtype ", dtype_name(weights.scalar_type()));
  }
  const at::Tensor values = weights.to(at::kCPU, at::kDouble).reshape({-1}).contiguous();
  const double* data = values.data_ptr<double>();
  std::vector<double> result(data, data + rows);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!(result[i] >= 0) || std::isinf(result[i])) {
      fail(Code::invalid_argument, "weight ", i, " is ", result[i],
           "; it must be a number of at least 0");
    }
  }
  return result;
}

std::unique_ptr<const Sampler> make_sampler(Drawing drawing, std::int64_t items, std::uint64_t seed,
                                            std::int64_t draws,
                                            std::shared_ptr<const WeightSums> sums) {
  if (draws == 0) draws = items;
  switch (drawing) {
    case Drawing::in_order: return std::make_unique<InOrder>(items);
    case Drawing::shuffled: return std::make_unique<Shuffled>(items, seed);
    case Drawing::with_replacement: return std::make_unique<WithReplacement>(items, seed, draws);
    case Drawing::weighted: break;
  }
  if (!sums->empty() && !(sums->back() > 0 && std::isfinite(sums->back()))) {
    fail(Code::invalid_argument, "the sum of the weights is ", sums->back(),
         "; it must be above 0 and finite");
  }
  return std::make_unique<Weighted>(std::move(sums), seed, draws);
}

}  // namespace td
