// core/memmap/adoption.h: turns a dictionary into the result of its save, without a step that can fail.
#pragma once

#include "core/tree/changes.h"

namespace td {

// Puts the entries of `result` into the nodes of a dictionary with the same keys, and locks it.
void plan_adoption(Changes& changes, const NodePtr& node, const NodePtr& result);

}  // namespace td
