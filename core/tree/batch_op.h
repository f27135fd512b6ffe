// core/tree/batch_op.h: an operation that acts on every entry of a tree alike, and the walk that applies it.
#pragma once

#include "core/tree/dense_node.h"
#include "core/tree/traverse.h"

namespace td {

class LazyNode;
class NestedTensorNode;

// What an operation does to a batch size and to a leaf. A new operation is a small final class; the
// walk below is a template over it, so that the leaves of dense nodes cost no virtual call.
class BatchOp {
 public:
  virtual ~BatchOp() = default;
  // Sizes of a node in the result.
  virtual Sizes batch(SizesView before) const = 0;
  virtual at::Tensor leaf(const at::Tensor& before) const = 0;
  virtual std::optional<c10::Device> device(const std::optional<c10::Device>& before) const {
    return before;
  }

  // Whether batch sizes stay as they are. Such an operation acts on each element of a lazy stack.
  virtual bool keeps_batch() const { return false; }

  // Names of dimensions and the tensorclass. Called for the nodes that have any; by default all is
  // taken over, names only by a result of as many dimensions.
  virtual void tags(const Node& before, Node& after) const;

  // A lazy stack. By default its elements one by one if the batch stays, else what it reads as.
  virtual NodePtr lazy(const LazyNode& node) const;

  // A nested tensor. By default there is no answer: Code::unsupported. core/tree/nested_tensor.h has those of operations
  // that copy and of those that move positions, which may leave a single tensor.
  virtual Value nested_tensor(const NestedTensorNode& node) const;

  // What has been made of nodes that stand in several places: known to the outermost map() and to those
  // that it calls for the elements of lazy stacks.
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
    Memo<NodePtr>* operator->() const noexcept { return op_.memo_; }

   private:
    const BatchOp& op_;
    bool outermost_;
    Memo<NodePtr> own_;
  };

 private:
  mutable Memo<NodePtr>* memo_ = nullptr;
};

// What an operation makes of a node that is a nested tensor.
Value nested_tensor_entry(const Node& nested_tensor, const BatchOp& op);

// Applies `op` to a tree, without recursion, in the order of the keys. The schema is shared. A node
// that stands in several places becomes one node that stands in as many.
template <class Op>
NodePtr map(const NodePtr& root, const Op& op) {
  struct Pair {
    const DenseNode* source;
    DenseNode* target;  // held by its parent, or by the result
  };
  Traversal<Pair> walk;
  const BatchOp::Shared memo(op);
  const auto make = [&](const NodePtr& node) -> NodePtr {
    const DenseNode* dense = as_dense(node.get());
    if (dense == nullptr) return node->transform(op);
    auto target = c10::make_intrusive<DenseNode>(dense->schema(), op.batch(dense->batch()),
                                                 op.device(dense->device()));
    if (dense->tagged()) op.tags(*dense, *target);
    walk.add({dense, target.get()});
    return target;
  };
  NodePtr result = make(root);
  walk.run([&](const Pair& at) {
    const std::size_t n = at.source->size();
    at.target->reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Value& value = at.source->value(i);
      require_entry(*at.source, i);
      if (!value.is_node()) {
        at.target->push_value(op.leaf(value.tensor()));
      } else if (const NodePtr& node = value.node(); node->kind() == NodeKind::nested_tensor) {
        at.target->push_value(nested_tensor_entry(*node, op));
      } else {
        at.target->push_value(memo->once(node.get(), [&] { return make(node); }));
      }
    }
  });
  return result;
}

}  // namespace td
