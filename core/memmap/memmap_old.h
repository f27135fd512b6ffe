// core/memmap/memmap_old.h: what a save finds in a folder that it replaces.
#pragma once

#include "core/memmap/memmap_plan.h"

#include <string>
#include <vector>

namespace td {

// Paths relative to the folder.
struct OldContent {
  std::vector<std::string> keep;  // what is none of the old dictionary's, and kept mappings
  std::vector<std::string> drop;  // the old dictionary's, and not in the new one
};

// `dir` is there, and open as `held`. Throws Code::io where something that stays would be taken for a part of the new
// dictionary.
OldContent old_content(const std::string& dir, int held, const SavePlan& plan);

}  // namespace td
