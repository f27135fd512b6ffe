// core/memmap/adoption.h: a dictionary that becomes the result of a save, without a step that may fail.
#pragma once

#include "core/tree/changes.h"

namespace td {

// Puts the entries of a result into the nodes of a dictionary, which has the same keys, and locks it.
void plan_adoption(Changes& changes, const NodePtr& node, const NodePtr& result);

}  // namespace td
