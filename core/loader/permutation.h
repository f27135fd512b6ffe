// core/loader/permutation.h: pseudo-random numbers from a seed and a position, equal on all platforms.
#pragma once

#include <cstdint>
#include <vector>

namespace td {

// A pseudo-random number from a seed and a position (the last step of SplitMix64).
inline std::uint64_t mixed(std::uint64_t seed, std::uint64_t number) noexcept {
  std::uint64_t x = seed + (number + 1) * 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

__extension__ typedef unsigned __int128
    Wide;  // NOLINT(modernize-use-using): `using` takes no __extension__

// Maps a random number to one below `n`.
inline std::int64_t below(std::uint64_t random, std::int64_t n) noexcept {
  return static_cast<std::int64_t>((Wide{random} * static_cast<std::uint64_t>(n)) >> 64);
}

// A random permutation of the numbers below `n`, with random access from any thread.
// A short one is a table, shuffled by Fisher-Yates. A long one is computed by a Feistel network on the bits
// of `n`, repeated until the result is below `n`: an epoch over a billion rows starts at once and needs no
// memory.
class Permutation {
 public:
  // Up to `longest_table` numbers are a table.
  Permutation(std::int64_t n, std::uint64_t seed,
              std::int64_t longest_table = std::int64_t{1} << 16);

  std::int64_t operator()(std::int64_t place) const noexcept {
    if (!table_.empty()) return table_[static_cast<std::size_t>(place)];
    std::uint64_t x = static_cast<std::uint64_t>(place);
    do {
      x = scrambled(x);
    } while (x >= n_);
    return static_cast<std::int64_t>(x);
  }

 private:
  static constexpr int rounds = 6;

  std::uint64_t scrambled(std::uint64_t x) const noexcept {
    std::uint64_t high = x >> low_bits_, low = x & low_mask_;
    for (int round = 0; round < rounds; round += 2) {
      high ^= hashed(low + keys_[round]) & high_mask_;
      low ^= hashed(high + keys_[round + 1]) & low_mask_;
    }
    return high << low_bits_ | low;
  }
  static std::uint64_t hashed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
    return (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL >> 32;
  }

  std::uint64_t n_;
  int low_bits_ = 0;
  std::uint64_t low_mask_ = 0, high_mask_ = 0;
  std::uint64_t keys_[rounds] = {};
  std::vector<std::int32_t> table_;
};

}  // namespace td
