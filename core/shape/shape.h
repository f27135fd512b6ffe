// core/shape/shape.h: more operations on the batch dimensions. All share memory unless they say otherwise.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>
#include <vector>

namespace td {

// Makes one dimension of those from `start` to `end`; copies where no view is possible.
TensorDict flatten(const TensorDict& td, std::int64_t start, std::int64_t end);

// Makes several dimensions of one; at most one size is -1, which is worked out.
TensorDict unflatten(const TensorDict& td, std::int64_t dim, SizesView sizes);

TensorDict move_dims(const TensorDict& td, SizesView from, SizesView to);
TensorDict narrow(const TensorDict& td, std::int64_t dim, std::int64_t start, std::int64_t length);

// Adds dimensions of size 1 in front until there are `dims`.
TensorDict atleast(const TensorDict& td, std::size_t dims);

// What the numbers of a split mean.
enum class Split {
  length,     // one: the length of each part, but for the last
  lengths,    // that of each part
  chunks,     // one: how many parts at most, of equal length but for the last
  parts,      // one: how many parts, some of them longer by one
  positions,  // where each part but the first begins
};
Sizes split_lengths(const TensorDict& td, std::int64_t dim, Split kind, SizesView numbers);
std::vector<TensorDict> split(const TensorDict& td, std::int64_t dim, SizesView lengths);

// The memory of each leaf read as another dtype. The last dimension of a leaf changes when the dtypes
// differ in width; `batch`, when given, is the batch size of the result.
TensorDict view_as(const TensorDict& td, c10::ScalarType dtype, std::optional<SizesView> batch);

// Whether all leaves lie densely, in the order of their dimensions.
bool is_contiguous(const TensorDict& td);

// As TensorDict::contiguous(); dimensions of size 1 get the strides of a tensor that is made dense,
// too, if `canonical`.
TensorDict contiguous(const TensorDict& td, bool canonical);

// Puts what `source` has in place of what `td` has: entries, batch size, device, names. Nested
// dictionaries are shared with the source.
void become(const TensorDict& td, const TensorDict& source);

}  // namespace td
