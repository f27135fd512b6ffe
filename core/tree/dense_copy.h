// core/tree/dense_copy.h: copies a tree or graph so that every dictionary is dense.
#pragma once

#include "core/tree/node.h"

#include <c10/util/FunctionRef.h>

#include <optional>

namespace td {

// `form` makes a node dense. `instead` returns a tensor that replaces a value or nested tensor, or an
// undefined one. Shares tensors; copies a shared node once.
NodePtr copy_dense(const NodePtr& root, c10::function_ref<NodePtr(const NodePtr&)> form,
                   c10::function_ref<std::optional<at::Tensor>(const Node&)> instead);

}  // namespace td
