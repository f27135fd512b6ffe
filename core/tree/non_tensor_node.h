// core/tree/non_tensor_node.h: NonTensorData: a non-tensor value for the whole batch.
#pragma once

#include "core/tree/node.h"

namespace td {

// A value, stored as JSON text.
class NonTensorNode final : public Node {
 public:
  NonTensorNode(std::string json, SizesView batch, std::optional<c10::Device> device)
      : Node(NodeKind::non_tensor, batch, device), json_(std::move(json)) {}

  const std::string& json() const noexcept { return json_; }

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;

 private:
  std::string json_;
};

}  // namespace td
