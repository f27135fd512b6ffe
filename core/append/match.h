// core/append/match.h: matches a dictionary with the folder that it extends.
#pragma once

#include "core/record/layout.h"
#include "core/tree/tensordict.h"

#include <utility>
#include <vector>

namespace td {

// The dictionary's values for the folder's leaves and non-tensor entries.
struct Sources {
  std::vector<at::Tensor> leaves;                       // one for each leaf of the folder
  std::vector<std::pair<std::size_t, NodePtr>> values;  // non-tensor entries and their nodes
  std::vector<NodePtr> held;                            // keeps temporary nodes alive
};

// Checks that the dictionary has exactly the folder's entries, with their dtypes and sizes except the first
// one, and at least one batch dimension.
Sources match(const record::Layout& folder, const TensorDict& td);

}  // namespace td
