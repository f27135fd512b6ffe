// core/shape/fill.h: dictionaries of the same structure with values of another origin.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

enum class Filling { empty, zeros, ones, full, rand, randn };

struct FillOptions {
  Filling kind = Filling::zeros;
  double value = 0;                      // of Filling::full
  std::optional<c10::ScalarType> dtype;  // else that of each tensor
  std::optional<c10::Device> device;     // else that of each tensor
};

// Of the same batch size; locked if `td` is.
TensorDict filled_like(const TensorDict& td, const FillOptions& options);

// Of another batch size; what lies behind the batch dimensions stays.
TensorDict filled_new(const TensorDict& td, SizesView batch, const FillOptions& options);

// What two dictionaries differ in.
struct CloseOptions {
  std::optional<double> relative, absolute;  // else what the dtype allows, as in torch.testing
  bool equal_nan = true;
  bool common_keys = false;  // only keys that both have are compared
};

// The first difference, in one line; empty when values are close.
std::string difference(const TensorDict& td, const TensorDict& other, const CloseOptions& options);

}  // namespace td
