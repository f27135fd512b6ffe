// core/tree/lazy_elements.h: the dictionaries that a lazy stack is made of in the end.
#pragma once

#include "core/tree/lazy_node.h"
#include "core/tree/traverse.h"

namespace td {

// Whether `f(const Node&)` holds for all elements of a lazy stack, and instead of an element that is such a
// stack, for the elements of that one. A nested stack is looked at once, wherever it stands.
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
