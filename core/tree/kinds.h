// core/tree/kinds.h: all kinds of nodes, and questions about them. Each kind answers in its own file.
#pragma once

#include "core/tree/dense_node.h"
#include "core/tree/lazy_node.h"
#include "core/tree/lock.h"
#include "core/tree/non_tensor_node.h"
#include "core/tree/sub_node.h"

#include <string>
#include <vector>

namespace td {

// Properties of a kind.
struct KindRow {
  EntryKind entry;         // what kind of entry it is in its parent
  int number;              // its number in the C interface
  const char* word;        // for messages
  const char* class_name;  // in Python
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

// Whether the node is an entry without entries inside: a non-tensor value, a stack of values, or a nested
// tensor. non_tensor_values() accepts only the first two.
inline bool is_opaque(const Node& node) noexcept { return row_of(node).entry != EntryKind::dict; }
inline bool is_nested_tensor(const Node& node) noexcept {
  return row_of(node).entry == EntryKind::nested_tensor;
}
inline bool is_lazy_stack(const Node& node) noexcept { return node.kind() == NodeKind::lazy; }
// Whether it is a dictionary that holds its entries.
inline bool holds_entries(const Node& node) noexcept { return node.kind() == NodeKind::dense; }
// Whether it is an index into another dictionary, whose entries it reads and writes.
inline bool is_part(const Node& node) noexcept { return node.kind() == NodeKind::sub_tensordict; }

// The value for the whole batch; nullptr for other nodes.
inline const Plain* one_value(const Node& node) noexcept {
  return node.kind() == NodeKind::non_tensor ? &static_cast<const NonTensorNode&>(node).value()
                                             : nullptr;
}

// Whether a node, or an entry, is a dictionary.
inline bool is_dict(const Node& node) noexcept { return !is_opaque(node); }
inline bool is_dict(const Value& value) noexcept {
  return value.is_node() && is_dict(*value.node());
}

// Whether visit_paths() goes through the entries of this one: a dictionary that holds them.
inline bool is_branch(const Value& value) noexcept {
  return value.is_node() && holds_entries(*value.node());
}

// Code::wrong_entry for a value.
void require_dict(const Node& node);
// Code::unsupported with this message: for a part of another dictionary; for a node that does not hold its
// entries.
void require_own(const Node& node, const char* message);
void require_entries(const Node& node, const char* message);

// Whether only one pointer leads to the node and to each node below: no other handle can change them.
bool is_sole(const Node& root);

// Whether the tree has a lazy stack of dictionaries.
bool has_lazy(const NodePtr& root);

// Whether every node of the tree is a dictionary that holds its entries or, if wanted, one value for a batch.
bool is_plain(const Node& root, bool or_values = false);

// The node itself if it is dense or not a dictionary; else its entries, read one level deep. Entries of a
// sub-tensordict that are views share memory with the parent.
inline NodePtr dense_form(const NodePtr& node) {
  return node->kind() == NodeKind::dense ? node : node->dense_form();
}

// A sub-tensordict's part, with lazy stacks unread; other nodes unchanged.
NodePtr picked_form(const NodePtr& node);

// Returns the dictionary behind a part, or the node itself.
const NodePtr& whole_of(const NodePtr& node) noexcept;

// A node of a kind that the caller has asked for. Checked, so that a kind that the caller has forgotten ends
// with Code::internal; for what is no stack Code::wrong_entry.
DenseNode& entries_of(const NodePtr& node);
const LazyNode& stack_of(const Node& node);  // of dictionaries or values
const SubTensorDictNode& part_node(const Node& node);

// The elements and the dimension of a stack of dictionaries or values. Empty for other nodes.
inline c10::ArrayRef<NodePtr> stacked(const Node& node) noexcept {
  const LazyNode* lazy = as_lazy(&node);
  return lazy == nullptr ? c10::ArrayRef<NodePtr>() : lazy->elements();
}
inline std::optional<std::int64_t> stack_dim_of(const Node& node) noexcept {
  const LazyNode* lazy = as_lazy(&node);
  return lazy == nullptr ? std::nullopt : std::optional(lazy->stack_dim());
}
// Whether both are stacks, along the same dimension.
inline bool stacked_alike(const Node& one, const Node& other) noexcept {
  const std::optional<std::int64_t> dim = stack_dim_of(one);
  return dim && dim == stack_dim_of(other);
}

// The elements of a stack, or the node itself.
std::vector<NodePtr> elements_or_self(const NodePtr& node);

// Calls `f(name, value)` for the entries of a dictionary that holds them, or for the numbered elements of a
// stack.
template <class F>
void for_each_entry(const Node& node, F&& f) {
  if (const DenseNode* dense = as_dense(&node)) {
    for (std::size_t i = 0; i < dense->size(); ++i) f(dense->name(i), dense->value(i));
  } else if (const LazyNode* lazy = as_lazy(&node)) {
    for (std::size_t k = 0; k < lazy->elements().size(); ++k)
      f(std::to_string(k), Value(lazy->elements()[k]));
  }
}

// dense_form() of a sub-tensordict; other nodes unchanged.
inline NodePtr part_form(const NodePtr& node) { return is_part(*node) ? node->dense_form() : node; }

// dense_form() on all levels: no lazy stack of dictionaries remains. Stacks of values stay.
NodePtr all_dense(const NodePtr& node);
// The same, or the node itself if it has no lazy stack.
NodePtr without_lazy(const NodePtr& node);

// An entry as it reads, or nullopt.
inline std::optional<Value> entry_of(const NodePtr& node, std::string_view name) {
  return node->entry(name);
}

// The kind of an entry; reads no tensor of a lazy stack.
inline EntryKind kind_below(const NodePtr& node, std::string_view name) {
  return node->entry_kind(name);
}

// The names of the entries, in order; for a lazy stack those of the first that all have.
inline std::vector<std::string> entry_names(const Node& node) { return node.entry_names(); }

}  // namespace td
