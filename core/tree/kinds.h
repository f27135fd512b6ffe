// core/tree/kinds.h: the kinds of nodes beside the dense one, and how to read or write any of them alike.
#pragma once

#include "core/tensor/index.h"
#include "core/tree/node.h"

#include <string>
#include <vector>

namespace td {

class TensorDict;

// Dictionaries side by side, stacked along a dimension when an entry is read. They may differ in
// shapes and keys. Of values that are no tensors instead of dictionaries: one value for each element
// of the batch (Python's NonTensorStack).
class LazyNode final : public Node {
 public:
  // All elements have as many batch dimensions; checked by lazy_stack().
  LazyNode(std::vector<NodePtr> elements, std::int64_t stack_dim, SizesView batch,
           std::optional<c10::Device> device, bool holds_data = false)
      : Node(NodeKind::lazy, batch, device),
        elements_(std::move(elements)),
        stack_dim_(stack_dim),
        holds_data_(holds_data) {}
  ~LazyNode() override;

  const std::vector<NodePtr>& elements() const noexcept { return elements_; }
  std::int64_t stack_dim() const noexcept { return stack_dim_; }
  // Elements are values that are no tensors, or stacks of such.
  bool holds_data() const noexcept { return holds_data_; }

  // Raw change, for the core only: no check. The batch size follows.
  void set_element(std::size_t position, NodePtr element) {
    elements_[position] = std::move(element);
  }
  void set_elements(std::vector<NodePtr> elements);

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;
  void collect(NodeList& into) const override;
  void surrender(NodeList& pending) noexcept override;
  void release_resources() override;

 private:
  void drop_elements() noexcept;

  std::vector<NodePtr> elements_;
  std::int64_t stack_dim_;
  bool holds_data_;
};

// A window on a part of another dictionary, which it keeps alive (Python's _SubTensorDict). What is
// written to it is written to the part.
class PartNode final : public Node {
 public:
  PartNode(NodePtr parent, std::vector<IndexItem> items, SizesView batch)
      : Node(NodeKind::part, batch, parent->device()),
        parent_(std::move(parent)),
        items_(std::move(items)) {}

  const NodePtr& parent() const noexcept { return parent_; }
  const std::vector<IndexItem>& items() const noexcept { return items_; }

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;
  void collect(NodeList& into) const override;

  void release_resources() override;

 private:
  NodePtr parent_;
  std::vector<IndexItem> items_;
};

inline const LazyNode* as_lazy(const Node* node) noexcept {
  return node->kind() == NodeKind::lazy ? static_cast<const LazyNode*>(node) : nullptr;
}
inline LazyNode* as_lazy(Node* node) noexcept {
  return node->kind() == NodeKind::lazy ? static_cast<LazyNode*>(node) : nullptr;
}
inline const PartNode* as_part(const Node* node) noexcept {
  return node->kind() == NodeKind::part ? static_cast<const PartNode*>(node) : nullptr;
}

// What is an entry of its own kind and has none inside it: a value that is no tensor, a stack of such, or
// a ragged tensor. Only the first two hold JSON: data_values() refuses the third.
inline bool is_data(const Node& node) noexcept {
  return node.kind() == NodeKind::data || node.kind() == NodeKind::ragged ||
         (node.kind() == NodeKind::lazy && static_cast<const LazyNode&>(node).holds_data());
}

// What the C interface calls the kind of a dictionary: 1 dense, 2 lazy stack, 3 window, 4 value, 5
// ragged tensor.
int dict_kind(const Node& node) noexcept;

// Whether one pointer alone leads to the node, and from it to each node below: nobody else can change
// any of them.
bool is_sole(const Node& root);

// Whether structural change is forbidden: a lazy stack is also locked when all its elements are, a
// window when its parent is.
bool is_locked(const Node& node) noexcept;

// What a dictionary of any kind reads as: the node itself when it is dense, else its entries read
// out, one level deep (nested lazy stacks stay lazy). Values that are no tensors come back as they
// are. The entries of a window through views share memory with the parent.
NodePtr dense_form(const NodePtr& node);

// The same, all levels: no lazy stack of dictionaries is left. Stacks of values stay.
NodePtr all_dense(const NodePtr& node);

// An entry of a dictionary of any kind as it reads, or nothing.
std::optional<Value> entry_of(const NodePtr& node, std::string_view name);

// The names of its entries: in their order; of a lazy stack those that all elements have, sorted.
std::vector<std::string> entry_names(const Node& node);

// Stacks nodes of any kind lazily. Throws when they are not alike enough: number of batch
// dimensions, device, values beside dictionaries.
c10::intrusive_ptr<LazyNode> lazy_stack(std::vector<NodePtr> elements, std::int64_t dim);

// Names of dimensions and record type, for a result made by hand. Names only when both have as many
// dimensions. Costs a test of one byte when there are none.
inline void copy_tags(const Node& from, Node& to) {
  if (!from.tagged()) return;
  if (from.record()) to.set_record(from.record());
  if (!from.names().empty() && from.batch().size() == to.batch().size()) to.set_names(from.names());
}

// What an operation in place works on: the dictionary itself, or, for a window through index tensors,
// a copy of the part that commit() writes back. Leaves of lazy stacks are those of the elements.
class InPlace {
 public:
  explicit InPlace(const NodePtr& node);
  const NodePtr& node() const noexcept { return node_; }
  void commit();

 private:
  NodePtr part_;  // set when there is something to write back
  NodePtr node_;
};

}  // namespace td
