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
  Path masks = {};    // where to store masks of the original positions; empty: nowhere
  bool left = false;  // padding stands before the data
  // Paddings of single tensors, instead of `value`.
  c10::ArrayRef<Path> keys = {};
  c10::ArrayRef<double> values = {};
};

// Stacks dictionaries along a new first dimension, with each tensor padded to the longest. Reads lazy stacks. The
// result has the entries shared by all; a value that is no tensor is null where there is padding. A batch dimension
// grows if tensors are padded along it.
TensorDict pad_sequence(c10::ArrayRef<TensorDict> sources, const PadSequenceOptions& options);

struct UnpadSequenceOptions {
  std::int64_t dim = 0;               // of each sample
  const at::Tensor* mask = nullptr;   // [samples, positions], bools, for all tensors
  const TensorDict* masks = nullptr;  // a mask for each tensor
};

// The samples without padding, as a lazy stack of views. Without a mask, the entry "masks" has them, which the result has
// not.
TensorDict unpad_sequence(const TensorDict& padded, const UnpadSequenceOptions& options);

}  // namespace td
