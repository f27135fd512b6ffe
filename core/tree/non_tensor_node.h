// core/tree/non_tensor_node.h: NonTensorData: a non-tensor value for the whole batch.
#pragma once

#include "core/formats/plain.h"
#include "core/tree/node.h"

namespace td {

class NonTensorNode final : public Node {
 public:
  NonTensorNode(Plain value, SizesView batch, std::optional<c10::Device> device)
      : Node(NodeKind::non_tensor, batch, device), value_(std::move(value)) {}

  const Plain& value() const noexcept { return value_; }

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;

 private:
  Plain value_;
};

}  // namespace td
