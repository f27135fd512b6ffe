// core/nn/key_path.h: keys that a module owns: the entries that it reads and writes.
#pragma once

#include "core/base/key.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace td {

class KeyPath {
 public:
  KeyPath() = default;
  explicit KeyPath(std::vector<std::string> names) : names_(std::move(names)) { view(); }
  explicit KeyPath(Path path) {
    names_.reserve(path.size());
    for (const std::string_view name : path) names_.emplace_back(name);
    view();
  }
  KeyPath(const KeyPath& other) : names_(other.names_) { view(); }
  KeyPath(KeyPath&&) = default;  // the heap keeps the strings in place
  KeyPath& operator=(KeyPath other) noexcept {
    names_.swap(other.names_);
    views_.swap(other.views_);
    return *this;
  }

  operator Path() const noexcept { return views_; }  // NOLINT: implicit by design
  const std::vector<std::string>& names() const noexcept { return names_; }
  const std::string& last() const noexcept { return names_.back(); }

  bool is_dropped() const noexcept { return names_.size() == 1 && names_[0] == "_"; }

  friend bool operator==(const KeyPath& a, const KeyPath& b) noexcept {
    return a.names_ == b.names_;
  }

 private:
  void view() { views_.assign(names_.begin(), names_.end()); }

  std::vector<std::string> names_;
  std::vector<std::string_view> views_;
};

using KeyPaths = std::vector<KeyPath>;

// ["observation"], ["agents", "goal"]: for messages and printing.
std::string show_keys(const KeyPaths& keys);

bool contains(const KeyPaths& keys, const KeyPath& key) noexcept;

// Whether `place` is a prefix of `path`, or equal.
bool leads_through(const KeyPath& path, const KeyPath& place) noexcept;

}  // namespace td
