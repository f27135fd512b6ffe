// core/nn/written.h: the entries that the modules of a call have written, in order, with lookup by key.
#pragma once

#include "core/nn/key_path.h"
#include "core/tree/kinds.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace td {

struct PathHash {
  std::size_t operator()(Path path) const noexcept {
    std::uint64_t hash = path.size();
    for (const std::string_view name : path) hash = detail::mix(hash, hash_name(name));
    return static_cast<std::size_t>(hash);
  }
};
struct PathEqual {
  bool operator()(Path a, Path b) const noexcept { return a == b; }
};

// Scans a few entries and indexes many, so that a call's cost is linear in its modules.
class Written {
 public:
  struct Entry {
    const KeyPath* key;  // outlives the entry
    Value value;
  };

  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  const Entry& operator[](std::size_t i) const noexcept { return entries_[i]; }
  const Entry* begin() const noexcept { return entries_.begin(); }
  const Entry* end() const noexcept { return entries_.end(); }

  void push(const KeyPath& key, Value value) { entries_.push_back({&key, std::move(value)}); }

  // Lets `f` modify each value; keys stay.
  template <class F>
  void for_each_value(F&& f) {
    for (Entry& entry : entries_) f(entry.value);
  }

  // Drops the entries from `first` on for which `keep(entry)` is false.
  template <class Keep>
  void keep_since(std::size_t first, Keep&& keep) {
    forget_since(first);
    const auto begin = entries_.begin() + first;
    entries_.erase(
        std::remove_if(begin, entries_.end(), [&](const Entry& entry) { return !keep(entry); }),
        entries_.end());
  }
  void drop_before(std::size_t first) {
    forget_since(0);
    entries_.erase(entries_.begin(), entries_.begin() + first);
  }

  // One-based positions of the last entry at a path, and of the last one below it; 0: no entry.
  struct Last {
    std::size_t at = 0, below = 0;
  };
  Last last(Path path) const {
    if (entries_.size() <= scan_limit) return scanned(path);
    for (; indexed_ < entries_.size(); ++indexed_) index(indexed_);
    const auto known = index_.find(path);
    return known == index_.end() ? Last() : known->second;
  }

 private:
  static constexpr std::size_t scan_limit = 16;

  struct Undo {
    std::size_t entry;
    Last* last;  // in index_; its address is stable
    Last before;
  };

  static bool begins_with(Path path, Path with) noexcept {
    return path.size() >= with.size() && path.slice(0, with.size()) == with;
  }

  Last scanned(Path path) const {
    Last found;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Path key = *entries_[i].key;
      if (begins_with(key, path)) (key.size() == path.size() ? found.at : found.below) = i + 1;
    }
    return found;
  }

  void index(std::size_t entry) const {
    const Path key = *entries_[entry].key;
    for (std::size_t n = 1; n <= key.size(); ++n) {
      Last& last = index_[key.slice(0, n)];
      undo_.push_back({entry, &last, last});
      (n == key.size() ? last.at : last.below) = entry + 1;
    }
  }

  void forget_since(std::size_t entry) noexcept {
    for (; !undo_.empty() && undo_.back().entry >= entry; undo_.pop_back())
      *undo_.back().last = undo_.back().before;
    indexed_ = std::min(indexed_, entry);
  }

  c10::SmallVector<Entry, 4> entries_;
  // Covers the first `indexed_` entries; extended on lookup.
  mutable std::unordered_map<Path, Last, PathHash, PathEqual> index_;
  mutable std::vector<Undo> undo_;
  mutable std::size_t indexed_ = 0;
};

}  // namespace td
