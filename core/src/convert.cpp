// Copies and conversions: what acts on each leaf and leaves the batch size alone.
#include "td/assign.h"
#include "td/batch_op.h"
#include "td/consolidate.h"
#include "td/device.h"
#include "td/fast_path.h"
#include "td/inherit.h"
#include "td/leaf_op.h"
#include "td/tensordict.h"
#include "td/walk.h"

#include <ATen/ATen.h>

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

 private:
  c10::Device device_;
  bool non_blocking_;
};

}  // namespace

TensorDict TensorDict::clone(bool recurse) const {
  const bool fast = fast::thread_at_rest();
  if (!recurse) return TensorDict(map(node_, LeafOp([](const at::Tensor& leaf) { return leaf; })));
  return TensorDict(
      map(node_, LeafOp([fast](const at::Tensor& leaf) { return copy_of(leaf, fast); })));
}

TensorDict TensorDict::contiguous() const {
  return TensorDict(map(node_, LeafOp([](const at::Tensor& leaf) { return leaf.contiguous(); })));
}

TensorDict TensorDict::to(c10::ScalarType dtype) const {
  NodePtr result = map(node_, LeafOp([dtype](const at::Tensor& leaf) { return leaf.to(dtype); }));
  inherit_flags(*node_, result, /*memmap=*/false);
  return TensorDict(std::move(result));
}

TensorDict TensorDict::to(c10::Device device, bool non_blocking) const {
  device = resolve_device(device);
  if (node_->device() == device) return *this;
  if (auto moved = move_consolidated(*this, device, non_blocking)) return *moved;
  // All copies are started first and waited for once; only a copy to the host has to be.
  NodePtr result = map(node_, ToDeviceOp(device, /*non_blocking=*/true));
  if (!non_blocking) wait_for_copies(*node_, device);
  inherit_flags(*node_, result, /*memmap=*/false);
  return TensorDict(std::move(result));
}

bool TensorDict::equal(const TensorDict& other) const {
  struct Pair {
    const Node *a, *b;
  };
  std::vector<Pair> pairs{{node_.get(), other.node_.get()}};
  while (!pairs.empty()) {
    const auto [a, b] = pairs.back();
    pairs.pop_back();
    if (a == b) continue;
    if (a->kind() != b->kind() || a->batch() != b->batch()) return false;
    if (a->kind() == NodeKind::data) {
      if (static_cast<const DataNode*>(a)->json() != static_cast<const DataNode*>(b)->json())
        return false;
      continue;
    }
    const DenseNode& left = *as_dense(a);
    const DenseNode& right = *as_dense(b);
    if (left.size() != right.size()) return false;
    const Alignment where(left, right);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::size_t at = where(i);
      if (at == Schema::npos) return false;
      const Value& one = left.value(i);
      const Value& two = right.value(at);
      if (one.is_node() != two.is_node()) return false;
      if (one.is_node()) {
        pairs.push_back({one.node().get(), two.node().get()});
      } else if (!equal_tensors(one.tensor(), two.tensor())) {
        return false;
      }
    }
  }
  return true;
}

bool equal_tensors(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.device() == b.device() && a.sizes() == b.sizes() &&
         (a.device().type() == c10::DeviceType::Meta || a.equal(b));
}

}  // namespace td
