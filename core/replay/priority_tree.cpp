#include "core/replay/priority_tree.h"

#include <algorithm>

namespace td {

PriorityTree::PriorityTree(std::int64_t rows) : rows_(rows) {
  std::size_t nodes = static_cast<std::size_t>(rows);
  do {
    nodes = (nodes + fan - 1) / fan;
    // Padded to whole nodes with neutral values.
    sums_.emplace_back(nodes * fan, 0.0);
    mins_.emplace_back(nodes * fan, none);
    seen_.emplace_back(nodes, 0);
  } while (nodes > 1);
  sums_.emplace_back(1, 0.0);
  mins_.emplace_back(1, none);
}

void PriorityTree::work_out(std::size_t level, std::size_t node) noexcept {
  const double* sums = &sums_[level - 1][node * fan];
  const double* mins = &mins_[level - 1][node * fan];
  double sum[4] = {sums[0], sums[1], sums[2], sums[3]};
  double least[4] = {mins[0], mins[1], mins[2], mins[3]};
  for (std::size_t i = 4; i < fan; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) {
      sum[k] += sums[i + k];
      least[k] = mins[i + k] < least[k] ? mins[i + k] : least[k];
    }
  }
  sums_[level][node] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  mins_[level][node] = std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

void PriorityTree::refresh(c10::ArrayRef<std::int64_t> rows) {
  if (++turn_ == 0) {
    for (std::vector<std::uint32_t>& seen : seen_) std::fill(seen.begin(), seen.end(), 0);
    turn_ = 1;
  }
  nodes_.assign(rows.begin(), rows.end());
  for (std::size_t level = 1; level < sums_.size(); ++level) {
    std::vector<std::uint32_t>& seen = seen_[level - 1];
    std::size_t kept = 0;
    for (const std::size_t below : nodes_) {
      const std::size_t node = below / fan;
      if (seen[node] == turn_) continue;
      seen[node] = turn_;
      work_out(level, node);
      nodes_[kept++] = node;
    }
    nodes_.resize(kept);
  }
}

void PriorityTree::refresh_all() noexcept {
  for (std::size_t level = 1; level < sums_.size(); ++level)
    for (std::size_t node = 0; node * fan < sums_[level - 1].size(); ++node) work_out(level, node);
}

namespace {

// Which of four consecutive values the mass falls on; reduces the mass by those before it.
std::size_t fall(double a, double b, double c, double& mass) noexcept {
  const double before[] = {0, a, a + b, (a + b) + c};
  const std::size_t at = std::size_t{mass >= before[1]} + std::size_t{mass >= before[2]} +
                         std::size_t{mass >= before[3]};
  mass -= before[at];
  return at;
}

// Which of sixteen values, without branches on the mass: first the group of four, then the value.
std::size_t fall(const double* sums, double& mass) noexcept {
  const auto four = [&](std::size_t i) {
    return (sums[i] + sums[i + 1]) + (sums[i + 2] + sums[i + 3]);
  };
  const std::size_t first = 4 * fall(four(0), four(4), four(8), mass);
  return first + fall(sums[first], sums[first + 1], sums[first + 2], mass);
}

// Rounding may leave more mass than the sum: take the last value above zero.
std::size_t last_above_zero(const double* sums, std::size_t at) noexcept {
  while (at != 0 && !(sums[at] > 0)) --at;
  return at;
}

}  // namespace

void PriorityTree::find(double* masses, std::size_t count, std::int64_t* rows) const noexcept {
  std::fill_n(rows, count, 0);
  for (std::size_t level = sums_.size() - 1; level-- > 0;) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t node = static_cast<std::size_t>(rows[i]) * fan;
      const double* sums = &sums_[level][node];
      std::size_t at = fall(sums, masses[i]);
      if (!(sums[at] > 0)) at = last_above_zero(sums, at);
      rows[i] = static_cast<std::int64_t>(node + at);
    }
  }
}

}  // namespace td
