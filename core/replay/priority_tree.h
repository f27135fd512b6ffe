// core/replay/priority_tree.h: a tree over the weights of a ring's rows, with sums and minima.
#pragma once

#include "core/tensor/sizes.h"

#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace td {

// Draws and updates are O(log n). Nodes have 16 children: five levels for a million rows, each one or two
// cache lines, where a binary tree has twenty levels.
// Sums are recomputed from their children, never incremented: rounding errors do not accumulate.
class PriorityTree {
 public:
  // The minimum's value for a row without a priority: that of Python's float32 tree.
  static constexpr double none = std::numeric_limits<float>::max();

  explicit PriorityTree(std::int64_t rows);

  std::int64_t rows() const noexcept { return rows_; }
  double sum() const noexcept { return sums_.back()[0]; }
  double smallest() const noexcept { return mins_.back()[0]; }
  double value(std::int64_t row) const noexcept { return sums_[0][static_cast<std::size_t>(row)]; }
  double bound(std::int64_t row) const noexcept { return mins_[0][static_cast<std::size_t>(row)]; }

  // Sets a row's value in both trees, or one for each. Call refresh() with the same rows before any query.
  void put(std::int64_t row, double value) noexcept { put(row, value, value); }
  void put(std::int64_t row, double value, double bound) noexcept {
    sums_[0][static_cast<std::size_t>(row)] = value;
    mins_[0][static_cast<std::size_t>(row)] = bound;
  }
  // After this, refresh() of at most `rows` rows needs no memory.
  void reserve(std::size_t rows) { nodes_.reserve(rows); }
  void refresh(c10::ArrayRef<std::int64_t> rows);
  void refresh_all() noexcept;

  // For each mass below sum(): the first row at which the running sum exceeds it. Descends for all masses in
  // parallel, to overlap cache misses. Overwrites the masses.
  void find(double* masses, std::size_t count, std::int64_t* rows) const noexcept;

 private:
  static constexpr std::size_t fan = 16;

  void work_out(std::size_t level, std::size_t node) noexcept;

  std::int64_t rows_;
  std::vector<std::vector<double>> sums_, mins_;  // by level; the first holds the rows
  std::vector<std::vector<std::uint32_t>> seen_;  // the last turn in which a node was recomputed
  std::uint32_t turn_ = 0;
  std::vector<std::size_t> nodes_;  // scratch of refresh()
};

}  // namespace td
