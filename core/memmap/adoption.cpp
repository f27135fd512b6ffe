#include "core/memmap/adoption.h"

#include "core/tree/nested_tensor.h"
#include "core/tree/traverse.h"

namespace td {

void plan_adoption(Changes& changes, const NodePtr& node, const NodePtr& result) {
  struct Pair {
    const Node* to;
    Node* from;
  };
  changes.lock(node);
  Traversal<Pair> walk;
  walk.add({node.get(), result.get()});
  walk.run([&](const Pair& at) {
    const auto add = [&](const NodePtr& to, const NodePtr& from) {
      walk.add_once({to.get(), from.get()}, {to.get(), from.get()});
    };
    changes.set_device(*at.to, at.from->device());
    changes.set_memmapped(*at.to, true);
    if (!at.from->saved_path().empty()) changes.set_saved_path(*at.to, at.from->saved_path());
    if (const NestedTensorNode* nested_tensor = as_nested_tensor(at.to)) {
      changes.set_tensors(*nested_tensor, NestedTensorPtr::reclaim_copy(as_nested_tensor(at.from)));
    }
    if (const LazyNode* lazy = as_lazy(at.to); lazy != nullptr && !lazy->holds_non_tensor()) {
      for (std::size_t k = 0; k < lazy->elements().size(); ++k) {
        add(lazy->elements()[k], as_lazy(at.from)->elements()[k]);
      }
    }
    const DenseNode* dense = as_dense(at.to);
    for (std::size_t i = 0; dense != nullptr && i < dense->size(); ++i) {
      const Value& value = as_dense(at.from)->value(i);
      if (value.is_node()) {
        add(dense->value(i).node(), value.node());
      } else {
        changes.set(*dense, i, value);
      }
    }
  });
}

}  // namespace td
