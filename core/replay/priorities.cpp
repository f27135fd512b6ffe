#include "core/replay/priorities.h"

#include "core/io/file_io.h"
#include "core/io/mapped_file.h"
#include "core/io/new_file.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

namespace td {

namespace {

constexpr std::size_t longest_settings = std::size_t{1} << 16;
constexpr const char* sum_file = "sumtree.memmap";
constexpr const char* min_file = "mintree.memmap";

void check_exponent(const char* name, double value, const std::string& where) {
  if (!(value >= 0) || std::isinf(value))
    fail(where.empty() ? Code::invalid_argument : Code::format, where, where.empty() ? "" : ": ",
         name, " is ", value, "; it must be a number of at least 0");
}

at::Tensor own_values(const at::Tensor& tensor, c10::ScalarType dtype) {
  const auto options = at::TensorOptions(at::kCPU).dtype(dtype);
  return tensor.detach()
      .to(options, /*non_blocking=*/false, /*copy=*/true)
      .reshape({-1})
      .contiguous();
}

void write_numbers(const std::string& path, bool in_new, std::int64_t count,
                   const std::function<double(std::int64_t)>& number) {
  files::NewFile file(path, in_new);
  constexpr std::int64_t piece = 1 << 15;
  std::vector<double> some(static_cast<std::size_t>(std::min(count, piece)));
  for (std::int64_t first = 0; first < count; first += piece) {
    const std::int64_t length = std::min(piece, count - first);
    for (std::int64_t i = 0; i < length; ++i) some[static_cast<std::size_t>(i)] = number(first + i);
    file.write(reinterpret_cast<const char*>(some.data()),
               static_cast<std::size_t>(length) * sizeof(double));
  }
  file.commit();
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

// The largest priority of the rows that are there, from their weights.
void Priorities::find_largest() noexcept {
  std::int64_t place = 0;
  for (std::int64_t other = 1; other < tree_.rows(); ++other)
    if (tree_.value(other) > tree_.value(place)) place = other;
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

void Priorities::read_settings(const std::string& path, std::int64_t capacity) {
  const std::string where = "\"" + path + "\"";
  JsonMembers settings(files::read(path, longest_settings), where);
  const auto number = [&](const char* name) {
    const std::optional<double> value = settings.real(name);
    if (!value) fail(Code::format, where, " has no \"", name, "\"");
    check_exponent(name, *value, where);
    return *value;
  };
  const double alpha = number("_alpha"), beta = number("_beta"), eps = number("_eps");
  const double places = static_cast<double>(capacity);  // TorchRL writes all numbers as floats
  if (settings.real("_max_capacity").value_or(places) != places) {
    fail(Code::format, where, " is of ", *settings.real("_max_capacity"),
         " places for rows; the buffer has ", capacity);
  }
  double largest = -1;
  std::int64_t place = 0;
  if (const Plain* most = settings.find("_max_priority")) {
    const bool pair = most->is(Plain::list) && most->items().size() == 2;
    if (!pair) fail(Code::format, where, " has a \"_max_priority\" that is no pair");
    const auto number_at = [&](std::size_t i) -> std::optional<double> {
      const Plain& value = most->items()[i];
      return value.is_number() ? std::optional(value.number()) : std::nullopt;
    };
    if (!most->items()[0].is(Plain::null)) {
      const std::optional<double> value = number_at(0);
      if (!value) fail(Code::format, where, " has a \"_max_priority\" that is no number");
      largest = *value;
      check_exponent("_max_priority", largest, where);
      const double at = number_at(1).value_or(0);
      if (at >= 0 && at < places) place = static_cast<std::int64_t>(at);
    }
  }
  alpha_ = alpha;
  beta_ = beta;
  eps_ = eps;
  largest_ = largest;
  largest_place_ = place;
  largest_changed_ = false;
  settings_ = std::move(settings);
}

void Priorities::read_trees(const std::string& folder, const RingCounts& ring) {
  const std::size_t bytes = static_cast<std::size_t>(ring.capacity) * sizeof(double);
  const std::string sum_path = files::join(folder, sum_file);
  const std::string min_path = files::join(folder, min_file);
  const auto sums = MappedFile::open(sum_path, bytes, MapMode::priv);
  const auto mins = MappedFile::open(min_path, bytes, MapMode::priv);
  const auto* sum = reinterpret_cast<const double*>(sums->data());
  const auto* min = reinterpret_cast<const double*>(mins->data());
  for (std::int64_t row = 0; row < ring.capacity; ++row) {
    const bool good =
        sum[row] >= 0 && !std::isinf(sum[row]) && (row < ring.length || sum[row] == 0);
    if (!good) {
      fail(Code::format, "\"", sum_path, "\" has ", sum[row], " for row ", row, " of ",
           ring.length);
    }
    const bool bound = min[row] >= 0 && (sum[row] == 0 || min[row] == sum[row]);
    if (!bound) {
      fail(Code::format, "\"", min_path, "\" has ", min[row], " for row ", row, ", which counts ",
           sum[row]);
    }
    tree_.put(row, sum[row], min[row]);
  }
  tree_.refresh_all();
}

void Priorities::load(const std::string& folder, const RingCounts& ring) {
  const std::string path = files::join(folder, settings_file);
  if (files::look(path).found == files::Found::nothing) return;
  read_settings(path, ring.capacity);
  read_trees(folder, ring);
  seen_ = ring;
}

void Priorities::save(const std::string& folder, bool in_new) const {
  JsonMembers settings = settings_;
  const bool fresh = settings.find("_alpha") == nullptr;
  const auto put = [&](const char* name, double value) {
    if (fresh || settings.real(name) != value) settings.set(name, json_text(Plain::of_real(value)));
  };
  put("_alpha", alpha_);
  put("_beta", beta_);
  put("_eps", eps_);
  if (fresh || largest_changed_) {
    settings.set("_max_priority", largest_ < 0 ? "[null, null]"
                                               : "[" + json_text(Plain::of_real(largest_)) + ", " +
                                                     std::to_string(largest_place_) + "]");
  }
  if (fresh) {
    settings.set("_max_capacity", std::to_string(tree_.rows()));
    settings.set("_schema_version", "1");
  }
  files::NewFolders made;
  made.make_with_parents(folder);
  files::NewFile file(files::join(folder, settings_file), in_new);
  const std::string text = settings.text();
  file.write(text.data(), text.size());
  file.commit();
  write_numbers(files::join(folder, sum_file), in_new, tree_.rows(),
                [&](std::int64_t row) { return tree_.value(row); });
  write_numbers(files::join(folder, min_file), in_new, tree_.rows(),
                [&](std::int64_t row) { return tree_.bound(row); });
  made.keep();
}

}  // namespace td
