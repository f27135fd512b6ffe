// core/base/owned_path.h: a path that owns its names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace td {

using OwnedPath = std::vector<std::string>;

// The path as the views that functions take.
inline std::vector<std::string_view> path_view(const OwnedPath& path) {
  return std::vector<std::string_view>(path.begin(), path.end());
}

}  // namespace td
