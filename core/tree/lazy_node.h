// core/tree/lazy_node.h: LazyStackedTensorDict and NonTensorStack: nodes whose entries are stacked when read.
#pragma once

#include "core/tree/node.h"

#include <vector>

namespace td {

// Dictionaries, possibly with different shapes and keys, whose entries are stacked along a dimension when
// read. Or non-tensor values: one for each element of the batch (Python's NonTensorStack).
class LazyNode final : public Node {
 public:
  // All elements must have the same number of batch dimensions; lazy_stack() checks.
  LazyNode(std::vector<NodePtr> elements, std::int64_t stack_dim, SizesView batch,
           std::optional<c10::Device> device, bool holds_non_tensor = false)
      : Node(holds_non_tensor ? NodeKind::value_stack : NodeKind::lazy, batch, device),
        elements_(std::move(elements)),
        stack_dim_(stack_dim) {}
  ~LazyNode() override;

  const std::vector<NodePtr>& elements() const noexcept { return elements_; }
  std::int64_t stack_dim() const noexcept { return stack_dim_; }
  // Elements are non-tensor values, or stacks of them.
  bool holds_non_tensor() const noexcept { return kind() == NodeKind::value_stack; }

  // Raw changes, for a stack that others cannot see yet: without checks. Otherwise use Changes
  // (core/tree/changes.h).
  void set_element(std::size_t position, NodePtr element) {
    elements_[position] = std::move(element);
  }
  void set_elements(std::vector<NodePtr> elements);  // also updates the batch size

  // Returns the results of `f(const NodePtr&)` for all elements.
  template <class F>
  std::vector<NodePtr> each(F&& f) const {
    std::vector<NodePtr> made;
    made.reserve(elements_.size());
    for (const NodePtr& element : elements_) made.push_back(f(element));
    return made;
  }

  // Returns a stack of other elements with the same batch size, device, names and tensorclass.
  c10::intrusive_ptr<LazyNode> with_elements(std::vector<NodePtr> elements) const;

  // The batch size of these elements, stacked along the same dimension.
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

// Code::shape if an element's batch size has changed since it was stacked.
void require_elements(const LazyNode& lazy);

inline const LazyNode* as_lazy(const Node* node) noexcept {
  const bool stack = node->kind() == NodeKind::lazy || node->kind() == NodeKind::value_stack;
  return stack ? static_cast<const LazyNode*>(node) : nullptr;
}
inline LazyNode* as_lazy(Node* node) noexcept {
  return const_cast<LazyNode*>(as_lazy(static_cast<const Node*>(node)));
}

// A stack of dictionaries, or nullptr.
inline const LazyNode* as_dict_stack(const Node* node) noexcept {
  return node->kind() == NodeKind::lazy ? static_cast<const LazyNode*>(node) : nullptr;
}
// Stacks nodes of any kind lazily. Throws if they do not fit: number of batch dimensions, device, values with
// dictionaries.
c10::intrusive_ptr<LazyNode> lazy_stack(std::vector<NodePtr> elements, std::int64_t dim);

}  // namespace td
