// core/tree/kinds.h: nodes of all kinds, and what can be asked of any of them. Each kind has its own file, which
// answers.
#pragma once

#include "core/tree/dense_node.h"
#include "core/tree/lazy_node.h"
#include "core/tree/lock.h"
#include "core/tree/non_tensor_node.h"
#include "core/tree/sub_node.h"

#include <string>
#include <vector>

namespace td {

// What is an entry of its own kind and has none inside it: a non-tensor value, a stack of such, or
// a nested tensor. Only the first two hold JSON: non_tensor_values() refuses the third.
inline bool is_opaque(const Node& node) noexcept {
  return node.kind() == NodeKind::non_tensor || node.kind() == NodeKind::nested_tensor ||
         (node.kind() == NodeKind::lazy && static_cast<const LazyNode&>(node).holds_non_tensor());
}

// Whether an entry is a dictionary.
inline bool is_dict(const Value& value) noexcept {
  return value.is_node() && !is_opaque(*value.node());
}

// What the C interface calls the kind of a dictionary: 1 dense, 2 lazy stack, 3 sub-tensordict, 4 value, 5
// nested tensor.
int dict_kind(const Node& node) noexcept;

// Whether one pointer alone leads to the node, and from it to each node below: nobody else can change
// any of them.
bool is_sole(const Node& root);

// Whether a lazy stack of dictionaries is among the nodes.
bool has_lazy(const NodePtr& root);

// The node itself when it is dense or no dictionary; else its entries read out, one level deep (nested lazy
// stacks stay lazy). The entries of a sub-tensordict through views share memory with the parent.
inline NodePtr dense_form(const NodePtr& node) {
  return node->kind() == NodeKind::dense ? node : node->dense_form();
}

// The same, all levels: no lazy stack of dictionaries is left. Stacks of values stay.
NodePtr all_dense(const NodePtr& node);

// An entry of a dictionary of any kind as it reads, or nothing.
inline std::optional<Value> entry_of(const NodePtr& node, std::string_view name) {
  return node->entry(name);
}

// What kind of entry a name has, without reading a tensor of a lazy stack.
inline EntryKind kind_below(const NodePtr& node, std::string_view name) {
  return node->entry_kind(name);
}

// The names of the entries: in their order; of a lazy stack those that all elements have, sorted.
inline std::vector<std::string> entry_names(const Node& node) { return node.entry_names(); }

}  // namespace td
