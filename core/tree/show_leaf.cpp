#include "core/tree/show_leaf.h"

#include "core/tree/dense_node.h"
#include "core/tree/traverse.h"

namespace td {

std::string show_leaf(const Node& root, const at::Tensor& leaf) {
  struct Place {
    const DenseNode* node;
    Trail::Place trail;
  };
  std::string text = "a tensor of a lazy stack";
  bool found = false;
  Trail trail;
  Traversal<Place> walk;
  if (const DenseNode* dense = as_dense(&root)) walk.add({dense, Trail::root});
  walk.run([&](const Place& at) {
    for (std::size_t i = 0; !found && i < at.node->size(); ++i) {
      const Value& value = at.node->value(i);
      if (!value.is_node()) {
        found = value.tensor().is_same(leaf);
        if (found) text = show_path(trail.path(at.trail, at.node->name(i)));
      } else if (const DenseNode* inner = as_dense(value.node().get())) {
        walk.add_once(inner, {inner, trail.below(at.trail, at.node->name(i))});
      }
    }
  });
  return text;
}

}  // namespace td
