// core/tree/batch_op.h: an operation that acts on every entry of a tree alike, and the sink that applies it.
#pragma once

#include "core/tree/engine.h"

namespace td {

class NestedTensorNode;

// What an operation does to a batch size and to a leaf. A new operation is a small final class; the
// sink below is a template over it, so that the leaves of dense nodes cost no virtual call.
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

  // One value for the whole batch. By default the same, with the batch size of the result.
  virtual NodePtr one_value(const NonTensorNode& node) const;

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
    Memo<NodePtr>& operator*() const noexcept { return *op_.memo_; }

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

namespace detail {

// Makes the result of map(). A node that holds its entries is gone through; others know what an operation
// makes of them.
template <class Op>
class Mapping : public WalkSink<Take::whole> {
 public:
  using Made = NodePtr;
  Mapping(const Op& op, Memo<NodePtr>& memo) : op_(op), memo_(memo) {}

  Take meet(const Here& here, NodesHere nodes) {
    if (as_dense(nodes[0]) == nullptr) {
      value(here, nodes);
      return Take::nothing;
    }
    if (here.is_entry()) require_entry(here.holder(), here.index());
    return Take::whole;
  }
  void enter(const Here&, Dicts dicts) {
    const DenseNode& source = *dicts[0];
    auto target = c10::make_intrusive<DenseNode>(source.schema(), op_.batch(source.batch()),
                                                 op_.device(source.device()));
    if (source.tagged()) op_.tags(source, *target);
    target->reserve(source.size());
    DenseNode* const made = target.get();
    if (above_.empty()) {
      result_ = std::move(target);
    } else {
      put(NodePtr(std::move(target)));
    }
    above_.push_back({&source, made});
  }
  void leaf(const Here& here, Tensors tensors) {
    const Level& level = above_.back();
    if (!begins_with(tensors[0]->sizes(), level.source->batch()))
      fail_entry(*level.source, here.index());
    level.target->push_value(op_.leaf(*tensors[0]));
  }
  void value(const Here& here, NodesHere nodes) {
    const Node& node = *nodes[0];
    if (above_.empty()) {
      result_ = node.transform(op_);
      return;
    }
    require_entry(here.holder(), here.index());
    put(node.kind() == NodeKind::nested_tensor
            ? nested_tensor_entry(node, op_)
            : Value(memo_.once(&node, [&] { return node.transform(op_); })));
  }
  NodePtr leave(const Here&, bool again) {
    DenseNode* const made = above_.pop_back_val().target;
    return again ? retain(*made) : NodePtr();
  }
  void again(const Here& here, const NodePtr& made) {
    require_entry(here.holder(), here.index());
    put(made);
  }

  NodePtr take() { return std::move(result_); }

 private:
  struct Level {
    const DenseNode* source;
    DenseNode* target;  // held by its parent, or by the result
  };

  void put(Value value) { above_.back().target->push_value(std::move(value)); }

  const Op& op_;
  Memo<NodePtr>& memo_;
  c10::SmallVector<Level, 4> above_;
  NodePtr result_;
};

}  // namespace detail

// Applies `op` to a tree, without recursion, in the order of the keys. The schema is shared. A node
// that stands in several places becomes one node that stands in as many.
template <class Op>
NodePtr map(const NodePtr& root, const Op& op) {
  const BatchOp::Shared memo(op);
  detail::Mapping<Op> mapping(op, *memo);
  constexpr WalkRules rules = all_entries();
  Walk<detail::Mapping<Op>, 1>(rules, mapping, &*memo).run(root);
  return mapping.take();
}

}  // namespace td
