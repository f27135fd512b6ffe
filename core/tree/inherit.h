// core/tree/inherit.h: flags that a result inherits from its source.
#pragma once

#include "core/tree/node.h"

namespace td {

// Locks the result if the source is locked, and copies the flags for mapped and shared memory.
void inherit_flags(const Node& source, const NodePtr& result, bool memmap = true);

}  // namespace td
