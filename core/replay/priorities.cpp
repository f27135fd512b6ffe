#include "core/replay/priorities.h"

#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace td {

namespace {

at::Tensor own_values(const at::Tensor& tensor, c10::ScalarType dtype) {
  const auto options = at::TensorOptions(at::kCPU).dtype(dtype);
  return tensor.detach()
      .to(options, /*non_blocking=*/false, /*copy=*/true)
      .reshape({-1})
      .contiguous();
}

bool is_priority(double value) noexcept { return value >= 0 && !std::isinf(value); }

void check_priority(std::int64_t i, double value) {
  if (is_priority(value)) return;
  fail(Code::invalid_argument, "priority ", i, " is ", value,
       "; it must be a number of at least 0");
}

void check_priorities(const at::Tensor& priorities) {
  if (at::isFloatingType(priorities.scalar_type()) ||
      at::isIntegralType(priorities.scalar_type(), /*includeBool=*/false))
    return;
  fail(Code::dtype, "priorities must be real numbers, found ",
       dtype_name(priorities.scalar_type()));
}

std::vector<double> numbers_in(const at::Tensor& entry, Path path, std::int64_t rows) {
  check_priorities(entry);
  if (entry.numel() != rows) {
    fail(Code::shape, show_path(path), " gives priorities of shape ", show_sizes(entry.sizes()),
         " for ", rows, " rows; each has one");
  }
  const at::Tensor values = own_values(entry, at::kDouble);
  const auto* first = values.data_ptr<double>();
  return {first, first + rows};
}

}  // namespace

void Priorities::check_exponent(const char* name, double value, const std::string& where) {
  if (!(value >= 0) || std::isinf(value))
    fail(where.empty() ? Code::invalid_argument : Code::format, where, where.empty() ? "" : ": ",
         name, " is ", value, "; it must be a number of at least 0");
}

Priorities::Priorities(const ReplayOptions& options, std::int64_t capacity)
    : alpha_(options.alpha),
      beta_(options.beta),
      eps_(options.eps),
      batch_weights_(options.batch_weights),
      largest_within_(options.largest_within),
      entry_(options.priority),
      tree_(capacity) {
  check_exponent("alpha", alpha_, "");
  check_exponent("beta", beta_, "");
  check_exponent("eps", eps_, "");
  seen_.capacity = capacity;
}

void Priorities::set_beta(double beta) {
  check_exponent("beta", beta, "");
  beta_ = beta;
}

void Priorities::limit(std::vector<char> may_be_drawn) {
  PriorityTree some(tree_.rows());
  for (std::int64_t place = 0; place < tree_.rows(); ++place)
    some.put(place, may_be_drawn[static_cast<std::size_t>(place)] != 0 ? tree_.value(place) : 0);
  some.refresh_all();
  allowed_ = std::count_if(may_be_drawn.begin(), may_be_drawn.end(), [](char may) { return may; });
  may_be_drawn_ = std::move(may_be_drawn);
  some_ = std::move(some);
}

void Priorities::allow(const std::vector<std::pair<std::int64_t, bool>>& places) {
  if (places.empty()) return;
  changed_.clear();
  for (const auto& [place, may] : places) changed_.push_back(place);
  some_->reserve(changed_.size());
  for (const auto& [place, may] : places) {
    char& now = may_be_drawn_[static_cast<std::size_t>(place)];
    allowed_ += may - now;
    now = may;
    some_->put(place, may ? tree_.value(place) : 0);
  }
  some_->refresh(changed_);
}

void Priorities::put_weight(std::int64_t place, double value, double bound) noexcept {
  tree_.put(place, value, bound);
  if (some_) some_->put(place, may_be_drawn_[static_cast<std::size_t>(place)] != 0 ? value : 0);
}

// The largest priority of the rows that are there, from their weights; the first of those that are equal as float32, which
// TorchRL's weights are.
void Priorities::find_largest() noexcept {
  const auto weight = [&](std::int64_t place) { return static_cast<float>(tree_.value(place)); };
  std::int64_t place = 0;
  for (std::int64_t other = 1; other < tree_.rows(); ++other)
    if (weight(other) > weight(place)) place = other;
  largest_ = std::max(std::pow(tree_.value(place), 1 / alpha_) - eps_, 0.0);
  largest_place_ = place;
  largest_changed_ = true;
}

// Gives places priorities, and keeps the largest as TorchRL does.
void Priorities::put(c10::ArrayRef<std::int64_t> places, const double* values,
                     std::int64_t step) noexcept {
  bool holds_largest = false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double value = values[static_cast<std::int64_t>(i) * step];
    if (value > largest_) {
      largest_ = value;
      largest_place_ = places[i];
      largest_changed_ = true;
    }
    put_weight(places[i], std::pow(value + eps_, alpha_), std::pow(value + eps_, alpha_));
  }
  tree_.refresh(places);
  if (some_) some_->refresh(places);
  if (!largest_within_ || alpha_ == 0) return;
  for (const std::int64_t place : places) holds_largest = holds_largest || place == largest_place_;
  if (holds_largest) find_largest();
}

// New rows have the largest priority so far, the first ones 1, which counts as given; an entry may say otherwise.
void Priorities::added(c10::ArrayRef<std::int64_t> places, const RingRows* rows) {
  if (places.empty()) return;
  std::vector<double> own;
  if (!entry_.empty() && rows != nullptr) {
    const std::vector<std::string_view> path(entry_.begin(), entry_.end());
    const at::NoGradGuard no_grad;
    const at::Tensor index = at::tensor(places, at::kLong);
    own = numbers_in(rows->source()->column(path).index_select(0, index), path,
                     static_cast<std::int64_t>(places.size()));
  }
  tree_.reserve(places.size());
  if (some_) some_->reserve(places.size());
  const double usual = largest_ < 0 ? 1 : largest_;
  // Another process may have written what no priority can be.
  for (double& value : own)
    if (!is_priority(value)) value = usual;
  put(places, &usual, 0);
  if (largest_within_) {
    for (const std::int64_t place : places) {
      if (place != largest_place_) continue;
      largest_ = -1;
      largest_place_ = 0;
      largest_changed_ = true;
      break;
    }
  }
  if (!own.empty()) put(places, own.data(), 1);
}

void Priorities::note_replaced(c10::ArrayRef<double> values, std::int64_t first) noexcept {
  if (largest_within_ && alpha_ != 0) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] <= largest_) continue;
    largest_ = values[i];
    largest_place_ = (first + static_cast<std::int64_t>(i)) % tree_.rows();
    largest_changed_ = true;
  }
}

void Priorities::follow(const RingCounts& ring, const RingRows* rows) {
  if (ring == seen_) return;
  const std::int64_t more = std::min(ring.written - seen_.written, ring.capacity);
  std::vector<std::int64_t> places;
  const auto place = [&](std::int64_t k) {
    return ((ring.cursor + k) % ring.capacity + ring.capacity) % ring.capacity;
  };
  for (std::int64_t k = more; k > 0; --k) places.push_back(place(-k));
  // Incomplete rows are not drawn; writing them again resets their priorities.
  std::vector<std::int64_t> gap;
  for (std::int64_t k = 0; ring.full() && k < ring.gap; ++k) gap.push_back(place(k));
  tree_.reserve(gap.size());
  if (some_) some_->reserve(gap.size());
  added(places, rows);
  for (const std::int64_t at : gap) put_weight(at, 0, PriorityTree::none);
  tree_.refresh(gap);
  if (some_) some_->refresh(gap);
  seen_ = ring;
}

void Priorities::replaced(c10::ArrayRef<std::int64_t> places, const RingCounts& ring,
                          const RingRows& rows) {
  added(places, &rows);
  seen_ = ring;
}

std::vector<double> Priorities::given(const at::Tensor& entry, Path path, std::int64_t rows) {
  std::vector<double> values = numbers_in(entry, path, rows);
  for (std::int64_t i = 0; i < rows; ++i) check_priority(i, values[static_cast<std::size_t>(i)]);
  return values;
}

void Priorities::draw(const RingCounts& ring, const RingRows&, std::int64_t count,
                      RandomNumbers& random, Drawn& drawn) {
  const PriorityTree& tree = some_ ? *some_ : tree_;
  const double sum = tree.sum();
  if (!(sum > 0) || std::isinf(sum)) {
    fail(Code::shape, "the priorities of ", ring.whole(), " rows sum up to ", sum,
         ": none can be drawn");
  }
  if (!batch_weights_ && !(tree_.smallest() > 0)) {
    fail(Code::shape,
         "a row has priority 0, and weights are relative to the smallest one: use "
         "an eps above 0, or weights relative to the batch");
  }
  drawn.places.resize(static_cast<std::size_t>(count));
  drawn.weights.resize(static_cast<std::size_t>(count));
  double least = batch_weights_ ? std::numeric_limits<double>::infinity() : tree_.smallest();
  masses_.resize(drawn.places.size());
  for (double& mass : masses_) mass = random.unit() * sum;
  tree.find(masses_.data(), masses_.size(), drawn.places.data());
  if (batch_weights_)
    for (const std::int64_t place : drawn.places) least = std::min(least, tree_.value(place));
  // (N p)^-beta divided by its maximum, which belongs to the smallest p: N and the sum cancel out.
  for (std::size_t i = 0; i < drawn.places.size(); ++i)
    drawn.weights[i] = static_cast<float>(std::pow(tree_.value(drawn.places[i]) / least, -beta_));
}

void Priorities::update(const at::Tensor& places, const at::Tensor& priorities,
                        const RingCounts& ring) {
  if (places.scalar_type() != at::kLong) {
    fail(Code::dtype, "an index must be int64, found ", dtype_name(places.scalar_type()));
  }
  if (priorities.numel() != places.numel() && priorities.numel() != 1) {
    fail(Code::shape, "there are priorities of shape ", show_sizes(priorities.sizes()),
         " for an index of shape ", show_sizes(places.sizes()));
  }
  check_priorities(priorities);
  const at::NoGradGuard no_grad;
  // Copies: another thread may write into the caller's tensors after the checks.
  const at::Tensor index = own_values(places, at::kLong);
  const at::Tensor values = own_values(priorities, at::kDouble);
  const auto* place = index.data_ptr<std::int64_t>();
  const auto* value = values.data_ptr<double>();
  const std::int64_t n = index.numel(), step = values.numel() == 1 ? 0 : 1;
  for (std::int64_t i = 0; i < n; ++i) {
    if (place[i] < 0 || place[i] >= ring.length) {
      fail(Code::index, "index ", i, " is ", place[i], "; there are rows 0 to ", ring.length - 1);
    }
    check_priority(i * step, value[i * step]);
  }
  changed_.clear();
  std::vector<double> of_changed;
  for (std::int64_t i = 0; i < n; ++i) {
    if (ring.in_gap(place[i])) continue;
    changed_.push_back(place[i]);
    of_changed.push_back(value[i * step]);
  }
  tree_.reserve(changed_.size());
  if (some_) some_->reserve(changed_.size());
  put(changed_, of_changed.data(), 1);
}

}  // namespace td
