#include "core/loader/slices.h"

#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

std::vector<std::string_view> path_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

// An entry as [rows, values of a row].
at::Tensor column_of(const RowSource& source, std::int64_t rows,
                     const std::vector<std::string>& names) {
  const std::vector<std::string_view> path = path_of(names);
  const at::Tensor column = source.column(path).narrow(0, 0, rows).to(at::kCPU);
  if (column.numel() == 0 && rows != 0)
    fail(Code::shape, show_path(path), " has no value that could tell episodes apart");
  return column.reshape({rows, -1});
}

}  // namespace

at::Tensor episode_ends(const RowSource& source, std::int64_t rows, const SliceOptions& options,
                        bool ring) {
  at::Tensor last = at::zeros({rows}, at::kBool);
  for (const std::int64_t border : source.borders())
    if (border > 0 && border <= rows) last.data_ptr<bool>()[border - 1] = true;
  if (rows == 0) return last;
  last.data_ptr<bool>()[rows - 1] = !ring;
  if (!options.episode.empty()) {
    const at::Tensor ids = column_of(source, rows, options.episode);
    if (rows > 1)
      last.narrow(0, 0, rows - 1)
          .logical_or_((ids.narrow(0, 1, rows - 1) != ids.narrow(0, 0, rows - 1)).any(1));
    if (ring) last.narrow(0, rows - 1, 1).logical_or_((ids[0] != ids[rows - 1]).any());
  }
  for (const std::vector<std::string>& end : options.ends) {
    const at::Tensor flags = column_of(source, rows, end);
    if (flags.scalar_type() != at::kBool) {
      fail(Code::dtype, show_path(path_of(end)), " must be bool to tell where episodes end, found ",
           dtype_name(flags.scalar_type()));
    }
    last.logical_or_(flags.any(1));
  }
  return last;
}

Slices::Slices(const RowSource& source, std::int64_t rows, const SliceOptions& options)
    : length_(options.length), step_(options.step == 0 ? options.length : options.step) {
  const at::Tensor last = episode_ends(source, rows, options);
  const bool* is_last = last.data_ptr<bool>();
  std::int64_t first = 0, slices = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!is_last[row]) continue;
    const std::int64_t steps = row + 1 - first;
    if (options.short_ones) {
      slices += (steps - 1) / step_ + 1;
    } else if (steps >= length_) {
      slices += (steps - length_) / step_ + 1;
    }
    if (slices > count()) {
      episodes_.push_back({first, row + 1});
      behind_.push_back(slices);
    }
    first = row + 1;
  }
}

Run Slices::operator[](std::int64_t number) const noexcept {
  const auto found = static_cast<std::size_t>(
      std::upper_bound(behind_.begin(), behind_.end(), number) - behind_.begin());
  const std::int64_t before = found == 0 ? 0 : behind_[found - 1];
  const std::int64_t first = episodes_[found].first + (number - before) * step_;
  return {first, std::min(length_, episodes_[found].end - first)};
}

}  // namespace td
