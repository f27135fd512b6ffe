// core/shape/select_rows.h: operations whose result copies rows of the source.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

// Repeats each dimension by its count. tile() aligns fewer counts with the last dimensions, and adds leading
// dimensions for further counts.
TensorDict repeat(const TensorDict& td, SizesView counts);
TensorDict tile(const TensorDict& td, SizesView counts);

// Repeats each position of a dimension: one count for all, or one for each.
TensorDict repeat_interleave(const TensorDict& td, const at::Tensor& repeats, std::int64_t dim);

// Moves positions towards the end, wrapping around. Without dimensions, rolls the flattened batch by one
// shift.
TensorDict roll(const TensorDict& td, SizesView shifts, std::optional<SizesView> dims);

TensorDict flip(const TensorDict& td, SizesView dims);

// Rotates by k * 90 degrees, from `dim0` towards `dim1`.
TensorDict rot90(const TensorDict& td, std::int64_t k, std::int64_t dim0, std::int64_t dim1);

// As torch.gather along a batch dimension: the result has the index's shape as batch size, which may be
// smaller than the batch in the other dimensions.
TensorDict gather(const TensorDict& td, std::int64_t dim, const at::Tensor& index);

// Compares one entry: is_in() is a mask of the positions of `td` whose value occurs in `reference`;
// remove_duplicates() keeps one position for each value, sorted by value.
at::Tensor is_in(const TensorDict& td, const TensorDict& reference, Path path, std::int64_t dim);
TensorDict remove_duplicates(const TensorDict& td, Path path, std::int64_t dim,
                             at::Tensor* positions = nullptr);

}  // namespace td
