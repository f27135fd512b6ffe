// core/tree/mapping.h: how map() of core/tree/batch_op.h builds its result.
#pragma once

#include "core/tree/batch_op.h"
#include "core/tree/engine.h"

namespace td {

namespace detail {

// Builds the result of map(). Enters nodes that hold their entries; others transform themselves.
template <class Op>
class Mapping : public WalkSink<Take::whole> {
 public:
  using Made = NodePtr;
  static constexpr bool leaps = true;
  Mapping(const Op& op, Memo<NodePtr>& memo) : op_(op), memo_(memo), later_(op.later()) {}

  // Whether the result is a view of which nothing is made now. Then there is nothing to walk through.
  bool begin(const Node& root) {
    const DenseNode* const source = later_.defined() ? as_dense(&root) : nullptr;
    if (source == nullptr) return false;
    begun_ = made_of(*source);
    if (begun_.later != DenseNode::Later::all) return false;
    result_ = std::move(begun_.node);
    return true;
  }

  std::size_t leap(std::size_t i) const {
    return above_.back().source->next_now(above_.back().later, i);
  }

  Take meet(const Here& here, NodesHere nodes) {
    if (as_dense(nodes[0]) == nullptr) {
      value(here, nodes);
      return Take::nothing;
    }
    if (here.is_entry()) require_entry(here.holder(), here.index());
    return Take::whole;
  }
  void enter(const Here& here, Dicts dicts) {
    const DenseNode& source = *dicts[0];
    auto [target, later] = begun_.node.defined() ? std::move(begun_) : made_of(source);
    DenseNode* const made = target.get();
    if (above_.empty()) {
      result_ = std::move(target);
    } else {
      put(here, NodePtr(std::move(target)));
    }
    above_.push_back({&source, made, later});
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
    put(here, node.kind() == NodeKind::nested_tensor
                  ? nested_tensor_entry(node, op_)
                  : Value(memo_.once(&node, [&] { return node.transform(op_); })));
  }
  NodePtr leave(const Here&, bool again) {
    DenseNode* const made = above_.pop_back_val().target;
    return again ? retain(*made) : NodePtr();
  }
  void again(const Here& here, const NodePtr& made) {
    require_entry(here.holder(), here.index());
    put(here, made);
  }

  NodePtr take() { return std::move(result_); }

 private:
  struct Level {
    const DenseNode* source;
    DenseNode* target;  // held by its parent, or by the result
    DenseNode::Later later;
  };

  DenseNode::View made_of(const DenseNode& source) const {
    const auto batch_of = [this](SizesView before) { return op_.batch(before); };
    DenseNode::View made =
        source.viewed(later_, 0, batch_of(source.batch()), op_.device(source.device()), batch_of);
    if (source.tagged()) op_.tags(source, *made.node);
    return made;
  }

  void put(const Here& here, Value value) {
    const Level& level = above_.back();
    level.target->place(level.later, here.index(), std::move(value));
  }

  const Op& op_;
  Memo<NodePtr>& memo_;
  LeafViewPtr later_;
  c10::SmallVector<Level, 4> above_;
  DenseNode::View begun_{};  // the root's, until the walk enters it
  NodePtr result_;
};

}  // namespace detail

// As map(), without virtual calls: for views, which take so little time that these would count.
template <class Op>
NodePtr map_by(const NodePtr& root, const Op& op) {
  const BatchOp::Shared memo(op);
  detail::Mapping<Op> mapping(op, *memo);
  constexpr WalkRules rules = all_entries();
  if (!mapping.begin(*root)) Walk<detail::Mapping<Op>, 1>(rules, mapping, &*memo).run(root);
  return mapping.take();
}

}  // namespace td
