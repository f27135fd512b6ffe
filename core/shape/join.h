// core/shape/join.h: stack and cat beyond TensorDict::stack() and TensorDict::cat().
#pragma once

#include "core/tensor/join_tensors.h"
#include "core/tree/tensordict.h"

namespace td {

// The dimension as a number from 0; throws where there is none such, or no source.
std::int64_t join_dim(Join kind, c10::ArrayRef<TensorDict> sources, std::int64_t dim);

// A stack in which dictionaries that differ in keys or shapes are stacked lazily, and only those.
TensorDict maybe_dense_stack(c10::ArrayRef<TensorDict> sources, std::int64_t dim);

// Writes the stack, or what cat makes, into the tensors of `target`. A key that `target` or all sources
// lack is passed over, unless `strict`.
void join_into(const TensorDict& target, Join kind, c10::ArrayRef<TensorDict> sources,
               std::int64_t dim, bool strict);

// Joins entries of one dictionary into a new one there; removes the entries unless they are kept.
void join_entries(const TensorDict& td, Join kind, c10::ArrayRef<Path> entries, Path result,
                  std::int64_t dim, bool keep);

// All tensors of a dictionary as one, in the order of its keys or of their names.
at::Tensor join_leaves(const TensorDict& td, Join kind, std::int64_t dim, bool sorted);

}  // namespace td
