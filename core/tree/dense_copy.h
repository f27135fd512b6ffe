// core/tree/dense_copy.h: a copy of a tree, or graph, in which every node that can be read as a dense one is one.
#pragma once

#include "core/tree/kinds.h"
#include "core/tree/traverse.h"

#include <optional>
#include <utility>
#include <vector>

namespace td {

// `form` makes of a node the one that is copied: a dense one, or another kind that stays as it is.
// `instead` gives the tensor that takes the place of a node, or nothing. Tensors are shared. A node that
// stands in several places is copied once.
template <class Form, class Instead>
NodePtr copy_dense(const NodePtr& root, const Form& form, const Instead& instead) {
  struct Pair {
    NodePtr source;     // as it reads
    DenseNode* target;  // held by the result
  };
  Traversal<Pair> walk;
  Memo<NodePtr> memo;
  const auto make = [&](const NodePtr& node) -> NodePtr {
    NodePtr formed = form(node);
    const DenseNode* dense = as_dense(formed.get());
    if (dense == nullptr) return formed;
    auto target = c10::make_intrusive<DenseNode>(dense->schema(), dense->batch(), dense->device());
    copy_tags(*dense, *target);
    walk.add({std::move(formed), target.get()});
    return target;
  };
  NodePtr top = make(root);
  walk.run([&](const Pair& at) {
    const DenseNode& source = *as_dense(at.source.get());
    at.target->reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
      const Value& value = source.value(i);
      if (!value.is_node()) {
        at.target->push_value(value);
        continue;
      }
      const NodePtr& node = value.node();
      std::optional<at::Tensor> tensor = instead(*node);
      at.target->push_value(tensor ? Value(*std::move(tensor))
                                   : Value(memo.once(node.get(), [&] { return make(node); })));
    }
  });
  return top;
}

}  // namespace td
