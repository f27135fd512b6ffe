// core/tree/walk.h: visits every entry of a tree.
#pragma once

#include "core/tree/sink.h"

#include <c10/util/FunctionRef.h>

namespace td {

// Calls `f` for each entry, a node before its content. Elements of a lazy stack count as its entries;
// sub-tensordicts are read. Visits the content of a shared node once.
void visit_values(const Node& top, c10::function_ref<void(const Value&)> f);

// Calls `f` in listing order (depth first); the path is valid during the call. A nested lazy stack is one
// entry and is not entered, unless `lazy` says so; at the root it is read. Follows all paths: see PathLimit.
void visit_paths(const Node& top, c10::function_ref<void(Path, const Value&)> f,
                 Take lazy = Take::whole);

}  // namespace td
