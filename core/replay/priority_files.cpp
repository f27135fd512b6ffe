// The sampler's files of a folder: settings, and the trees as TorchRL has them.
#include "core/replay/priorities.h"

#include "core/io/file_io.h"
#include "core/io/mapped_file.h"
#include "core/io/new_file.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

namespace td {

namespace {

constexpr std::size_t longest_settings = std::size_t{1} << 16;
constexpr const char* sum_file = "sumtree.memmap";
constexpr const char* min_file = "mintree.memmap";

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

}  // namespace

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
