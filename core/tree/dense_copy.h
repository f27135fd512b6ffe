// core/tree/dense_copy.h: copies a tree or graph so that every dictionary is dense.
#pragma once

#include "core/tree/engine.h"

#include <optional>
#include <utility>

namespace td {

namespace detail {

template <class Form, class Instead>
class DenseCopy : public WalkSink<Take::reads> {
 public:
  using Made = NodePtr;
  DenseCopy(const Form& form, const Instead& instead) : form_(form), instead_(instead) {}

  NodePtr read(const Node& node) { return form_(retain(node)); }
  void enter(const Here&, Dicts dicts) {
    const DenseNode& source = *dicts[0];
    auto target = c10::make_intrusive<DenseNode>(source.schema(), source.batch(), source.device());
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

  const Form& form_;
  const Instead& instead_;
  c10::SmallVector<DenseNode*, 8> above_;  // held by the result
  NodePtr result_;
};

}  // namespace detail

// `form` makes a node dense. `instead` returns a tensor that replaces a value or nested tensor, or an
// undefined one. Shares tensors; copies a shared node once.
template <class Form, class Instead>
NodePtr copy_dense(const NodePtr& root, const Form& form, const Instead& instead) {
  detail::DenseCopy<Form, Instead> copy(form, instead);
  walk(root, copy, all_entries());
  return copy.take();
}

}  // namespace td
