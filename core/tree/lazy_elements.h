// core/tree/lazy_elements.h: how lazy stacks are made, and the dictionaries at the bottom of nested ones.
#pragma once

#include "core/tree/lazy_node.h"
#include "core/tree/traverse.h"

namespace td {

// lazy_stack(), for nodes on different devices, too, unless `same_device`.
c10::intrusive_ptr<LazyNode> make_lazy(std::vector<NodePtr> elements, std::int64_t dim,
                                       bool same_device);

// Whether `f(const Node&)` holds for all elements of a lazy stack, and for those of stacks nested in it.
// Visits a shared stack once.
template <class F>
bool holds_for_all(const LazyNode& lazy, F&& f) {
  bool all = true;
  Traversal<const LazyNode*> walk;
  walk.add(&lazy);
  walk.run([&](const LazyNode* at) {
    all = all && !at->elements().empty();
    for (const NodePtr& element : at->elements()) {
      if (!all) return;
      const LazyNode* inner = as_lazy(element.get());
      if (inner != nullptr) {
        walk.add_once(inner, inner);
      } else {
        all = f(*element);
      }
    }
  });
  return all;
}

}  // namespace td
