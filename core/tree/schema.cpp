#include "core/tree/schema.h"

namespace td {

// Where the search for a hash begins. The upper bits: names that differ in their last letters only differ
// nowhere else.
std::size_t Schema::home(std::uint64_t hash) const noexcept {
  return static_cast<std::size_t>(hash >> __builtin_clzll(table_.size() - 1));
}

std::size_t Schema::find_in_table(std::string_view name, std::uint64_t hash) const noexcept {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = home(hash); table_[at] != 0; at = (at + 1) & mask) {
    const std::size_t i = table_[at] - 1;
    if (hashes_[i] == hash && names_[i] == name) return i;
  }
  return npos;
}

void Schema::append(std::string_view name, std::uint64_t hash) {
  // Room first, so that nothing below can fail half way. Doubling by hand: reserve(n + 1) would copy
  // everything for each name.
  if (names_.size() == names_.capacity()) names_.reserve(names_.empty() ? 8 : 2 * names_.size());
  hashes_.reserve(names_.capacity());
  std::string copy(name);
  const std::size_t n = names_.size() + 1;
  if (n > scan_limit && 2 * n > table_.size()) grow_table(n);
  hashes_.push_back(hash);
  names_.push_back(std::move(copy));
  if (!table_.empty()) enter(n - 1);
}

void Schema::erase(std::size_t i) noexcept {
  if (!table_.empty()) leave(i);
  names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(i));
  hashes_.erase(hashes_.begin() + static_cast<std::ptrdiff_t>(i));
  if (names_.size() <= scan_limit) table_.clear();
}

void Schema::grow_table(std::size_t n) {
  std::size_t room = 32;
  while (room < 4 * n) room *= 2;
  table_ = std::vector<std::uint32_t>(room, 0);
  for (std::size_t i = 0; i < names_.size(); ++i) enter(i);
}

void Schema::enter(std::size_t i) noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = home(hashes_[i]);
  while (table_[at] != 0) at = (at + 1) & mask;
  table_[at] = static_cast<std::uint32_t>(i + 1);
}

void Schema::leave(std::size_t i) noexcept {
  const std::size_t mask = table_.size() - 1;
  const auto gone = static_cast<std::uint32_t>(i + 1);
  std::size_t gap = home(hashes_[i]);
  while (table_[gap] != gone) gap = (gap + 1) & mask;
  // What was pushed on by others moves up, so that no search stops at the gap.
  for (std::size_t at = (gap + 1) & mask; table_[at] != 0; at = (at + 1) & mask) {
    const std::size_t wanted = home(hashes_[table_[at] - 1]);
    if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
    table_[gap] = table_[at];
    gap = at;
  }
  table_[gap] = 0;
  if (gone == names_.size()) return;
  for (std::uint32_t& position : table_) position -= position > gone ? 1 : 0;
}

}  // namespace td
