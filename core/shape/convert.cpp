// Copies and conversions: what acts on each leaf and leaves the batch size alone.
#include "core/shape/convert.h"
#include "core/consolidated/consolidate.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tree/batch_op.h"
#include "core/tree/inherit.h"
#include "core/tree/leaf_op.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/tensordict.h"
#include "core/tree/traverse.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

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

TensorDict TensorDict::clone(bool recurse) const {
  const bool fast = fast::can_skip_dispatcher();
  if (!recurse)
    return TensorDict(map(node_, LeafOp([](const at::Tensor& leaf) { return leaf; }, true)));
  return TensorDict(
      map(node_, LeafOp([fast](const at::Tensor& leaf) { return copy_of(leaf, fast); }, true)));
}

TensorDict TensorDict::contiguous() const {
  return TensorDict(map(all_dense(node_),
                        LeafOp([](const at::Tensor& leaf) { return leaf.contiguous(); }, true)));
}

TensorDict TensorDict::to(c10::ScalarType dtype) const {
  NodePtr result =
      map(node_, LeafOp([dtype](const at::Tensor& leaf) { return leaf.to(dtype); }, true));
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

namespace {

// Whether two nodes are equal, but for the nodes below them, of which `add` is told.
template <class Add>
bool equal_nodes(const NodePtr& a, const NodePtr& b, const Add& add) {
  if (is_opaque(*a) != is_opaque(*b) || a->batch() != b->batch()) return false;
  if (is_opaque(*a)) return same_non_tensor(*a, *b);
  const LazyNode* one_by_one = as_lazy(a.get());
  const LazyNode* beside = as_lazy(b.get());
  if (one_by_one != nullptr && beside != nullptr &&
      one_by_one->stack_dim() == beside->stack_dim()) {
    for (std::size_t k = 0; k < one_by_one->elements().size(); ++k) {
      add(one_by_one->elements()[k], beside->elements()[k]);
    }
    return true;
  }
  const NodePtr left_form = dense_form(a), right_form = dense_form(b);
  const DenseNode& left = *as_dense(left_form.get());
  const DenseNode& right = *as_dense(right_form.get());
  if (left.size() != right.size()) return false;
  const KeyMatch where(left, right);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::size_t at = where(i);
    if (at == Schema::npos) return false;
    const Value& one = left.value(i);
    const Value& two = right.value(at);
    if (one.is_node() != two.is_node()) return false;
    if (one.is_node()) {
      add(one.node(), two.node());
    } else if (!equal_tensors(one.tensor(), two.tensor())) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool TensorDict::equal(const TensorDict& other) const {
  using Pair = std::pair<NodePtr, NodePtr>;
  Traversal<Pair> walk;
  walk.add({node_, other.node_});
  const auto add = [&](const NodePtr& a, const NodePtr& b) {
    walk.add_once({a.get(), b.get()}, {a, b});
  };
  bool same = true;
  walk.run([&](const Pair& at) { same = same && equal_nodes(at.first, at.second, add); });
  return same;
}

bool equal_tensors(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.device() != b.device() || a.sizes() != b.sizes()) {
    return false;
  }
  if (a.device().type() == c10::DeviceType::Meta) return true;
  // Versions of libtorch differ in whether one memory that holds NaN equals itself.
  const bool may_hold_nan = a.is_floating_point() || a.is_complex();
  return may_hold_nan && a.is_alias_of(b) ? a.eq(b).all().item<bool>() : a.equal(b);
}

void wait_for_copies(const Node& source, c10::Device target) {
  const auto wait = [](c10::Device where) {
    if (where.type() == c10::DeviceType::CPU || where.type() == c10::DeviceType::Meta) return;
    const c10::impl::VirtualGuardImpl guard(where.type());
    guard.getStream(where).synchronize();
  };
  std::optional<c10::Device> waited;
  visit_values(source, [&](const Value& value) {
    const at::Tensor* leaf = elements_of(value);
    if (leaf == nullptr || leaf->device() == waited) return;
    waited = leaf->device();
    wait(*waited);
  });
  wait(target);
}

}  // namespace td
