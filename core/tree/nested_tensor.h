// core/tree/nested_tensor.h: tensors of different shapes as one entry (Python's nested tensors).
#pragma once

#include "core/base/key.h"
#include "core/tree/batch_op.h"
#include "core/tree/kinds.h"

#include <memory>
#include <vector>

namespace td {

class TensorDict;

// libtorch's jagged layout: tensors that differ in one dimension, concatenated along it. Kept for nested
// tensors stored in this form in a file or a buffer.
struct Jagged {
  at::Tensor values;     // with one dimension less than the whole
  at::Tensor lengths;    // undefined: each part ends where the next one begins
  at::Tensor offsets;    // one more than parts
  std::int64_t dim = 1;  // of the whole: the dimension in which parts differ
};

// Parts with the same number of dimensions and different sizes: their row-major values, concatenated, and a
// table of sizes. The batch size is the number of parts; if the parent dictionary has more batch dimensions,
// all parts must start with these. Immutable.
class NestedTensorNode final : public Node {
 public:
  // `values`: one dimension; `sizes`: contiguous int64 on the CPU, [parts, dimensions of a part].
  // make_nested_tensor() checks them.
  NestedTensorNode(at::Tensor values, at::Tensor sizes,
                   std::shared_ptr<const std::vector<std::int64_t>> offsets, SizesView batch,
                   std::optional<c10::Device> device)
      : Node(NodeKind::nested_tensor, batch, device),
        values_(std::move(values)),
        sizes_(std::move(sizes)),
        offsets_(std::move(offsets)) {}

  const at::Tensor& values() const noexcept { return values_; }
  const at::Tensor& sizes() const noexcept { return sizes_; }
  std::size_t parts() const noexcept { return offsets_->size() - 1; }
  std::size_t part_dims() const noexcept { return static_cast<std::size_t>(sizes_.size(1)); }

  // Where parts start in the values; one more than parts.
  const std::vector<std::int64_t>& offsets() const noexcept { return *offsets_; }

  SizesView part_sizes(std::size_t i) const noexcept {
    return {sizes_.data_ptr<std::int64_t>() + i * part_dims(), part_dims()};
  }
  at::Tensor part(std::size_t i) const;  // shares memory

  // The shape as one tensor: -1 where parts differ.
  Sizes shape() const;

  // The same parts with other values, or on another device.
  c10::intrusive_ptr<NestedTensorNode> with_values(at::Tensor values,
                                                   std::optional<c10::Device> device) const;

  // Raw changes, for a node that others cannot see yet: moves the same values and sizes elsewhere, or sets
  // their jagged layout.
  void set_tensors(at::Tensor values, at::Tensor sizes) {
    values_ = std::move(values);
    sizes_ = std::move(sizes);
    jagged_.reset();
  }
  void set_jagged(Jagged jagged) { jagged_ = std::make_shared<const Jagged>(std::move(jagged)); }
  const std::shared_ptr<const Jagged>& jagged() const noexcept { return jagged_; }

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;

 private:
  friend class Changes;

  // Both must have the same parts.
  void swap_tensors(NestedTensorNode& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(sizes_, other.sizes_);
    std::swap(jagged_, other.jagged_);
  }

  at::Tensor values_;
  at::Tensor sizes_;
  std::shared_ptr<const std::vector<std::int64_t>> offsets_;
  std::shared_ptr<const Jagged> jagged_;
};

using NestedTensorPtr = c10::intrusive_ptr<NestedTensorNode>;

inline const NestedTensorNode* as_nested_tensor(const Node* node) noexcept {
  return node->kind() == NodeKind::nested_tensor ? static_cast<const NestedTensorNode*>(node)
                                                 : nullptr;
}
inline NestedTensorNode* as_nested_tensor(Node* node) noexcept {
  return node->kind() == NodeKind::nested_tensor ? static_cast<NestedTensorNode*>(node) : nullptr;
}

// The tensor with the entry's elements: the tensor itself, or a nested tensor's values; else nullptr.
inline const at::Tensor* elements_of(const Value& value) noexcept {
  if (!value.is_node()) return &value.tensor();
  const NestedTensorNode* nested_tensor = as_nested_tensor(value.node().get());
  return nested_tensor == nullptr ? nullptr : &nested_tensor->values();
}

// Calls `f(const at::Tensor&)` for the tensors held directly by a node: leaves of a dictionary, values of a
// nested tensor.
template <class F>
void for_each_leaf(const Node& node, F&& f) {
  const DenseNode* dense = as_dense(&node);
  for (std::size_t i = 0; dense != nullptr && i < dense->size(); ++i) {
    if (!dense->value(i).is_node()) f(dense->value(i).tensor());
  }
  if (const NestedTensorNode* nested_tensor = as_nested_tensor(&node)) f(nested_tensor->values());
}

// Returns a tensor of the tree, or nullptr if the tree has no tensors.
const at::Tensor* any_leaf(const NodePtr& root);

// The same, including a nested tensor's table of sizes.
template <class F>
void for_each_tensor(const Node& node, F&& f) {
  for_each_leaf(node, f);
  if (const NestedTensorNode* nested_tensor = as_nested_tensor(&node)) f(nested_tensor->sizes());
}

// From values of any shape, taken row by row, and sizes [parts, dimensions of a part]. Copies only if needed.
// Code::shape if they do not fit.
NestedTensorPtr make_nested_tensor(const at::Tensor& values, const at::Tensor& sizes);

// The number of elements for a CPU table of sizes; Code::shape if it is invalid.
std::int64_t count_nested_tensor(const at::Tensor& sizes, std::size_t item_bytes);

// From tensors with the same number of dimensions, dtype and device; copies.
NestedTensorPtr make_nested_tensor(c10::ArrayRef<at::Tensor> parts);

// The same with its dictionary's batch size; Code::shape if it does not fit.
NestedTensorPtr for_batch(const NestedTensorNode& node, SizesView batch, const std::string& what);

// Conversions to and from the jagged layout. Code::unsupported if parts differ beyond their first dimension;
// Code::format for an invalid layout, possibly from a file; `where` begins the messages.
Jagged jagged_of(const NestedTensorNode& node);
NestedTensorPtr from_jagged(Jagged jagged, const std::string& where);

// The node as a nested tensor; Code::wrong_entry otherwise.
const NestedTensorNode& require_nested_tensor(const NodePtr& node);

// An entry as a nested tensor; Code::wrong_entry otherwise.
TensorDict get_nested_tensor(const TensorDict& td, Path path);

// A part; negative positions count from the end.
at::Tensor part_at(const NestedTensorNode& node, std::int64_t position);

// The parts, padded to the longest in each dimension and stacked; and a mask that is true where there are
// values, up to the last dimension that differs.
at::Tensor padded(const NestedTensorNode& node, double value, bool left);
at::Tensor padding_mask(const NestedTensorNode& node, bool left);

// Implement BatchOp::nested_tensor(): for operations on elements, applied to the values; and for those that
// move positions, whose parts follow. The second returns a tensor if one position remains.
template <class F>
Value each_value(const NestedTensorNode& node, const BatchOp& op, F&& f) {
  return NodePtr(node.with_values(f(node.values()), op.device(node.device())));
}
Value rearranged(const NestedTensorNode& node, const BatchOp& op);

// The parts at some positions, from 0; a view if they are consecutive.
NestedTensorPtr parts_at(const NestedTensorNode& node, c10::ArrayRef<std::int64_t> positions);

// Whether dtype, sizes and values are equal.
bool same_nested_tensor(const NestedTensorNode& a, const NestedTensorNode& b);

}  // namespace td
