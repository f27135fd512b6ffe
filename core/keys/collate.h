// core/keys/collate.h: makes one dictionary of samples.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

struct CollateOptions {
  // Tensors to pad along their first dimension, and with what.
  c10::ArrayRef<Path> pad_keys = {};
  c10::ArrayRef<double> pad_values = {};  // one for each; empty: zeros
  c10::ArrayRef<Path> nested_keys = {};   // tensors that become nested tensors
  Path masks = {};                        // where to store masks of the padded ones; empty: nowhere
};

// Stacks samples along a new first dimension: dense if they are alike, else lazy.
TensorDict collate(c10::ArrayRef<TensorDict> samples, const CollateOptions& options);

}  // namespace td
