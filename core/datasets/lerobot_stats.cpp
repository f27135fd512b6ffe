#include "core/datasets/lerobot_stats.h"

#include "core/base/error.h"
#include "core/base/quote.h"
#include "core/tensor/sizes.h"
#include "core/tensor/workers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace td::datasets {

namespace {

struct At {
  enum : std::size_t { lowest, highest, mean, deviation, count, first_quantile };
};
constexpr double quantiles[] = {0.01, 0.1, 0.5, 0.9, 0.99};

Plain plain_number(const at::Tensor& value) {
  if (value.scalar_type() == at::kBool) return Plain::of_truth(value.item<bool>());
  if (!value.is_floating_point()) return Plain::of_integer(value.item<std::int64_t>());
  const double number = value.item<double>();
  if (std::isnan(number)) return Plain::of_digits("NaN");
  if (std::isinf(number)) return Plain::of_digits(number < 0 ? "-Infinity" : "Infinity");
  return Plain::of_real(number);
}

Plain nested_plain(const at::Tensor& values) {
  if (values.dim() == 0) return plain_number(values);
  std::vector<Plain> items;
  for (std::int64_t i = 0; i < values.size(0); ++i) items.push_back(nested_plain(values[i]));
  return Plain::of_list(std::move(items));
}

// Numbers in lists of lists, all of one size.
class ReadNumbers {
 public:
  bool add(const Plain& value, std::size_t depth = 0) {
    if (!value.is(Plain::list)) {
      flags_ = flags_ && value.is(Plain::boolean);
      whole_ = whole_ && value.is(Plain::integer);
      if (!value.is(Plain::boolean) && !value.is_number()) return false;
      integers_.push_back(value.is(Plain::integer) ? value.integral() : 0);
      reals_.push_back(value.is(Plain::boolean) ? (value.truth() ? 1 : 0) : value.number());
      return depth == sizes_.size();
    }
    const auto size = static_cast<std::int64_t>(value.items().size());
    if (depth == sizes_.size() && reals_.empty()) sizes_.push_back(size);
    if (depth >= sizes_.size() || sizes_[depth] != size || size == 0 || depth > 8) return false;
    return std::all_of(value.items().begin(), value.items().end(),
                       [&](const Plain& one) { return add(one, depth + 1); });
  }

  at::Tensor take() const {
    if (whole_) return at::tensor(integers_, at::kLong).reshape(sizes_);
    return at::tensor(reals_, at::kDouble).to(flags_ ? at::kBool : at::kDouble).reshape(sizes_);
  }

 private:
  Sizes sizes_;
  bool flags_ = true, whole_ = true;
  std::vector<std::int64_t> integers_;
  std::vector<double> reals_;
};

// Whole numbers and flags stay what they are.
at::Tensor exact(const at::Tensor& values) {
  if (values.scalar_type() == at::kBool) return values;
  return values.to(values.is_floating_point() ? at::kDouble : at::kLong);
}

}  // namespace

const std::array<const char*, FeatureStats::kinds> FeatureStats::names = {
    "min", "max", "mean", "std", "count", "q01", "q10", "q50", "q90", "q99"};

Plain FeatureStats::plain(bool quantiles) const {
  constexpr std::size_t without_quantiles = 5;
  PlainBuilder made;
  made.open();
  for (std::size_t i = 0; i < (quantiles ? kinds : without_quantiles); ++i) {
    made.name(names[i]);
    made.add(nested_plain(values[i]));
  }
  made.close(true);
  return made.take();
}

std::int64_t FeatureStats::count() const { return values[At::count].sum().item<std::int64_t>(); }

FeatureStats FeatureStats::read(const Plain& object, const std::string& where) {
  FeatureStats stats;
  for (std::size_t i = 0; i < kinds; ++i) {
    const Plain* found = object.find(names[i]);
    ReadNumbers numbers;
    if (found == nullptr || !numbers.add(*found))
      fail(Code::unsupported, where, ": the statistics have no numbers ", quote(names[i]),
           ": repair the set");
    stats.values[i] = numbers.take();
  }
  return stats;
}

FeatureStats stats_of(const at::Tensor& rows) {
  std::optional<OneThread> one_thread;
  if (rows.numel() < at::internal::GRAIN_SIZE) one_thread.emplace();
  const std::int64_t last = rows.dim() < 2 ? 1 : rows.size(-1);
  const at::Tensor all = rows.reshape({-1, last}), numbers = all.to(at::kDouble);
  const at::Tensor ordered = std::get<0>(numbers.sort(0));
  const at::Tensor whole = all.scalar_type() == at::kBool ? all.to(at::kByte) : exact(all);
  FeatureStats stats;
  const auto as_stored = [&](const at::Tensor& value) {
    return all.scalar_type() == at::kBool ? value.to(at::kBool) : value;
  };
  stats.values[At::lowest] = as_stored(std::get<0>(whole.min(0)));
  stats.values[At::highest] = as_stored(std::get<0>(whole.max(0)));
  stats.values[At::mean] = numbers.mean(0);
  stats.values[At::deviation] = numbers.std(0, /*unbiased=*/false);
  stats.values[At::count] = at::full({1}, rows.size(0), at::kLong);
  const std::int64_t end = ordered.size(0) - 1;
  for (std::size_t i = 0; i < std::size(quantiles); ++i) {
    const double place = quantiles[i] * static_cast<double>(end);
    const auto below = static_cast<std::int64_t>(std::floor(place));
    const at::Tensor low = ordered[below], high = ordered[std::min(below + 1, end)];
    stats.values[At::first_quantile + i] =
        low + (high - low) * (place - static_cast<double>(below));
  }
  return stats;
}

void PictureStats::add(const at::Tensor& picture) {
  at::Tensor pixels = picture;
  if (pixels.scalar_type() != at::kByte) pixels = pixels.floor_divide(257);  // 16 bits
  const bool colours = pixels.dim() == 3 && pixels.size(2) >= 3;
  if (pixels.dim() == 3) pixels = pixels.narrow(2, 0, colours ? 3 : 1);
  pixels = pixels.reshape({-1, colours ? 3 : 1}).to(at::kLong);
  std::vector<at::Tensor> counts;
  for (std::int64_t channel = 0; channel < 3; ++channel)  // gray is all three
    counts.push_back(at::bincount(pixels.select(1, colours ? channel : 0).contiguous(), {}, 256));
  const at::Tensor here = at::stack(counts);
  counts_ = counts_.defined() ? counts_ + here : here;
  ++pictures_;
}

FeatureStats PictureStats::take() const {
  const OneThread one_thread;
  FeatureStats stats;
  const std::int64_t channels = counts_.size(0);
  for (at::Tensor& value : stats.values) value = at::zeros({channels, 1, 1}, at::kDouble);
  const at::Tensor steps = at::arange(256, at::kDouble) / 255.0;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const at::Tensor counts = counts_[channel].to(at::kDouble), sums = counts_[channel].cumsum(0);
    const double all = counts.sum().item<double>();
    const at::Tensor there = counts_[channel].nonzero().reshape({-1});
    const auto put = [&](std::size_t which, const at::Tensor& value) {
      stats.values[which][channel].fill_(value);
    };
    put(At::lowest, steps[there[0].item<std::int64_t>()]);
    put(At::highest, steps[there[-1].item<std::int64_t>()]);
    const at::Tensor middle = (counts * steps).sum() / all;
    put(At::mean, middle);
    put(At::deviation, ((counts * (steps - middle).square()).sum() / all).sqrt());
    const auto value_at = [&](double place) {
      return steps[sums.gt(place).nonzero()[0].item<std::int64_t>()];
    };
    for (std::size_t i = 0; i < std::size(quantiles); ++i) {
      const double place = quantiles[i] * (all - 1), below = std::floor(place);
      const at::Tensor low = value_at(below), high = value_at(std::min(below + 1, all - 1));
      put(At::first_quantile + i, low + (high - low) * (place - below));
    }
  }
  stats.values[At::count] = at::full({1}, pictures_, at::kLong);
  return stats;
}

std::vector<std::int64_t> sampled_pictures(std::int64_t count) {
  const auto wanted = static_cast<std::int64_t>(std::pow(static_cast<double>(count), 0.75));
  const std::int64_t chosen =
      std::min(count, std::max<std::int64_t>(100, std::min<std::int64_t>(wanted, 10000)));
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < chosen; ++i) {
    const double at = chosen == 1 ? 0
                                  : static_cast<double>(i) * static_cast<double>(count - 1) /
                                        static_cast<double>(chosen - 1);
    places.push_back(std::llround(at));
  }
  return places;
}

namespace {

FeatureStats joined(const std::vector<FeatureStats>& episodes) {
  // Those that were read from a file may be whole where others are real, and have another number of dimensions.
  const auto of_all = [&](std::size_t which) {
    const at::Tensor& last = episodes.back().values[which];
    std::vector<at::Tensor> values;
    for (const FeatureStats& one : episodes) {
      const at::Tensor& value = one.values[which];
      if (value.numel() != last.numel())
        fail(Code::unsupported, "the statistics of an episode have ", last.numel(),
             " numbers, and those of the episodes before ", value.numel());
      values.push_back(value.to(last.scalar_type()).reshape(last.sizes()));
    }
    return at::stack(values);
  };
  FeatureStats all;
  const at::Tensor low = of_all(At::lowest), high = of_all(At::highest);
  const bool flags = low.scalar_type() == at::kBool;
  all.values[At::lowest] = flags ? low.all(0) : std::get<0>(low.min(0));
  all.values[At::highest] = flags ? high.any(0) : std::get<0>(high.max(0));
  at::Tensor counts = of_all(At::count);
  all.values[At::count] = counts.sum(0);
  const at::Tensor means = of_all(At::mean);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(means.dim()), 1);
  sizes[0] = -1;
  const at::Tensor weights = counts.to(at::kDouble).reshape(sizes), sum = weights.sum();
  const auto weighted = [&](const at::Tensor& values) { return (values * weights).sum(0) / sum; };
  all.values[At::mean] = weighted(means);
  all.values[At::deviation] =
      weighted(of_all(At::deviation).square() + (means - all.values[At::mean]).square()).sqrt();
  for (std::size_t i = At::first_quantile; i < FeatureStats::kinds; ++i)
    all.values[i] = weighted(of_all(i));
  return all;
}

const FeatureStats* find(const SetStats& stats, const std::string& feature) {
  const auto found = std::find_if(stats.begin(), stats.end(),
                                  [&](const auto& one) { return one.first == feature; });
  return found == stats.end() ? nullptr : &found->second;
}

}  // namespace

const SetStats& StatsOfEpisodes::take() {
  const OneThread one_thread;
  if (waiting_.size() != 1) {
    SetStats all;
    for (std::size_t i = 0; !waiting_.empty() && i < waiting_[0].size(); ++i) {
      const std::string& feature = waiting_[0][i].first;
      std::vector<FeatureStats> values;
      for (const SetStats& one : waiting_) {
        if (const FeatureStats* found = find(one, feature)) values.push_back(*found);
      }
      if (values.size() == waiting_.size()) all.emplace_back(feature, joined(values));
    }
    waiting_ = {std::move(all)};
  }
  return waiting_[0];
}

}  // namespace td::datasets
