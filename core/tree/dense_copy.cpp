#include "core/tree/dense_copy.h"

#include "core/tree/engine.h"

#include <utility>

namespace td {

namespace {

using Form = c10::function_ref<NodePtr(const NodePtr&)>;
using Instead = c10::function_ref<std::optional<at::Tensor>(const Node&)>;

class DenseCopy : public WalkSink<Take::reads> {
 public:
  using Made = NodePtr;
  DenseCopy(Form form, Instead instead) : form_(form), instead_(instead) {}

  NodePtr read(const Node& node) { return form_(retain(node)); }
  void enter(const Here&, Dicts dicts) {
    const DenseNode& source = *dicts[0];
    auto target =
        c10::make_intrusive<DenseNode>(source.shared_schema(), source.batch(), source.device());
    copy_tags(source, *target);
    target->reserve(source.size());
    DenseNode* const made = target.get();
    put(NodePtr(std::move(target)));
    above_.push_back(made);
  }
  void leaf(const Here& here, Tensors) { put(here.value()); }
  void value(const Here&, NodesHere nodes) {
    std::optional<at::Tensor> tensor = above_.empty() ? std::nullopt : instead_(*nodes[0]);
    put(tensor ? Value(*std::move(tensor)) : Value(retain(*nodes[0])));
  }
  NodePtr leave(const Here&, bool again) {
    DenseNode* const made = above_.pop_back_val();
    return again ? retain(*made) : NodePtr();
  }
  void again(const Here&, const NodePtr& made) { put(made); }

  NodePtr take() { return std::move(result_); }

 private:
  void put(Value value) {
    if (above_.empty()) {
      result_ = value.take_node();
    } else {
      above_.back()->push_value(std::move(value));
    }
  }

  const Form form_;
  const Instead instead_;
  c10::SmallVector<DenseNode*, 8> above_;  // held by the result
  NodePtr result_;
};

}  // namespace

NodePtr copy_dense(const NodePtr& root, c10::function_ref<NodePtr(const NodePtr&)> form,
                   c10::function_ref<std::optional<at::Tensor>(const Node&)> instead) {
  DenseCopy copy(form, instead);
  walk(root, copy, all_entries());
  return copy.take();
}

}  // namespace td
