#include "core/tree/schema.h"

#include <algorithm>

namespace td {

// Where the search for a hash starts: its upper bits, since names that differ only at the end differ only
// there.
std::size_t Schema::home(std::uint64_t hash) const noexcept {
  return static_cast<std::size_t>(hash >> __builtin_clzll(table_.size() - 1));
}

std::size_t Schema::find_in_table(std::string_view name, std::uint64_t hash) const noexcept {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = home(hash); table_[at] != 0; at = (at + 1) & mask) {
    const std::size_t slot = table_[at] - 1;
    if (hashes_[slot] == hash && names_[slot] == name) return gaps_ == 0 ? slot : position_of(slot);
  }
  return npos;
}

void Schema::append(std::string_view name, std::uint64_t hash) {
  std::string copy(name);
  reserve(1);
  add(std::move(copy), hash);
}

void Schema::reserve(std::size_t n) {
  const std::size_t slots = names_.size() + n;
  // Doubles the capacity: reserve(slots) would copy for each name.
  if (slots > names_.capacity())
    names_.reserve(std::max(slots, names_.empty() ? 8 : 2 * names_.size()));
  hashes_.reserve(names_.capacity());
  if (!counts_.empty()) {
    gone_.reserve(names_.capacity());
    counts_.reserve(names_.capacity() + 1);
  }
  if (slots > scan_limit && 2 * slots > table_.size()) grow_table(slots);
}

void Schema::add(std::string name, std::uint64_t hash) noexcept {
  const std::size_t n = names_.size() + 1;
  hashes_.push_back(hash);
  names_.push_back(std::move(name));
  if (!table_.empty()) {
    enter(n - 1);
  } else if (n > scan_limit) {  // it was briefly shorter after an erase
    clear_table(table_.capacity());
    enter_all();
  }
  if (counts_.empty()) return;
  // A node of the Fenwick tree counts as many slots as its number's lowest bit.
  std::uint32_t count = 1;
  for (std::size_t part = 1; part < (n & (~n + 1)); part *= 2) count += counts_[n - part];
  gone_.push_back(false);
  counts_.push_back(count);
}

void Schema::prepare_erase() {
  if (names_.size() <= gap_limit || !counts_.empty()) return;
  gone_.reserve(names_.capacity());
  counts_.reserve(names_.capacity() + 1);
  gone_.assign(names_.size(), false);
  counts_.resize(names_.size() + 1);
  count_all();
}

void Schema::erase(std::size_t i) noexcept {
  const std::size_t at = slot(i);
  if (!table_.empty()) leave(at);
  if (leaves_gap(at)) {
    ++gaps_;
    gone_[at] = true;
    names_[at] = std::string();
    for (std::size_t k = at + 1; k < counts_.size(); k += k & (~k + 1)) --counts_[k];
    return;
  }
  if (!counts_.empty()) {
    gone_.pop_back();
    counts_.pop_back();
  }
  if (!table_.empty() && at + 1 != names_.size()) {
    for (std::uint32_t& entry : table_) entry -= entry > at + 1 ? 1 : 0;
  }
  names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(at));
  hashes_.erase(hashes_.begin() + static_cast<std::ptrdiff_t>(at));
  if (names_.size() <= scan_limit && gaps_ == 0) clear_table(0);
}

void Schema::close_gaps() noexcept {
  if (gaps_ == 0) return;
  std::size_t to = 0;
  for (std::size_t from = 0; from < names_.size(); ++from) {
    if (gone_[from]) continue;
    if (to != from) {
      names_[to] = std::move(names_[from]);
      hashes_[to] = hashes_[from];
    }
    ++to;
  }
  names_.resize(to);
  hashes_.resize(to);
  gaps_ = 0;
  if (to > gap_limit) {
    gone_.assign(to, false);
    counts_.resize(to + 1);
    count_all();
  } else {
    gone_.clear();
    counts_.clear();
  }
  clear_table(names_.size() > scan_limit ? table_.size() : 0);
  enter_all();
}

// The number of names before a slot.
std::size_t Schema::position_of(std::size_t slot) const noexcept {
  std::size_t n = 0;
  for (std::size_t k = slot; k != 0; k &= k - 1) n += counts_[k];
  return n;
}

// The slot of the i-th name.
std::size_t Schema::slot_of(std::size_t i) const noexcept {
  std::size_t step = 1;
  while (2 * step < counts_.size()) step *= 2;
  std::size_t slot = 0;
  for (; step != 0; step /= 2) {
    if (slot + step >= counts_.size() || counts_[slot + step] > i) continue;
    slot += step;
    i -= counts_[slot];
  }
  return slot;
}

// Requires that no slot is free.
void Schema::count_all() noexcept {
  for (std::size_t k = 1; k < counts_.size(); ++k) {
    counts_[k] = static_cast<std::uint32_t>(k & (~k + 1));
  }
}

void Schema::grow_table(std::size_t n) {
  std::size_t room = 32;
  while (room < 4 * n) room *= 2;
  table_ = std::vector<std::uint32_t>(room, 0);
  enter_all();
}

void Schema::clear_table(std::size_t size) noexcept { table_.assign(size, 0); }

void Schema::enter_all() noexcept {
  if (table_.empty()) return;
  for (std::size_t slot = 0; slot < names_.size(); ++slot) {
    if (!is_gap(slot)) enter(slot);
  }
}

void Schema::enter(std::size_t slot) noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = home(hashes_[slot]);
  while (table_[at] != 0) at = (at + 1) & mask;
  table_[at] = static_cast<std::uint32_t>(slot + 1);
}

void Schema::leave(std::size_t slot) noexcept {
  const std::size_t mask = table_.size() - 1;
  const auto gone = static_cast<std::uint32_t>(slot + 1);
  std::size_t gap = home(hashes_[slot]);
  while (table_[gap] != gone) gap = (gap + 1) & mask;
  // Moves displaced slots up, so that no search stops at the gap.
  for (std::size_t at = (gap + 1) & mask; table_[at] != 0; at = (at + 1) & mask) {
    const std::size_t wanted = home(hashes_[table_[at] - 1]);
    if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
    table_[gap] = table_[at];
    gap = at;
  }
  table_[gap] = 0;
}

}  // namespace td
