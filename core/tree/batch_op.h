// core/tree/batch_op.h: an operation that treats all entries of a tree alike, and the sink that applies it.
#pragma once

#include "core/tree/kinds.h"
#include "core/tree/leaf_row.h"
#include "core/tree/traverse.h"

namespace td {

class NestedTensorNode;

// What an operation does to a batch size and a leaf. Each operation is a small final class.
class BatchOp {
 public:
  virtual ~BatchOp() = default;
  // The result's sizes for a node.
  virtual Sizes batch(SizesView before) const = 0;
  virtual at::Tensor leaf(const at::Tensor& before) const = 0;
  virtual std::optional<c10::Device> device(const std::optional<c10::Device>& before) const {
    return before;
  }

  // Whether batch sizes stay. Then the operation applies to each element of a lazy stack.
  virtual bool keeps_batch() const { return false; }

  // What makes a leaf of a result when it is first read. Null: leaves are made at once.
  virtual LeafViewPtr later() const { return {}; }

  // Dimension names and tensorclass, for nodes that have them. By default copies both; names only if the
  // number of dimensions stays.
  virtual void tags(const Node& before, Node& after) const;

  // A lazy stack. By default maps its elements if the batch size stays, else reads it.
  virtual NodePtr lazy(const LazyNode& node) const;

  // A value for the whole batch. By default the same value with the result's batch size.
  virtual NodePtr one_value(const NonTensorNode& node) const;

  // A nested tensor; Code::unsupported by default. core/tree/nested_tensor.h helps operations that copy, and
  // those that move positions, which may yield a single tensor.
  virtual Value nested_tensor(const NestedTensorNode& node) const;

  // Results for shared nodes, known to the outermost map() and to nested calls for elements of lazy stacks.
  class Shared {
   public:
    explicit Shared(const BatchOp& op) : op_(op), outermost_(op.memo_ == nullptr) {
      if (outermost_) op.memo_ = &own_;
    }
    ~Shared() {
      if (outermost_) op_.memo_ = nullptr;
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    Memo<NodePtr>& operator*() const noexcept { return *op_.memo_; }

   private:
    const BatchOp& op_;
    bool outermost_;
    Memo<NodePtr> own_;
  };

 private:
  mutable Memo<NodePtr>* memo_ = nullptr;
};

// The operation's result for a nested tensor.
Value nested_tensor_entry(const Node& nested_tensor, const BatchOp& op);

// Applies `op` to a tree, in key order and without recursion. Results share the schema; a shared node becomes
// one shared node.
NodePtr map(const NodePtr& root, const BatchOp& op);

}  // namespace td
