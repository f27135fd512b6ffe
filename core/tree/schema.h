// core/tree/schema.h: the names of a dictionary, their order, and how to find one.
#pragma once

#include "core/base/key.h"

#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace td {

// Shared by every dictionary made from another by index, view, clone, stack or arithmetic, and then
// never changed: a dictionary whose keys change makes itself a schema of its own first.
//
// Each name has a slot, in the order in which names came. Positions count names from 0 without gaps. A name
// of a long schema that is erased leaves a gap, so that erasing takes no time in proportion to the number of
// names; the slot of a position is then found through sums of counts. Gaps are closed when they are half.
class Schema final : public c10::intrusive_ptr_target {
 public:
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  std::size_t size() const noexcept { return names_.size() - gaps_; }
  const std::string& name(std::size_t i) const noexcept { return names_[slot(i)]; }
  std::uint64_t hash(std::size_t i) const noexcept { return hashes_[slot(i)]; }

  // Position of a name, or npos. Allocates nothing.
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

  // Makes room for n more names; adding as many cannot fail then.
  void reserve(std::size_t n);
  void add(std::string name, std::uint64_t hash) noexcept;

  // Gaps. An owner of values in the order of slots asks for the slot of a value.
  std::size_t slots() const noexcept { return names_.size(); }
  bool has_gaps() const noexcept { return gaps_ != 0; }
  bool is_gap(std::size_t slot) const noexcept { return has_gaps() && gone_[slot]; }
  std::size_t slot(std::size_t i) const noexcept { return gaps_ == 0 ? i : slot_of(i); }

  // Erasing cannot fail. Without prepare_erase() it takes time in proportion to the number of names.
  void prepare_erase();
  // Whether erasing leaves a gap; else the names behind move up.
  bool leaves_gap(std::size_t slot) const noexcept {
    return !counts_.empty() && slot + 1 != names_.size();
  }
  void erase(std::size_t i) noexcept;
  bool has_many_gaps() const noexcept { return 2 * gaps_ > names_.size(); }
  void close_gaps() noexcept;

 private:
  static constexpr std::size_t scan_limit = 12;  // above it a table is quicker than a scan
  static constexpr std::size_t gap_limit = 64;   // up to it names move up
  std::size_t find_in_table(std::string_view name, std::uint64_t hash) const noexcept;
  std::size_t home(std::uint64_t hash) const noexcept;
  std::size_t slot_of(std::size_t i) const noexcept;
  std::size_t position_of(std::size_t slot) const noexcept;
  void grow_table(std::size_t n);               // to hold n names
  void clear_table(std::size_t size) noexcept;  // of a size that it has had
  void enter(std::size_t slot) noexcept;
  void enter_all() noexcept;
  void leave(std::size_t slot) noexcept;
  void count_all() noexcept;

  std::vector<std::string> names_;  // of each slot
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> table_;  // open addressing; slot + 1, 0 is free
  std::size_t gaps_ = 0;
  std::vector<bool> gone_;             // of each slot; empty while there has been no gap
  std::vector<std::uint32_t> counts_;  // a Fenwick tree of the slots that are not gaps; as above
};

using SchemaPtr = c10::intrusive_ptr<Schema>;

}  // namespace td
