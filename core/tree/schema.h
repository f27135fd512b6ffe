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
class Schema final : public c10::intrusive_ptr_target {
 public:
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  std::size_t size() const noexcept { return names_.size(); }
  const std::string& name(std::size_t i) const noexcept { return names_[i]; }
  std::uint64_t hash(std::size_t i) const noexcept { return hashes_[i]; }

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
  void erase(std::size_t i) noexcept;

 private:
  static constexpr std::size_t scan_limit = 12;  // above it a table is quicker than a scan
  std::size_t find_in_table(std::string_view name, std::uint64_t hash) const noexcept;
  std::size_t home(std::uint64_t hash) const noexcept;
  void grow_table(std::size_t n);  // to hold n names
  void enter(std::size_t i) noexcept;
  void leave(std::size_t i) noexcept;

  std::vector<std::string> names_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> table_;  // open addressing; position + 1, 0 is free
};

using SchemaPtr = c10::intrusive_ptr<Schema>;

}  // namespace td
