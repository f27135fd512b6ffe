// core/replay/priority_tree.h: how much each row of a ring counts, with sums and smallest ones above.
#pragma once

#include "core/tensor/sizes.h"

#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace td {

// A draw and an update are O(log n). Sixteen rows have one node above them: five levels for a million rows,
// each of which is one or two lines of the cache, where a binary tree has twenty.
//
// Sums are worked out anew from what is below them, never added to: no error builds up.
class PriorityTree {
 public:
  // What a row without a value counts as when the smallest is looked for: Python's tree of float32 has it.
  static constexpr double none = std::numeric_limits<float>::max();

  explicit PriorityTree(std::int64_t rows);

  std::int64_t rows() const noexcept { return rows_; }
  double sum() const noexcept { return sums_.back()[0]; }
  double smallest() const noexcept { return mins_.back()[0]; }
  double value(std::int64_t row) const noexcept { return sums_[0][static_cast<std::size_t>(row)]; }
  double bound(std::int64_t row) const noexcept { return mins_[0][static_cast<std::size_t>(row)]; }

  // The value of a row, in both trees, or what each of them has for it. refresh() must follow for the same
  // rows before anything else is asked.
  void put(std::int64_t row, double value) noexcept { put(row, value, value); }
  void put(std::int64_t row, double value, double bound) noexcept {
    sums_[0][static_cast<std::size_t>(row)] = value;
    mins_[0][static_cast<std::size_t>(row)] = bound;
  }
  void refresh(c10::ArrayRef<std::int64_t> rows);
  void refresh_all() noexcept;

  // For each mass below sum(): the row behind which the sum of all values up to it is above that mass. All go
  // down the tree side by side, so that one need not wait for the memory of another. The masses are used up.
  void find(double* masses, std::size_t count, std::int64_t* rows) const noexcept;

 private:
  static constexpr std::size_t fan = 16;

  void work_out(std::size_t level, std::size_t node) noexcept;

  std::int64_t rows_;
  std::vector<std::vector<double>> sums_, mins_;  // by level; the first is that of the rows
  std::vector<std::vector<std::uint32_t>> seen_;  // in which turn a node was worked out
  std::uint32_t turn_ = 0;
  std::vector<std::size_t> nodes_;  // scratch of refresh()
};

}  // namespace td
