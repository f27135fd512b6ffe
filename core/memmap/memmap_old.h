// core/memmap/memmap_old.h: the content of a folder that a save replaces.
#pragma once

#include "core/memmap/memmap_plan.h"

#include <string>
#include <vector>

namespace td {

// Paths relative to the folder.
struct OldContent {
  std::vector<std::string> keep;  // files of others, and mappings that stay
  std::vector<std::string> drop;  // the old dictionary's files that the new one lacks
};

// `held` is the open folder `dir`. Throws Code::io if a file that stays would become part of the new
// dictionary.
OldContent old_content(const std::string& dir, int held, const SavePlan& plan);

}  // namespace td
