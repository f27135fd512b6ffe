// core/tree/copies.h: what copies and conversions ask of the leaves.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

// The dtype shared by all leaves; nullopt if they differ.
std::optional<c10::ScalarType> common_dtype(const TensorDict& td);

// Waits for pending copies between the leaves' devices and `target`.
void wait_for_copies(const Node& source, c10::Device target);

}  // namespace td
