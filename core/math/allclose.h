// core/math/allclose.h: comparison by value, with tolerances.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>
#include <string>

namespace td {

// How to compare dictionaries.
struct CloseOptions {
  std::optional<double> relative, absolute;  // unset: by dtype, as in torch.testing
  bool equal_nan = true;
  bool common_keys = false;  // ignores keys that one of them lacks
};

// The first difference, in one line; empty if values are close.
std::string difference(const TensorDict& td, const TensorDict& other, const CloseOptions& options);

}  // namespace td
