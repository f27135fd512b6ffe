// core/tree/non_tensor_node.h: NonTensorData: one value that is not a tensor, for the whole batch.
#pragma once

#include "core/tree/node.h"

namespace td {

// A value that is no tensor, for the whole batch. It is kept as JSON text.
class DataNode final : public Node {
 public:
  DataNode(std::string json, SizesView batch, std::optional<c10::Device> device)
      : Node(NodeKind::data, batch, device), json_(std::move(json)) {}

  const std::string& json() const noexcept { return json_; }

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;

 private:
  std::string json_;
};

}  // namespace td
