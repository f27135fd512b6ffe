#include "td/schema.h"

namespace td {

std::size_t Schema::find_in_table(std::string_view name, std::uint64_t hash) const noexcept {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = hash & mask; table_[at] != 0; at = (at + 1) & mask) {
    const std::size_t i = table_[at] - 1;
    if (hashes_[i] == hash && names_[i] == name) return i;
  }
  return npos;
}

void Schema::append(std::string_view name) {
  // Room first, so that nothing below can fail half way. Doubling by hand: reserve(n + 1) would copy
  // everything for each name.
  if (names_.size() == names_.capacity()) names_.reserve(names_.empty() ? 8 : 2 * names_.size());
  hashes_.reserve(names_.capacity());
  std::string copy(name);
  hashes_.push_back(hash_name(name));
  names_.push_back(std::move(copy));
  if (names_.size() <= scan_limit) return;
  if (2 * names_.size() > table_.size()) {
    rebuild_table();
    return;
  }
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hashes_.back() & mask;
  while (table_[at] != 0) at = (at + 1) & mask;
  table_[at] = static_cast<std::uint32_t>(names_.size());
}

void Schema::erase(std::size_t i) {
  names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(i));
  hashes_.erase(hashes_.begin() + static_cast<std::ptrdiff_t>(i));
  if (!table_.empty()) rebuild_table();
}

void Schema::rebuild_table() {
  table_.clear();
  if (names_.size() <= scan_limit) return;
  std::size_t room = 32;
  while (room < 4 * names_.size()) room *= 2;
  table_.assign(room, 0);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    std::size_t at = hashes_[i] & (room - 1);
    while (table_[at] != 0) at = (at + 1) & (room - 1);
    table_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace td
