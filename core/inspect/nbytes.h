// core/inspect/nbytes.h: measures over all leaves.
#pragma once

#include "core/tree/tensordict.h"

#include <vector>

namespace td {

// What to measure over all leaves.
enum class Measure {
  elements,       // of all leaves
  elements_once,  // counts a tensor that occurs twice once
  bytes,          // of leaves and their gradients
  bytes_once,
  is_floating_point,  // all leaves have a floating dtype; 1 without leaves
  requires_grad,      // any leaf
  is_pinned,          // all leaves are in pinned memory
};
std::int64_t measure(const TensorDict& td, Measure what);

// Addresses of the leaves' first elements, or of their storages, in the order of keys().
std::vector<std::int64_t> data_pointers(const TensorDict& td, bool storage);

}  // namespace td
