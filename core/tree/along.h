// core/tree/along.h: follows one path through all elements of the lazy stacks on it.
#pragma once

#include "core/tree/kinds.h"
#include "core/tree/traverse.h"

namespace td {

// Calls `f(const NodePtr& node, Path rest)` for each node on the path that is not a lazy stack. `f` returns
// the node under the first name of `rest`, to continue there, or null. Visits elements that occur repeatedly
// once.
template <class F>
void walk_along(const NodePtr& root, Path path, F&& f) {
  struct Step {
    NodePtr node;
    Path rest;
  };
  Step first{root, path};
  for (; as_dict_stack(first.node.get()) == nullptr; first.rest = first.rest.slice(1)) {
    first.node = f(first.node, first.rest);
    if (!first.node.defined()) return;
  }
  Traversal<Step> walk;
  walk.add(std::move(first));
  walk.run([&](const Step& at) {
    if (const LazyNode* stack = as_dict_stack(at.node.get())) {
      for (const NodePtr& element : stack->elements())
        walk.add_once(element.get(), {element, at.rest}, at.rest.size());
    } else if (NodePtr below = f(at.node, at.rest); below.defined()) {
      walk.add({std::move(below), at.rest.slice(1)});
    }
  });
}

}  // namespace td
