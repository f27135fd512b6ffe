// core/tree/show_leaf.h: names a tensor in messages of operations that walk leaves without paths.
#pragma once

#include "core/tree/node.h"

#include <string>

namespace td {

// The first path to the tensor, or a note that it belongs to a lazy stack.
std::string show_leaf(const Node& root, const at::Tensor& leaf);

}  // namespace td
