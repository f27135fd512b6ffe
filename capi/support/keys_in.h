// keys_in.h: a list of keys as the core reads it.
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
  }  // NOLINT: stands for the list

 private:
  std::vector<PathIn> owned_;
  std::vector<td::Path> paths_;
};

}  // namespace capi
