// core/tree/walk.h: reading every entry of a tree.
#pragma once

#include "core/tree/kinds.h"
#include "core/tree/traverse.h"

#include <vector>

namespace td {

// Calls `f(const Value&)` for every entry, a node before its content. The elements of a lazy stack
// count as its entries. Of a sub-tensordict, what it reads as is walked. The content of a node that stands in
// several places is walked once.
template <class F>
void visit_values(const Node& top, F&& f) {
  const NodePtr root =
      top.kind() == NodeKind::sub_tensordict ? dense_form(retain(top)) : retain(top);
  Traversal<const Node*> walk;
  walk.add(root.get());
  walk.run([&](const Node* node) {
    if (const DenseNode* dense = as_dense(node)) {
      for (std::size_t i = 0; i < dense->size(); ++i) {
        const Value& value = dense->value(i);
        f(value);
        if (value.is_node()) walk.add_once(value.node().get(), value.node().get());
      }
    } else if (const LazyNode* lazy = as_lazy(node)) {
      for (const NodePtr& element : lazy->elements()) {
        walk.add_once(element.get(), element.get());
        f(Value(element));
      }
    }
  });
}

// As visit_values(), in the order in which the entries are printed in a listing (depth first), with the path
// of each: `f(Path, const Value&)`. The path is valid during the call. A nested lazy stack is one
// entry and is not descended into; at the root it is walked as it reads. Goes along all paths: see PathLimit.
template <class F>
void visit_paths(const Node& top, F&& f) {
  const NodePtr root = dense_form(retain(top));
  if (as_dense(root.get()) == nullptr) return;
  struct Level {
    const DenseNode* node;
    std::size_t next;
  };
  Traversal<Level> walk;
  PathLimit limit(*root);
  PathBuffer path;
  walk.add({as_dense(root.get()), 0});
  walk.run_in_order(
      [&](Level& level) {
        if (level.next == level.node->size()) return false;
        const std::size_t i = level.next++;
        const Value& value = level.node->value(i);
        path.push_back(level.node->name(i));
        f(Path(path), value);
        const DenseNode* inner = value.is_node() ? as_dense(value.node().get()) : nullptr;
        if (inner == nullptr) {
          path.pop_back();
          return true;
        }
        limit.enter(*inner);
        walk.add({inner, 0});  // its name stays on the path until it is done
        return true;
      },
      [&](const Level&) {
        if (!path.empty()) path.pop_back();
      });
}

// Where the entries of `first` stand in `other`: no look-up at all when the schema is the same one.
// A name that is missing gives Schema::npos.
class KeyMatch {
 public:
  KeyMatch(const DenseNode& first, const DenseNode& other)
      : first_(first), other_(other), same_(first.schema() == other.schema()) {}
  std::size_t operator()(std::size_t i) const {
    if (same_) return i;
    // Dictionaries that were filled alike have their names in the same order.
    const std::string& name = first_.name(i);
    return i < other_.size() && same_name(other_.name(i), name) ? i : other_.schema()->find(name);
  }

 private:
  const DenseNode& first_;
  const DenseNode& other_;
  bool same_;
};

}  // namespace td
