// core/shape/join.h: joins dictionaries with the same keys.
#pragma once

#include "core/tensor/join_tensors.h"
#include "core/tree/tensordict.h"

namespace td {

// Returns `dim` counted from 0. Throws if it is out of range or `sources` is empty.
std::int64_t join_dim(Join kind, c10::ArrayRef<TensorDict> sources, std::int64_t dim);

TensorDict stack(c10::ArrayRef<TensorDict> sources, std::int64_t dim);  // along a new dimension
TensorDict cat(c10::ArrayRef<TensorDict> sources, std::int64_t dim);

// A stack in which nested dictionaries with different keys or shapes become lazy stacks.
TensorDict maybe_dense_stack(c10::ArrayRef<TensorDict> sources, std::int64_t dim);

// Writes the stack or concatenation into the tensors of `target`. Ignores keys that `target` or all sources
// lack, unless `strict`.
void join_into(const TensorDict& target, Join kind, c10::ArrayRef<TensorDict> sources,
               std::int64_t dim, bool strict);

// Joins entries of a dictionary into a new one; removes the entries unless `keep`.
void join_entries(const TensorDict& td, Join kind, c10::ArrayRef<Path> entries, Path result,
                  std::int64_t dim, bool keep);

// Joins all tensors of a dictionary into one, in the order of its keys, or sorted.
at::Tensor join_leaves(const TensorDict& td, Join kind, std::int64_t dim, bool sorted);

}  // namespace td
