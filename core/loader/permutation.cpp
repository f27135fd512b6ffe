#include "core/loader/permutation.h"

#include <numeric>
#include <utility>

namespace td {

Permutation::Permutation(std::int64_t n, std::uint64_t seed, std::int64_t longest_table)
    : n_(static_cast<std::uint64_t>(n)) {
  if (n <= longest_table) {
    table_.resize(static_cast<std::size_t>(n));
    std::iota(table_.begin(), table_.end(), 0);
    for (std::int64_t i = n - 1; i > 0; --i) {
      const std::int64_t other = below(mixed(seed, static_cast<std::uint64_t>(i)), i + 1);
      std::swap(table_[static_cast<std::size_t>(i)], table_[static_cast<std::size_t>(other)]);
    }
    return;
  }
  int bits = 0;
  while ((n_ - 1) >> bits != 0) ++bits;
  low_bits_ = bits / 2;
  low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
  high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
  for (int round = 0; round < rounds; ++round)
    keys_[round] = mixed(seed, static_cast<std::uint64_t>(round));
}

}  // namespace td
