// core/base/key.h: names and paths. A path is one name for each level; names are never split.
#pragma once

#include "core/base/span.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace td {

using Path = Span<std::string_view>;

namespace detail {

// 0 before the first use; see make_hash_seed().
inline std::atomic<std::uint64_t> hash_seed{0};
std::uint64_t make_hash_seed() noexcept;

inline std::uint64_t load(const char* at, std::size_t bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, bytes);
  return word;
}
inline std::uint64_t mix(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

}  // namespace detail

// Seeded for each process, so that a hostile file cannot prepare collisions. Names are short: reads eight
// bytes at a time, the last ones as an overlapping word.
inline std::uint64_t hash_name(std::string_view name) noexcept {
  using detail::load;
  using detail::mix;
  std::uint64_t hash = detail::hash_seed.load(std::memory_order_relaxed);
  if (hash == 0) hash = detail::make_hash_seed();
  const char* at = name.data();
  const std::size_t n = name.size();
  hash ^= n;
  if (n >= 8) {
    for (std::size_t i = 0; i + 8 < n; i += 8) hash = mix(hash, load(at + i, 8));
    return mix(hash, load(at + n - 8, 8));
  }
  if (n >= 4) return mix(hash, load(at, 4) << 32 | load(at + n - 4, 4));
  if (n == 0) return mix(hash, 0);
  return mix(hash, load(at, 1) << 16 | load(at + n / 2, 1) << 8 | load(at + n - 1, 1));
}

// Names are short: compares words as above, where memcmp would be a function call.
inline bool same_name(std::string_view a, std::string_view b) noexcept {
  using detail::load;
  const std::size_t n = a.size();
  if (n != b.size()) return false;
  if (n >= 8) {
    for (std::size_t i = 0; i + 8 < n; i += 8) {
      if (load(a.data() + i, 8) != load(b.data() + i, 8)) return false;
    }
    return load(a.data() + n - 8, 8) == load(b.data() + n - 8, 8);
  }
  if (n >= 4) {
    return load(a.data(), 4) == load(b.data(), 4) &&
           load(a.data() + n - 4, 4) == load(b.data() + n - 4, 4);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// Throws Code::key_invalid if the path is empty, or a name has a NUL or invalid UTF-8.
void check_path(Path path);

// "agent"/"obs", for messages.
std::string show_path(Path path);

bool is_utf8(std::string_view text) noexcept;

}  // namespace td
