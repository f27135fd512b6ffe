// core/tree/schema.h: the names of a dictionary, their order, and their lookup.
#pragma once

#include "core/base/key.h"

#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace td {

// Shared by dictionaries that result from index, view, clone, stack or arithmetic, and immutable while
// shared: a dictionary copies it before its keys change.
// Each name has a slot, in insertion order. Positions count names from 0 without gaps. Erasing from a long
// schema leaves a gap, to avoid linear time; a Fenwick tree then maps positions to slots. Gaps are closed
// when they make up half.
class Schema final : public c10::intrusive_ptr_target {
 public:
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  std::size_t size() const noexcept { return names_.size() - gaps_; }
  const std::string& name(std::size_t i) const noexcept { return names_[slot(i)]; }
  std::uint64_t hash(std::size_t i) const noexcept { return hashes_[slot(i)]; }

  // The position of a name, or npos. Does not allocate.
  std::size_t find(std::string_view name) const noexcept { return find(name, hash_name(name)); }
  std::size_t find(std::string_view name, std::uint64_t hash) const noexcept {
    if (!table_.empty()) return find_in_table(name, hash);
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      if (hashes_[i] == hash && same_name(names_[i], name)) return i;
    }
    return npos;
  }

  void append(std::string_view name) { append(name, hash_name(name)); }
  void append(std::string_view name, std::uint64_t hash);

  // Makes room for n more names, so that adding them cannot fail.
  void reserve(std::size_t n);
  void add(std::string name, std::uint64_t hash) noexcept;

  // Owners of values in slot order map positions to slots.
  std::size_t slots() const noexcept { return names_.size(); }
  bool has_gaps() const noexcept { return gaps_ != 0; }
  bool is_gap(std::size_t slot) const noexcept { return has_gaps() && gone_[slot]; }
  std::size_t slot(std::size_t i) const noexcept { return gaps_ == 0 ? i : slot_of(i); }

  // Erasing cannot fail. It takes linear time unless prepare_erase() was called.
  void prepare_erase();
  // Whether erasing leaves a gap; otherwise later names move up.
  bool leaves_gap(std::size_t slot) const noexcept {
    return !counts_.empty() && slot + 1 != names_.size();
  }
  void erase(std::size_t i) noexcept;
  bool has_many_gaps() const noexcept { return 2 * gaps_ > names_.size(); }
  void close_gaps() noexcept;

 private:
  static constexpr std::size_t scan_limit = 12;  // above it a table is faster than a scan
  static constexpr std::size_t gap_limit = 64;   // up to it names move up
  std::size_t find_in_table(std::string_view name, std::uint64_t hash) const noexcept;
  std::size_t home(std::uint64_t hash) const noexcept;
  std::size_t slot_of(std::size_t i) const noexcept;
  std::size_t position_of(std::size_t slot) const noexcept;
  void grow_table(std::size_t n);               // for n names
  void clear_table(std::size_t size) noexcept;  // to a size it had before
  void enter(std::size_t slot) noexcept;
  void enter_all() noexcept;
  void leave(std::size_t slot) noexcept;
  void count_all() noexcept;

  std::vector<std::string> names_;  // by slot
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> table_;  // open addressing; slot + 1, 0 is free
  std::size_t gaps_ = 0;
  std::vector<bool> gone_;             // by slot; empty if there were never gaps
  std::vector<std::uint32_t> counts_;  // a Fenwick tree of the used slots; as above
};

using SchemaPtr = c10::intrusive_ptr<Schema>;

}  // namespace td
