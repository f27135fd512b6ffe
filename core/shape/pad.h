// core/shape/pad.h: pads dictionaries with a value.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

// Adds positions before and after each dimension, given as pairs from the first dimension on; negative ones
// crop. Non-tensor values become null there. Keeps dimension names.
TensorDict pad(const TensorDict& td, SizesView widths, double value);

struct PadSequenceOptions {
  std::int64_t dim = 0;  // of each tensor
  double value = 0;
  Path masks = {};  // where to store masks of the original positions; empty: nowhere
};

// Stacks dictionaries along a new first dimension, with each tensor padded at its end to the longest. Reads
// lazy stacks. The result has the entries shared by all. A batch dimension grows if tensors are padded along
// it.
TensorDict pad_sequence(c10::ArrayRef<TensorDict> sources, const PadSequenceOptions& options);

}  // namespace td
