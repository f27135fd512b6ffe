// core/datasets/minari_text.h: metadata.json of Minari, as it is written.
#pragma once

#include "core/datasets/save.h"

#include <string>
#include <vector>

namespace td::datasets {

struct MinariTotals {
  std::int64_t episodes = 0, steps = 0;
  double megabytes = 0;
  bool has_files = false;
  std::string observations, actions;  // spaces
  std::vector<Plain> made;            // names of those that are made of the values
};

// A member of metadata.json by which we know spaces that may still grow.
inline constexpr const char* made_mark = "tensordict_made_spaces";

// `folder` is that of the set, whose name is the last part of its ID.
std::string metadata_text(const TensorDict& metadata, const MinariTotals& totals,
                          const std::string& folder);

}  // namespace td::datasets
