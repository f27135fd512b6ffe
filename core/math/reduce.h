// core/math/reduce.h: sums, means and their like over the batch dimensions, over the features, or over all.
#pragma once

#include "core/tree/tensordict.h"

#include <string>
#include <utility>

namespace td {

enum class Reduction : std::int32_t {
#define TD_REDUCTION(number, NAME, name, flags, doc) name##_op = (number),
#include "core/math/ops.def"
};

// What is reduced.
enum class Over {
  everything,  // every leaf to one value; of logsumexp only the batch dimensions
  dims,        // some batch dimensions
  features,    // every leaf to one value for each element of the batch
};

struct ReduceOptions {
  Over over = Over::everything;
  SizesView dims = {};  // of the batch; negative ones count from its end
  bool keepdim = false;
  std::optional<c10::ScalarType> dtype = std::nullopt;
  std::int64_t correction = 1;  // std and var
  double q = 0.5;               // quantile
  const char* interpolation = "linear";
};

// The result is unlocked. A lazy stack is read first. Non-tensor values stay, with the new
// batch size.
TensorDict reduce(const TensorDict& td, Reduction op, const ReduceOptions& options);

// Values and their positions: min, max, cummin and cummax over one dimension.
std::pair<TensorDict, TensorDict> reduce_pair(const TensorDict& td, Reduction op,
                                              const ReduceOptions& options);

// Over all leaves too: they are flattened and put one after the other, those that only some elements of a
// lazy stack have too; or joined along the first of the dimensions, or feature by feature.
at::Tensor reduce_leaves(const TensorDict& td, Reduction op, const ReduceOptions& options);

}  // namespace td
