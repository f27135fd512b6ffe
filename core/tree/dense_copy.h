// core/tree/dense_copy.h: a copy of a tree, or graph, in which every node that can be read as a dense one is one.
#pragma once

#include "core/tree/kinds.h"
#include "core/tree/memo.h"

#include <optional>
#include <utility>
#include <vector>

namespace td {

// `form` makes of a node the one that is copied: a dense one, or another kind that stays as it is.
// `instead` gives the tensor that takes the place of a node, or nothing. Tensors are shared. A node that
// stands in several places is copied once.
template <class Form, class Instead>
NodePtr copy_dense(const NodePtr& root, const Form& form, const Instead& instead) {
  std::vector<DenseNode*> pending;         // held by the result
  Memo<std::pair<NodePtr, NodePtr>> memo;  // a node and its copy; the first kept for its address
  const auto make = [&](const NodePtr& node) -> NodePtr {
    NodePtr formed = form(node);
    const DenseNode* dense = as_dense(formed.get());
    if (dense == nullptr) return formed;
    NodePtr copy = dense->shallow_copy();
    pending.push_back(as_dense(copy.get()));
    return copy;
  };
  const auto inner = [&](const NodePtr& node) -> NodePtr {
    if (node.use_count() <= 2) return make(node);  // held by the tree and by the copy above it
    if (const auto* made = memo.find(node.get())) return made->second;
    NodePtr copy = make(node);
    memo.add(node.get(), {node, copy});
    return copy;
  };
  NodePtr top = make(root);
  while (!pending.empty()) {
    DenseNode* node = pending.back();
    pending.pop_back();
    for (std::size_t i = 0; i < node->size(); ++i) {
      if (!node->value(i).is_node()) continue;
      const NodePtr& child = node->value(i).node();
      std::optional<at::Tensor> tensor = instead(*child);
      node->set_value(i, tensor ? Value(*std::move(tensor)) : Value(inner(child)));
    }
  }
  return top;
}

}  // namespace td
