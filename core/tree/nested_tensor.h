// core/tree/nested_tensor.h: tensors of different shapes as one entry (Python's nested tensors).
#pragma once

#include "core/tree/batch_op.h"
#include "core/base/key.h"
#include "core/tree/kinds.h"

#include <memory>
#include <vector>

namespace td {

class TensorDict;

// The layout that libtorch calls jagged: tensors that differ in the length of one dimension, joined
// along it. Kept for a ragged tensor that lies so in a file or a buffer.
struct Jagged {
  at::Tensor values;     // one dimension less than the whole
  at::Tensor lengths;    // undefined: a part ends where the next one begins
  at::Tensor offsets;    // one more than there are parts
  std::int64_t dim = 1;  // of the whole: that in which parts differ
};

// Parts that have as many dimensions and differ in sizes: their values one after the other, row-major,
// and a table of their sizes. The batch size is the number of parts, or that of the dictionary which
// holds it, when it has more dimensions and all parts begin with the others. Never changes.
class RaggedNode final : public Node {
 public:
  // `values` of one dimension; `sizes` int64 on the CPU, [parts, dimensions of a part], contiguous.
  // Checked by make_ragged().
  RaggedNode(at::Tensor values, at::Tensor sizes,
             std::shared_ptr<const std::vector<std::int64_t>> offsets, SizesView batch,
             std::optional<c10::Device> device)
      : Node(NodeKind::ragged, batch, device),
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
  c10::intrusive_ptr<RaggedNode> with_values(at::Tensor values,
                                             std::optional<c10::Device> device) const;

  // Raw changes, for the core only: the same values and sizes in another place, and that the values are
  // those of a jagged layout.
  void set_tensors(at::Tensor values, at::Tensor sizes) {
    values_ = std::move(values);
    sizes_ = std::move(sizes);
    jagged_.reset();
  }
  void take_place_of(const RaggedNode& other) {
    set_tensors(other.values_, other.sizes_);
    jagged_ = other.jagged_;
  }
  void set_jagged(Jagged jagged) { jagged_ = std::make_shared<const Jagged>(std::move(jagged)); }
  const std::shared_ptr<const Jagged>& jagged() const noexcept { return jagged_; }

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;

 private:
  at::Tensor values_;
  at::Tensor sizes_;
  std::shared_ptr<const std::vector<std::int64_t>> offsets_;
  std::shared_ptr<const Jagged> jagged_;
};

using RaggedPtr = c10::intrusive_ptr<RaggedNode>;

inline const RaggedNode* as_ragged(const Node* node) noexcept {
  return node->kind() == NodeKind::ragged ? static_cast<const RaggedNode*>(node) : nullptr;
}
inline RaggedNode* as_ragged(Node* node) noexcept {
  return node->kind() == NodeKind::ragged ? static_cast<RaggedNode*>(node) : nullptr;
}

// What the elements of an entry stand in: the tensor, or the values of a ragged one; else nullptr.
inline const at::Tensor* elements_of(const Value& value) noexcept {
  if (!value.is_node()) return &value.tensor();
  const RaggedNode* ragged = as_ragged(value.node().get());
  return ragged == nullptr ? nullptr : &ragged->values();
}

// From values of any shape, read row by row, and sizes [parts, dimensions of a part]. Nothing is copied
// that lies as it should. Code::shape when they do not fit each other.
RaggedPtr make_ragged(const at::Tensor& values, const at::Tensor& sizes);

// Elements of a ragged tensor of such sizes, on the CPU; Code::shape when they are none.
std::int64_t count_ragged(const at::Tensor& sizes, std::size_t item_bytes);

// From tensors of as many dimensions, one dtype and one device; copied.
RaggedPtr make_ragged(c10::ArrayRef<at::Tensor> parts);

// The same with the batch size of the dictionary that will hold it; Code::shape when it does not fit.
RaggedPtr for_batch(const RaggedNode& node, SizesView batch, const std::string& what);

// To and from the jagged layout. Code::unsupported where parts differ in more than their first dimension;
// `where` begins the messages about a layout that is not sound, Code::format: it may come from a file.
Jagged jagged_of(const RaggedNode& node);
RaggedPtr from_jagged(Jagged jagged, const std::string& where);

// The ragged tensor that a node is; Code::wrong_entry when it is none.
const RaggedNode& require_ragged(const NodePtr& node);

// An entry as a ragged tensor; Code::wrong_entry when it is another kind of entry.
TensorDict get_ragged(const TensorDict& td, Path path);

// A part; negative positions count from the end.
at::Tensor part_at(const RaggedNode& node, std::int64_t position);

// The parts, each padded to the longest of each dimension, stacked; and where there are values: true,
// of the same shape up to the last dimension that differs.
at::Tensor padded(const RaggedNode& node, double value, bool left);
at::Tensor padding_mask(const RaggedNode& node, bool left);

// For BatchOp::ragged(): an operation on elements, as it acts on the values; and one that moves
// positions, whose parts follow them. The second gives a tensor where one position is left.
template <class F>
Value each_value(const RaggedNode& node, const BatchOp& op, F&& f) {
  return NodePtr(node.with_values(f(node.values()), op.device(node.device())));
}
Value rearranged(const RaggedNode& node, const BatchOp& op);

// The parts at some positions, from 0: a view where they follow one another.
RaggedPtr parts_at(const RaggedNode& node, c10::ArrayRef<std::int64_t> positions);

// Same dtype, sizes and values.
bool same_ragged(const RaggedNode& a, const RaggedNode& b);

}  // namespace td
