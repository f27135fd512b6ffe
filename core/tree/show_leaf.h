// core/tree/show_leaf.h: where a tensor stands, for messages of operations that go through leaves without paths.
#pragma once

#include "core/tree/node.h"

#include <string>

namespace td {

// The path by which a walk meets the tensor first, or that it is one of a lazy stack.
std::string show_leaf(const Node& root, const at::Tensor& leaf);

}  // namespace td
