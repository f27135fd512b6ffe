// core/tree/nested_tensor.h: tensors of different shapes as one entry (Python's nested tensors).
#pragma once

#include "core/base/key.h"
#include "core/tree/batch_op.h"
#include "core/tree/kinds.h"

#include <memory>
#include <vector>

namespace td {

class TensorDict;

// The layout that libtorch calls jagged: tensors that differ in the length of one dimension, joined
// along it. Kept for a nested tensor that lies so in a file or a buffer.
struct Jagged {
  at::Tensor values;     // one dimension less than the whole
  at::Tensor lengths;    // undefined: a part ends where the next one begins
  at::Tensor offsets;    // one more than there are parts
  std::int64_t dim = 1;  // of the whole: that in which parts differ
};

// Parts that have as many dimensions and differ in sizes: their values one after the other, row-major,
// and a table of their sizes. The batch size is the number of parts, or that of the dictionary which
// holds it, when it has more dimensions and all parts begin with the others. Never changes.
class NestedTensorNode final : public Node {
 public:
  // `values` of one dimension; `sizes` int64 on the CPU, [parts, dimensions of a part], contiguous.
  // Checked by make_nested_tensor().
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

  // Where parts begin in the values; one more than there are parts.
  const std::vector<std::int64_t>& offsets() const noexcept { return *offsets_; }

  SizesView part_sizes(std::size_t i) const noexcept {
    return {sizes_.data_ptr<std::int64_t>() + i * part_dims(), part_dims()};
  }
  at::Tensor part(std::size_t i) const;  // shares memory

  // The sizes as one tensor would have them: -1 where parts differ.
  Sizes shape() const;

  // The same parts with other values, or on another device.
  c10::intrusive_ptr<NestedTensorNode> with_values(at::Tensor values,
                                                   std::optional<c10::Device> device) const;

  // Raw changes, for a node that nobody else sees yet: the same values and sizes in another place, and that the
  // values are those of a jagged layout.
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

  // Of the same parts.
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

// What the elements of an entry stand in: the tensor, or the values of a nested one; else nullptr.
inline const at::Tensor* elements_of(const Value& value) noexcept {
  if (!value.is_node()) return &value.tensor();
  const NestedTensorNode* nested_tensor = as_nested_tensor(value.node().get());
  return nested_tensor == nullptr ? nullptr : &nested_tensor->values();
}

// Calls `f(const at::Tensor&)` for the tensors that a node itself holds: the leaves of a dictionary, the
// values of a nested tensor.
template <class F>
void for_each_leaf(const Node& node, F&& f) {
  const DenseNode* dense = as_dense(&node);
  for (std::size_t i = 0; dense != nullptr && i < dense->size(); ++i) {
    if (!dense->value(i).is_node()) f(dense->value(i).tensor());
  }
  if (const NestedTensorNode* nested_tensor = as_nested_tensor(&node)) f(nested_tensor->values());
}

// The same, and the table of the sizes of a nested tensor.
template <class F>
void for_each_tensor(const Node& node, F&& f) {
  for_each_leaf(node, f);
  if (const NestedTensorNode* nested_tensor = as_nested_tensor(&node)) f(nested_tensor->sizes());
}

// From values of any shape, read row by row, and sizes [parts, dimensions of a part]. Nothing is copied
// that lies as it should. Code::shape when they do not fit each other.
NestedTensorPtr make_nested_tensor(const at::Tensor& values, const at::Tensor& sizes);

// Elements of a nested tensor of such sizes, on the CPU; Code::shape when they are none.
std::int64_t count_nested_tensor(const at::Tensor& sizes, std::size_t item_bytes);

// From tensors of as many dimensions, one dtype and one device; copied.
NestedTensorPtr make_nested_tensor(c10::ArrayRef<at::Tensor> parts);

// The same with the batch size of the dictionary that will hold it; Code::shape when it does not fit.
NestedTensorPtr for_batch(const NestedTensorNode& node, SizesView batch, const std::string& what);

// To and from the jagged layout. Code::unsupported where parts differ in more than their first dimension;
// `where` begins the messages about a layout that is not sound, Code::format: it may come from a file.
Jagged jagged_of(const NestedTensorNode& node);
NestedTensorPtr from_jagged(Jagged jagged, const std::string& where);

// The nested tensor that a node is; Code::wrong_entry when it is none.
const NestedTensorNode& require_nested_tensor(const NodePtr& node);

// An entry as a nested tensor; Code::wrong_entry when it is another kind of entry.
TensorDict get_nested_tensor(const TensorDict& td, Path path);

// A part; negative positions count from the end.
at::Tensor part_at(const NestedTensorNode& node, std::int64_t position);

// The parts, each padded to the longest of each dimension, stacked; and where there are values: true,
// of the same shape up to the last dimension that differs.
at::Tensor padded(const NestedTensorNode& node, double value, bool left);
at::Tensor padding_mask(const NestedTensorNode& node, bool left);

// For BatchOp::nested_tensor(): an operation on elements, as it acts on the values; and one that moves
// positions, whose parts follow them. The second gives a tensor where one position is left.
template <class F>
Value each_value(const NestedTensorNode& node, const BatchOp& op, F&& f) {
  return NodePtr(node.with_values(f(node.values()), op.device(node.device())));
}
Value rearranged(const NestedTensorNode& node, const BatchOp& op);

// The parts at some positions, from 0: a view where they follow one another.
NestedTensorPtr parts_at(const NestedTensorNode& node, c10::ArrayRef<std::int64_t> positions);

// Same dtype, sizes and values.
bool same_nested_tensor(const NestedTensorNode& a, const NestedTensorNode& b);

}  // namespace td
