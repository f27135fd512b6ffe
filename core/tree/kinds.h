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

// What follows from the kind of a node alone.
struct KindRow {
  EntryKind entry;         // what it is for the dictionary that holds it
  int number;              // what the C interface calls a dictionary of this kind
  const char* word;        // for messages
  const char* class_name;  // Python's
};
constexpr KindRow kind_rows[] = {
    // in the order of NodeKind
    {EntryKind::dict, 1, "dictionary", "TensorDict"},
    {EntryKind::non_tensor, 4, "non-tensor value", "NonTensorData"},
    {EntryKind::dict, 2, "lazy stack", "LazyStackedTensorDict"},
    {EntryKind::non_tensor, 4, "non-tensor value", "NonTensorStack"},
    {EntryKind::dict, 3, "sub-tensordict", "SubTensorDict"},
    {EntryKind::nested_tensor, 5, "nested tensor", "Tensor"},
};
constexpr const KindRow& row_of(NodeKind kind) noexcept {
  return kind_rows[static_cast<std::size_t>(kind)];
}
inline const KindRow& row_of(const Node& node) noexcept { return row_of(node.kind()); }

// An entry of its own kind, without entries inside it: a non-tensor value, a stack of such, or
// a nested tensor. Only the first two hold JSON: non_tensor_values() refuses the third.
inline bool is_opaque(const Node& node) noexcept { return row_of(node).entry != EntryKind::dict; }
inline bool is_nested_tensor(const Node& node) noexcept {
  return row_of(node).entry == EntryKind::nested_tensor;
}
inline bool is_lazy_stack(const Node& node) noexcept { return node.kind() == NodeKind::lazy; }
// A dictionary that holds its entries.
inline bool holds_entries(const Node& node) noexcept { return node.kind() == NodeKind::dense; }
// An index into another dictionary, whose entries it reads and writes.
inline bool is_part(const Node& node) noexcept { return node.kind() == NodeKind::sub_tensordict; }

// The JSON of a value that is the same for the whole batch; nullptr for every other node.
inline const std::string* one_value(const Node& node) noexcept {
  return node.kind() == NodeKind::non_tensor ? &static_cast<const NonTensorNode&>(node).json()
                                             : nullptr;
}

// Whether a node, or an entry, is a dictionary.
inline bool is_dict(const Node& node) noexcept { return !is_opaque(node); }
inline bool is_dict(const Value& value) noexcept {
  return value.is_node() && is_dict(*value.node());
}

// Whether one pointer alone leads to the node, and from it to each node below: no other handle can change
// any of them.
bool is_sole(const Node& root);

// Whether a lazy stack of dictionaries is among the nodes.
bool has_lazy(const NodePtr& root);

// The node itself when it is dense or no dictionary; else its entries read out, one level deep (nested lazy
// stacks stay lazy). The entries of a sub-tensordict through views share memory with the parent.
inline NodePtr dense_form(const NodePtr& node) {
  return node->kind() == NodeKind::dense ? node : node->dense_form();
}

// A part of another dictionary as its index gives it, lazy stacks unread; any other node as it is.
NodePtr picked_form(const NodePtr& node);

// The elements of a stack; of any other node the node alone.
std::vector<NodePtr> elements_or_self(const NodePtr& node);

// Calls `f(name, value)` for the entries of a dictionary that holds them, or for the elements of a stack under
// their numbers.
template <class F>
void for_each_entry(const Node& node, F&& f) {
  if (const DenseNode* dense = as_dense(&node)) {
    for (std::size_t i = 0; i < dense->size(); ++i) f(dense->name(i), dense->value(i));
  } else if (const LazyNode* lazy = as_lazy(&node)) {
    for (std::size_t k = 0; k < lazy->elements().size(); ++k)
      f(std::to_string(k), Value(lazy->elements()[k]));
  }
}

// The same for a part of another dictionary only; any other node as it is.
inline NodePtr part_form(const NodePtr& node) { return is_part(*node) ? node->dense_form() : node; }

// The same as dense_form(), all levels: no lazy stack of dictionaries is left. Stacks of values stay.
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
