// core/shape/pad.h: making dictionaries longer by a value.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

// Adds positions before and behind: a pair of numbers for each dimension, from the first on; negative
// ones cut off. Non-tensor values become null there. Names of dimensions are dropped.
TensorDict pad(const TensorDict& td, SizesView widths, double value);

struct PadSequenceOptions {
  std::int64_t dim = 0;  // of each tensor
  double value = 0;
  Path masks = {};  // where masks go that tell what was there from what was added; empty: none
};

// Stacks dictionaries along a new first dimension, each tensor padded behind to the longest. Lazy stacks
// take part as they read. The result has the tensors and dictionaries that all of them have. A batch
// dimension along which tensors are padded grows with them.
TensorDict pad_sequence(c10::ArrayRef<TensorDict> sources, const PadSequenceOptions& options);

}  // namespace td
