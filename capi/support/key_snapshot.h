// key_snapshot.h: a list of keys as C strings.
#pragma once

#include "arguments.h"

#include <memory>
#include <vector>

namespace capi {

class KeySnapshot {
 public:
  explicit KeySnapshot(td::KeyList list) : list_(std::move(list)) {
    first_.reserve(list_.keys.size());
    for (const td::KeyList::Key& key : list_.keys) {
      first_.push_back(names_.size());
      for (const std::string& name : key.path) names_.push_back(name.c_str());
    }
  }

  std::size_t size() const noexcept { return list_.keys.size(); }
  const char* const* path(std::size_t i) const { return names_.data() + first_[check(i)]; }
  std::size_t path_len(std::size_t i) const { return list_.keys[check(i)].path.size(); }
  td::EntryKind kind(std::size_t i) const { return list_.keys[check(i)].kind; }

 private:
  std::size_t check(std::size_t i) const {
    if (i >= size()) td::fail(td::Code::index, "position ", i, " in a list of ", size(), " keys");
    return i;
  }

  td::KeyList list_;
  std::vector<const char*> names_;
  std::vector<std::size_t> first_;
};

template <>
struct Traits<td_keys> : OwnedTraits<KeySnapshot, Kind::keys> {
  static constexpr const char* name = "list of keys";
};

}  // namespace capi
