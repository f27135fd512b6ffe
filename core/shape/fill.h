// core/shape/fill.h: dictionaries of the same structure with other values.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

enum class Filling { empty, zeros, ones, full, rand, randn };

struct FillOptions {
  Filling kind = Filling::zeros;
  double value = 0;                      // for Filling::full
  std::optional<c10::ScalarType> dtype;  // unset: each tensor's
  std::optional<c10::Device> device;     // unset: each tensor's
};

// Keeps the batch size; locked if `td` is.
TensorDict filled_like(const TensorDict& td, const FillOptions& options);

// Changes the batch size; keeps feature dimensions.
TensorDict filled_new(const TensorDict& td, SizesView batch, const FillOptions& options);

}  // namespace td
