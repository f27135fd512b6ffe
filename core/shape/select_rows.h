// core/shape/select_rows.h: operations whose result is made of rows of the source, in new memory.
#pragma once

#include "core/tree/tensordict.h"

#include <optional>

namespace td {

// Each dimension as often as its count says. tile() takes counts for the last dimensions when there are
// fewer, and adds dimensions in front when there are more.
TensorDict repeat(const TensorDict& td, SizesView counts);
TensorDict tile(const TensorDict& td, SizesView counts);

// Each position of a dimension as often as `repeats` says: one number, or one for each position.
TensorDict repeat_interleave(const TensorDict& td, const at::Tensor& repeats, std::int64_t dim);

// Moves positions towards the end, and those beyond it to the front. Without dimensions there is one
// shift, and the batch is rolled as if it had one dimension.
TensorDict roll(const TensorDict& td, SizesView shifts, std::optional<SizesView> dims);

TensorDict flip(const TensorDict& td, SizesView dims);

// Turns by 90 degrees, k times, from `dim0` towards `dim1`.
TensorDict rot90(const TensorDict& td, std::int64_t k, std::int64_t dim0, std::int64_t dim1);

// As torch.gather along a batch dimension: the batch size of the result is the shape of the index, which
// may be shorter than the batch along the other dimensions.
TensorDict gather(const TensorDict& td, std::int64_t dim, const at::Tensor& index);

// Whether each position of `td` along a dimension is one of those of `reference`, as far as one entry
// tells: a mask. And the positions with all others of equal entry left out, in the order of the values.
at::Tensor is_in(const TensorDict& td, const TensorDict& reference, Path path, std::int64_t dim);
TensorDict remove_duplicates(const TensorDict& td, Path path, std::int64_t dim,
                             at::Tensor* positions = nullptr);

}  // namespace td
