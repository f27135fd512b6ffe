// core/tree/along.h: along one path, through every element of the lazy stacks on the way.
#pragma once

#include "core/tree/kinds.h"
#include "core/tree/traverse.h"

namespace td {

// Calls `f(const NodePtr& node, Path rest)` for the nodes on the way that are no lazy stacks. It gives the node
// under the first name of `rest`, where the walk goes on, or none. Elements that stand in a stack several
// times are met once.
template <class F>
void walk_along(const NodePtr& root, Path path, F&& f) {
  struct Step {
    NodePtr node;
    Path rest;
  };
  Traversal<Step> walk;
  walk.add({root, path});
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
