// Moves a dictionary to another device: one buffer with one copy, other leaves one by one.
#include "core/consolidated/consolidate.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tree/copies.h"
#include "core/tree/inherit.h"
#include "core/tree/nested_tensor.h"

namespace td {

namespace {

class ToDeviceOp final : public BatchOp {
 public:
  ToDeviceOp(c10::Device device, bool non_blocking)
      : device_(device), non_blocking_(non_blocking) {}
  Sizes batch(SizesView before) const override { return Sizes(before.begin(), before.end()); }
  at::Tensor leaf(const at::Tensor& before) const override {
    return move_to(before, device_, non_blocking_);
  }
  bool keeps_batch() const override { return true; }
  std::optional<c10::Device> device(const std::optional<c10::Device>&) const override {
    return device_;
  }
  Value nested_tensor(const NestedTensorNode& node) const override {
    return each_value(node, *this, [&](const at::Tensor& values) { return leaf(values); });
  }

 private:
  c10::Device device_;
  bool non_blocking_;
};

}  // namespace

TensorDict TensorDict::to(c10::Device device, bool non_blocking) const {
  device = resolve_device(device);
  if (node_->device() == device) return *this;
  if (auto moved = move_consolidated(*this, device, non_blocking)) return *moved;
  // Start all copies, then wait once; only copies to the host need a wait.
  NodePtr result = map(node_, ToDeviceOp(device, /*non_blocking=*/true));
  if (!non_blocking) wait_for_copies(*node_, device);
  inherit_flags(*node_, result, /*memmap=*/false);
  return TensorDict(std::move(result));
}

}  // namespace td
