#include "core/tree/zip.h"

#include "core/tensor/assign.h"
#include "core/tree/engine.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/tensordict.h"

namespace td {

Value ZipOp::data(const Here&, NodesHere nodes) const {
  for (const Node* node : nodes) {
    if (node != nullptr) return node->shallow_copy();
  }
  fail(Code::internal, "an entry that no tree has");
}

namespace detail {

namespace {

std::string show_place(Path path) {
  return path.empty() ? std::string("the dictionary") : show_path(path);
}

}  // namespace

void fail_missing(const WalkRules& rules, Path path, std::size_t tree) {
  const char* const where = tree == 0 ? "the first dictionary" : "the other dictionary";
  fail(Code::key_not_found, rules.what, " needs dictionaries of the same keys: ", show_path(path),
       " is not in ", where);
}

void refuse_nested_tensor(const WalkRules& rules, Path path, NodesHere nodes) {
  if (rules.nested_tensor) return;
  for (const Node* node : nodes) {
    if (node == nullptr || node->kind() != NodeKind::nested_tensor) continue;
    fail(Code::unsupported, rules.what, ": ", show_place(path),
         " is a nested tensor, which cannot take part; pad it or take its parts");
  }
}

const NestedTensorNode& nested_tensor_of(const Node& node) noexcept {
  return static_cast<const NestedTensorNode&>(node);
}

void fail_mixed(const WalkRules& rules, Path path) {
  fail(Code::wrong_entry, rules.what, ": ", show_place(path),
       " is not of the same kind (tensor, dictionary or value) in all dictionaries");
}

std::vector<NodePtr> parts_beside(const WalkRules& rules, Path path, const LazyNode& lazy,
                                  const Node& other) {
  if (lazy.batch() != other.batch()) {
    fail(Code::shape, rules.what, ": ", show_place(path), " has batch size ",
         show_sizes(lazy.batch()), " in one dictionary and ", show_sizes(other.batch()),
         " in another");
  }
  std::vector<NodePtr> parts;
  for (const TensorDict& part : TensorDict(retain(other)).unbind(lazy.stack_dim()))
    parts.push_back(part.node());
  return parts;
}

}  // namespace detail

namespace {

[[noreturn]] void fail_result(const WalkRules& rules, Path path, SizesView sizes, SizesView batch) {
  fail(Code::shape, rules.what, ": the result for ", show_path(path), " has shape ",
       show_sizes(sizes), ", which does not begin with the batch size ", show_sizes(batch));
}

// Builds the result of zip().
class ZipBuilder : public WalkSink<Take::elements> {
 public:
  using Made = NodePtr;

  ZipBuilder(const WalkRules& rules, const ZipOp& op) : rules_(rules), op_(op) {}

  // A number is computed otherwise in a lazy stack: in the whole it has a dimension.
  std::uintptr_t scope(const Here& here) const { return here.in_stack() ? 1 : 0; }

  void enter(const Here& here, Dicts) {
    const DenseNode& lead = static_cast<const DenseNode&>(here.node());
    auto node = c10::make_intrusive<DenseNode>(lead.shared_schema(), op_.batch(lead.batch()),
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
  const ZipOp& op_;
  std::vector<Target> levels_;
  NodePtr result_;
};

// Does not build a tree.
class Visit : public WalkSink<Take::whole> {
 public:
  Visit(Take lazy, ZipVisitor& visitor) : lazy_(lazy), visitor_(visitor) {}
  Take meet(const Here&, NodesHere) const { return lazy_; }
  void leaf(const Here& here, Tensors tensors) { visitor_.leaf(here, tensors); }
  void value(const Here& here, NodesHere nodes) { visitor_.value(here, nodes); }
  void nested_tensor(const Here& here, const NestedTensorNode& node, NodesHere nodes) {
    visitor_.nested_tensor(here, node, nodes);
  }

 private:
  const Take lazy_;
  ZipVisitor& visitor_;
};

}  // namespace

NodePtr zip(c10::ArrayRef<NodePtr> roots, const ZipOp& op, const WalkRules& rules) {
  ZipBuilder builder(rules, op);
  walk_beside(roots, builder, rules);
  return builder.take();
}

void visit_zip(c10::ArrayRef<NodePtr> roots, Take lazy, ZipVisitor& visitor,
               const WalkRules& rules) {
  Visit visit(lazy, visitor);
  walk_beside(roots, visit, rules);
}

void visit_zip(c10::ArrayRef<NodePtr> roots, Take lazy,
               c10::function_ref<void(const Here&, Tensors)> leaf, const WalkRules& rules) {
  class Leaves final : public ZipVisitor {
   public:
    explicit Leaves(c10::function_ref<void(const Here&, Tensors)> call) : call_(call) {}
    void leaf(const Here& here, Tensors tensors) override { call_(here, tensors); }

   private:
    c10::function_ref<void(const Here&, Tensors)> call_;
  } leaves(leaf);
  visit_zip(roots, lazy, leaves, rules);
}

}  // namespace td
