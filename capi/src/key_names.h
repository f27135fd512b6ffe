// key_names.h: copies keys of options, which the caller may free after the call.
#pragma once

#include "arguments.h"

#include <string>
#include <vector>

namespace capi {

inline std::vector<std::string> key_names(const td_key& key) {
  const PathIn path(key.path, key.path_len);
  const td::Path names = path;
  if (names.empty()) td::fail(td::Code::key_invalid, "a key in the options has no name");
  return {names.begin(), names.end()};
}

inline std::vector<std::vector<std::string>> key_names(const td_key* keys, std::size_t n,
                                                       const char* name) {
  if (n != 0) not_null(keys, name);
  std::vector<std::vector<std::string>> result;
  for (std::size_t i = 0; i < n; ++i) result.push_back(key_names(keys[i]));
  return result;
}

}  // namespace capi
