// core/tree/walk.h: reading every entry of a tree, or of several trees side by side, without recursion.
#pragma once

#include "core/tree/kinds.h"

#include <vector>

namespace td {

// Calls `f(const Value&)` for every entry, a node before its content. The elements of a lazy stack
// count as its entries. Of a sub-tensordict, the part is walked as it reads.
template <class F>
void visit(const Node& top, F&& f) {
  const NodePtr root =
      top.kind() == NodeKind::sub_tensordict ? dense_form(retain(top)) : retain(top);
  c10::SmallVector<const Node*, 8> pending{root.get()};
  c10::SmallVector<NodePtr, 4> held;
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (const DenseNode* dense = as_dense(node)) {
      for (std::size_t i = 0; i < dense->size(); ++i) {
        const Value& value = dense->value(i);
        f(value);
        if (value.is_node()) pending.push_back(value.node().get());
      }
    } else if (node->kind() == NodeKind::lazy) {
      held.clear();
      node->collect(held);
      for (const NodePtr& element : held) {
        f(Value(element));
        pending.push_back(element.get());
      }
    }
  }
}

// As visit(), in the order in which the entries are printed in a listing (depth first), with the path
// of each: `f(Path, const Value&)`. The path is valid during the call. A nested lazy stack is one
// entry and is not descended into; at the root it is walked as it reads.
template <class F>
void visit_paths(const Node& top, F&& f) {
  const NodePtr root = dense_form(retain(top));
  struct Level {
    const DenseNode* node;
    std::size_t next;
  };
  std::vector<Level> levels;
  PathBuffer path;
  if (const DenseNode* dense = as_dense(root.get())) levels.push_back({dense, 0});
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == level.node->size()) {
      levels.pop_back();
      if (!path.empty()) path.pop_back();
      continue;
    }
    const std::size_t i = level.next++;
    const Value& value = level.node->value(i);
    path.push_back(level.node->name(i));
    f(Path(path), value);
    const DenseNode* inner = value.is_node() ? as_dense(value.node().get()) : nullptr;
    if (inner != nullptr) {
      levels.push_back({inner, 0});  // its name stays on the path until it is done
    } else {
      path.pop_back();
    }
  }
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
