#include "core/tree/non_tensor_node.h"

#include "core/tree/batch_op.h"

namespace td {

NodePtr NonTensorNode::transform(const BatchOp& op) const {
  auto result = c10::make_intrusive<NonTensorNode>(json_, op.batch(batch()), op.device(device()));
  if (tagged()) op.tags(*this, *result);
  return result;
}

NodePtr NonTensorNode::shallow_copy() const {
  auto copy = c10::make_intrusive<NonTensorNode>(json_, batch(), device());
  copy_tags(*this, *copy);
  return copy;
}

}  // namespace td
