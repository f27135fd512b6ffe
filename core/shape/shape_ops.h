// core/shape/shape_ops.h: helpers of the operations on batch dimensions. Internal.
#pragma once

#include "core/tensor/view_plan.h"
#include "core/tree/tensordict.h"

namespace td {

// Applies a plan to a tree; returns the same node if nothing changes. Keeps the lock and, unless
// `keep_memmap` is false, the flags for mapped and shared memory.
NodePtr apply_plan(const NodePtr& node, const ViewPlan& plan, bool keep_memmap = true);

// Returns `dim` counted from 0; `dims` dimensions exist.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t dims, Code code, SizesView batch);

}  // namespace td
