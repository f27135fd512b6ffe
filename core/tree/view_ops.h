// core/tree/view_ops.h: operations on batch dimensions made of plans, and helpers of others. They share memory
// unless stated otherwise.
#pragma once

#include "core/tensor/view_plan.h"
#include "core/tree/tensordict.h"

namespace td {

// Applies a plan to a tree; returns the same node if nothing changes. Keeps the lock and, unless
// `keep_memmap` is false, the flags for mapped and shared memory.
NodePtr apply_plan(const NodePtr& node, const ViewPlan& plan, bool keep_memmap = true);

// Returns `dim` counted from 0; `dims` dimensions exist.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t dims, Code code, SizesView batch);

// Merges the dimensions from `start` to `end`; copies if no view is possible.
TensorDict flatten(const TensorDict& td, std::int64_t start, std::int64_t end);

// Splits a dimension; one size may be -1, which is computed.
TensorDict unflatten(const TensorDict& td, std::int64_t dim, SizesView sizes);

}  // namespace td
