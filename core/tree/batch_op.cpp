#include "core/tree/batch_op.h"

#include "core/tree/mapping.h"
#include "core/tree/non_tensor_values.h"

namespace td {

void BatchOp::tags(const Node& before, Node& after) const { copy_tags(before, after); }

NodePtr BatchOp::one_value(const NonTensorNode& node) const {
  auto result =
      c10::make_intrusive<NonTensorNode>(node.value(), batch(node.batch()), device(node.device()));
  if (node.tagged()) tags(node, *result);
  return result;
}

NodePtr BatchOp::lazy(const LazyNode& node) const {
  if (keeps_batch()) {
    auto result = c10::make_intrusive<LazyNode>(
        node.each([&](const NodePtr& element) { return element->transform(*this); }),
        node.stack_dim(), node.batch(), device(node.device()), node.holds_non_tensor());
    if (node.tagged()) tags(node, *result);
    return result;
  }
  if (node.holds_non_tensor()) return rearrange_non_tensor(retain(node), *this);
  return dense_form(retain(node))->transform(*this);
}

NodePtr map(const NodePtr& root, const BatchOp& op) { return map_by(root, op); }

}  // namespace td
