// keys_in.h: converts a list of keys to the type of the core.
#pragma once

#include "arguments.h"

#include <vector>

namespace capi {

class KeysIn {
 public:
  KeysIn(const td_key* keys, std::size_t n, const char* name = "keys") {
    if (n != 0) not_null(keys, name);
    owned_.reserve(n);
    for (std::size_t i = 0; i < n; ++i) owned_.emplace_back(keys[i].path, keys[i].path_len);
    for (const PathIn& path : owned_) paths_.push_back(path);
  }
  operator c10::ArrayRef<td::Path>() const noexcept {
    return paths_;
  }  // NOLINT: implicit on purpose

 private:
  std::vector<PathIn> owned_;
  std::vector<td::Path> paths_;
};

}  // namespace capi

using capi::KeysIn;
