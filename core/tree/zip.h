// core/tree/zip.h: combines trees by key: builds one tree, or calls a function for their leaves. Sinks of the
// walk.
#pragma once

#include "core/tensor/assign.h"
#include "core/tree/engine.h"
#include "core/tree/tensordict.h"

#include <optional>
#include <type_traits>

namespace td {

// What zip() makes of the entries at the same key; like BatchOp, for several trees. The derived class must
// define:
// at::Tensor leaf(const Here& here, Tensors tensors) const;   undefined drops the entry
class ZipOp {
 public:
  virtual ~ZipOp() = default;
  virtual Sizes batch(SizesView before) const { return Sizes(before.begin(), before.end()); }
  virtual std::optional<c10::Device> device(const std::optional<c10::Device>& before) const {
    return before;
  }
  // Dimension names and tensorclass, for nodes that have them.
  virtual void tags(const Node& before, Node& after) const { copy_tags(before, after); }
  // A non-tensor value; nullptr for trees that have a tensor or a dictionary there.
  virtual Value data(const Here& here, NodesHere nodes) const;
};

namespace detail {

[[noreturn]] void fail_result(const WalkRules& rules, Path path, SizesView sizes, SizesView batch);

// Builds the result of zip().
template <class Op>
class ZipBuilder : public WalkSink<Take::elements> {
 public:
  using Made = NodePtr;

  ZipBuilder(const WalkRules& rules, const Op& op) : rules_(rules), op_(op) {}

  // A number is computed otherwise in a lazy stack: in the whole it has a dimension.
  std::uintptr_t scope(const Here& here) const { return here.in_stack() ? 1 : 0; }

  void enter(const Here& here, Dicts) {
    const DenseNode& lead = static_cast<const DenseNode&>(here.node());
    auto node = c10::make_intrusive<DenseNode>(lead.schema(), op_.batch(lead.batch()),
                                               op_.device(lead.device()));
    node->reserve(lead.size());
    if (lead.tagged()) op_.tags(lead, *node);
    levels_.push_back({std::move(node), {}, lead.size(), false});
  }
  void enter_lazy(const Here&, const LazyNode&, NodesHere) {
    levels_.push_back({{}, {}, 0, false});
  }

  void leaf(const Here& here, Tensors tensors) {
    at::Tensor result = op_.leaf(here, tensors);
    if (!result.defined()) return skip(here);
    const SizesView batch = levels_.back().dense->batch();
    if (!begins_with(result.sizes(), batch))
      fail_result(rules_, here.path(), result.sizes(), batch);
    put(here, std::move(result));
  }
  void value(const Here& here, NodesHere nodes) {
    Value value = op_.data(here, nodes);
    if (!levels_.empty()) return put(here, std::move(value));
    if (!value.is_node()) fail(Code::unsupported, rules_.what, " of non-tensor values");
    result_ = value.take_node();
  }
  void skip(const Here&) {
    Target& target = levels_.back();
    if (target.left == 0) return;
    --target.left;
    target.dense->push_value(Value());
    target.dropped = true;
  }
  NodePtr leave(const Here& here, bool) {
    NodePtr node = finish(levels_.back(), here.node());
    levels_.pop_back();
    again(here, node);
    return node;
  }
  void again(const Here& here, const NodePtr& node) {
    if (levels_.empty()) {
      result_ = node;
    } else if (levels_.back().dense.defined()) {
      put(here, node);
    } else {
      levels_.back().elements.push_back(node);
    }
  }

  NodePtr take() { return std::move(result_); }

 private:
  struct Target {
    c10::intrusive_ptr<DenseNode> dense;  // for a dictionary
    std::vector<NodePtr> elements;        // for a lazy stack
    std::size_t left;                     // names of the lead without a value yet
    bool dropped;                         // some of them are to be omitted
  };

  void put(const Here& here, Value value) {
    Target& target = levels_.back();
    if (target.left != 0) {
      --target.left;
      target.dense->push_value(std::move(value));
      return;
    }
    if (target.dropped) drop(target);
    target.dense->put(here.name(), std::move(value));
  }

  static void drop(Target& target) {
    auto kept = c10::make_intrusive<DenseNode>(target.dense->batch(), target.dense->device());
    copy_tags(*target.dense, *kept);
    for (std::size_t i = 0; i < target.dense->size(); ++i) {
      const Value& value = target.dense->value(i);
      if (value.is_node() || value.tensor().defined()) kept->put(target.dense->name(i), value);
    }
    target.dense = std::move(kept);
    target.dropped = false;
  }

  NodePtr finish(Target& target, const Node& from) {
    if (target.dense.defined()) {
      if (target.dropped) drop(target);
      return std::move(target.dense);
    }
    auto node = c10::make_intrusive<LazyNode>(std::move(target.elements),
                                              static_cast<const LazyNode&>(from).stack_dim(),
                                              op_.batch(from.batch()), op_.device(from.device()));
    if (from.tagged()) op_.tags(from, *node);
    return node;
  }

  const WalkRules& rules_;
  const Op& op_;
  std::vector<Target> levels_;
  NodePtr result_;
};

// Does not build a tree.
template <class F, Take lazy>
class ZipVisitor : public WalkSink<lazy> {
 public:
  explicit ZipVisitor(F& f) : f_(f) {}
  void leaf(const Here& here, Tensors tensors) { f_(here, tensors); }
  void value(const Here& here, NodesHere nodes) {
    if constexpr (std::is_invocable_v<F&, const Here&, NodesHere>) f_(here, nodes);
  }
  void nested_tensor(const Here& here, const NestedTensorNode& node, NodesHere nodes) {
    if constexpr (std::is_invocable_v<F&, const Here&, const NestedTensorNode&>) {
      f_(here, node);
    } else {
      value(here, nodes);
    }
  }

 private:
  F& f_;
};

}  // namespace detail

// Builds a tree from several, without recursion. Keys are in the order of the first tree, followed by keys
// that only others have. A shared combination of nodes becomes one shared node. Keeps the first tree's schema
// while the keys stay. Batch sizes are the first tree's, changed by `op`; leaves must start with them. A lazy
// first tree gives a lazy stack.
template <class Op>
NodePtr zip(c10::ArrayRef<NodePtr> roots, const Op& op, const WalkRules& rules = {}) {
  detail::ZipBuilder<Op> builder(rules, op);
  walk_beside(roots, builder, rules);
  return builder.take();
}

// Calls `f(const Here&, Tensors)` for the leaves of several trees, without recursion, once for a shared
// combination of nodes. `f` may also take NodesHere, for non-tensor values, or a NestedTensorNode. With
// Take::elements it receives the writable tensors of a lazy stack's elements, which share one path.
template <Take lazy, class F>
void visit_zip(c10::ArrayRef<NodePtr> roots, F&& f, const WalkRules& rules = {}) {
  detail::ZipVisitor<std::remove_reference_t<F>, lazy> visitor(f);
  walk_beside(roots, visitor, rules);
}

}  // namespace td
