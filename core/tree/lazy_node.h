// core/tree/lazy_node.h: LazyStackedTensorDict and NonTensorStack: nodes that are stacked when an entry is read.
#pragma once

#include "core/tree/node.h"

#include <vector>

namespace td {

// Dictionaries side by side, stacked along a dimension when an entry is read. They may differ in
// shapes and keys. Of non-tensor values instead of dictionaries: one value for each element
// of the batch (Python's NonTensorStack).
class LazyNode final : public Node {
 public:
  // All elements have as many batch dimensions; checked by lazy_stack().
  LazyNode(std::vector<NodePtr> elements, std::int64_t stack_dim, SizesView batch,
           std::optional<c10::Device> device, bool holds_non_tensor = false)
      : Node(holds_non_tensor ? NodeKind::value_stack : NodeKind::lazy, batch, device),
        elements_(std::move(elements)),
        stack_dim_(stack_dim) {}
  ~LazyNode() override;

  const std::vector<NodePtr>& elements() const noexcept { return elements_; }
  std::int64_t stack_dim() const noexcept { return stack_dim_; }
  // Elements are non-tensor values, or stacks of such.
  bool holds_non_tensor() const noexcept { return kind() == NodeKind::value_stack; }

  // Raw changes, for a stack that nobody else sees yet: no check. One that others may see is changed through
  // Changes (core/tree/changes.h).
  void set_element(std::size_t position, NodePtr element) {
    elements_[position] = std::move(element);
  }
  void set_elements(std::vector<NodePtr> elements);  // the batch size follows

  // The batch size of a stack of these elements along the same dimension.
  Sizes batch_of(const std::vector<NodePtr>& elements) const;

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;
  NodePtr dense_form() const override;
  std::optional<Value> entry(std::string_view name) const override;
  EntryKind entry_kind(std::string_view name) const override;
  std::vector<std::string> entry_names() const override;
  bool locked_by_others() const noexcept override;
  void collect(HeldNodes& into) const override;
  NodePtr take_node() noexcept override;
  void release_resources() override;

 private:
  friend class Changes;

  std::vector<NodePtr> elements_;
  std::int64_t stack_dim_;
};

// Code::shape when the batch size of an element is no longer what the stack was made of.
void require_elements(const LazyNode& lazy);

inline const LazyNode* as_lazy(const Node* node) noexcept {
  const bool stack = node->kind() == NodeKind::lazy || node->kind() == NodeKind::value_stack;
  return stack ? static_cast<const LazyNode*>(node) : nullptr;
}
inline LazyNode* as_lazy(Node* node) noexcept {
  return const_cast<LazyNode*>(as_lazy(static_cast<const Node*>(node)));
}

// Of dictionaries, not of values.
inline const LazyNode* as_dict_stack(const Node* node) noexcept {
  return node->kind() == NodeKind::lazy ? static_cast<const LazyNode*>(node) : nullptr;
}
// Stacks nodes of any kind lazily. Throws when they are not alike enough: number of batch
// dimensions, device, values beside dictionaries.
c10::intrusive_ptr<LazyNode> lazy_stack(std::vector<NodePtr> elements, std::int64_t dim);

}  // namespace td
