// core/math/reduce.h: sums, means and other reductions over batch dimensions, features or everything.
#pragma once

#include "core/tree/tensordict.h"

#include <string>
#include <utility>

namespace td {

enum class Reduction : std::int32_t {
#define TD_REDUCTION(number, NAME, name, flags, doc) name##_op = (number),
#include "core/math/ops.def"
};

// What to reduce.
enum class Over {
  everything,  // each leaf to one value; logsumexp: only the batch dimensions
  dims,        // some batch dimensions
  features,    // each leaf to one value per batch element
};

struct ReduceOptions {
  Over over = Over::everything;
  Sizes dims;  // of the batch; negative ones count from its end
  bool keepdim = false;
  std::optional<c10::ScalarType> dtype = std::nullopt;
  std::int64_t correction = 1;  // for std and var
  double q = 0.5;               // for quantile
  const char* interpolation = "linear";
};

// The result is unlocked. Lazy stacks are read first. Keeps non-tensor values, with the new batch size.
TensorDict reduce(const TensorDict& td, Reduction op, const ReduceOptions& options);

// Values and positions, for min, max, cummin and cummax over one dimension.
std::pair<TensorDict, TensorDict> reduce_pair(const TensorDict& td, Reduction op,
                                              const ReduceOptions& options);

// Reduces across leaves, too: concatenates them flattened, or along the first of the dimensions, or by
// features. Includes keys that only some elements of a lazy stack have.
at::Tensor reduce_leaves(const TensorDict& td, Reduction op, const ReduceOptions& options);

}  // namespace td
