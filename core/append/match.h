// core/append/match.h: a dictionary beside a folder that it shall make longer.
#pragma once

#include "core/record/layout.h"
#include "core/tree/tensordict.h"

#include <utility>
#include <vector>

namespace td {

// What a dictionary brings for the leaves and values of a folder.
struct Sources {
  std::vector<at::Tensor> leaves;                       // one for each of the folder's
  std::vector<std::pair<std::size_t, NodePtr>> values;  // that are no tensors, and their nodes
  std::vector<NodePtr> held;                            // what was read out on the way
};

// Checks that a dictionary has the entries of a folder, no other ones, with their dtypes and sizes, but
// for the first one, and at least one batch dimension.
Sources match(const record::Layout& folder, const TensorDict& td);

}  // namespace td
