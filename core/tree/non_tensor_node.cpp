#include "core/tree/non_tensor_node.h"

#include "core/tree/batch_op.h"

namespace td {

NodePtr NonTensorNode::transform(const BatchOp& op) const { return op.one_value(*this); }

NodePtr NonTensorNode::shallow_copy() const {
  auto copy = c10::make_intrusive<NonTensorNode>(value_, batch(), device());
  copy_tags(*this, *copy);
  return copy;
}

}  // namespace td
