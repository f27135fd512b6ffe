// core/shape/shape_ops.h: what the operations on batch dimensions share. For the core's own sources.
#pragma once

#include "core/tensor/view_plan.h"
#include "core/tree/tensordict.h"

namespace td {

// What a plan makes of a tree: the same node when it changes nothing. The result is locked if the
// source is, and counts as mapped or shared as well unless it is told not to.
NodePtr apply_plan(const NodePtr& node, const ViewPlan& plan, bool keep_memmap = true);

// A dimension as a number from 0; `dims` of them exist.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t dims, Code code, SizesView batch);

}  // namespace td
