// core/tree/inherit.h: what a result takes over from the dictionary it was made of.
#pragma once

#include "core/tree/node.h"

namespace td {

// The result is locked if the source is, and counts as mapped, or as shared, if the source does.
void inherit_flags(const Node& source, const NodePtr& result, bool memmap = true);

}  // namespace td
