// All that is random in a round comes from one row of numbers. So a round can be replayed, and made smaller by
// making the row smaller: 0 is always the plainest choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace attack {

class Choices {
 public:
  // Choices of a round; the row grows as they are made.
  Choices(std::uint64_t seed, std::uint64_t round)
      : state_(mixed(mixed(seed) + round)), live_(true) {}
  // Choices made before; 0 where the row ends.
  explicit Choices(std::vector<std::uint32_t> row) : row_(std::move(row)) {}

  std::int64_t below(std::int64_t n) {
    if (n <= 1) return 0;
    if (at_ == row_.size()) row_.push_back(live_ ? static_cast<std::uint32_t>(next() >> 33) : 0);
    return static_cast<std::int64_t>(row_[at_++] % static_cast<std::uint64_t>(n));
  }
  // True in so many of 100 cases; false is the plain choice.
  bool chance(int percent) { return below(100) >= 100 - percent; }
  // From first to last.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + below(last - first + 1);
  }
  template <class T>
  const T &of(const std::vector<T> &values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
  }

  std::size_t at() const { return at_; }
  void rewind(std::size_t at) { at_ = at; }
  const std::vector<std::uint32_t> &row() const { return row_; }

 private:
  static std::uint64_t mixed(std::uint64_t x) {  // splitmix64
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  std::uint64_t next() { return mixed(state_++); }

  std::uint64_t state_ = 0;
  bool live_ = false;
  std::vector<std::uint32_t> row_;
  std::size_t at_ = 0;
};

}  // namespace attack
