// Copies, conversions and comparisons, which keep the batch size.
#include "core/tree/copies.h"

#include "core/tensor/assign.h"
#include "core/tensor/blocks.h"
#include "core/tensor/fast_path.h"
#include "core/tree/engine.h"
#include "core/tree/inherit.h"
#include "core/tree/leaf_op.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/tensordict.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstring>

namespace td {

TensorDict TensorDict::clone(bool recurse) const {
  if (!recurse)
    return TensorDict(map(node_, LeafOp([](const at::Tensor& leaf) { return leaf; }, true)));
  if (!fast::can_skip_dispatcher())
    return TensorDict(
        map(node_, LeafOp([](const at::Tensor& leaf) { return leaf.clone(); }, true)));
  Blocks blocks;
  visit_values(*node_, [&](const Value& value) {
    if (!value.is_node()) blocks.expect(value.tensor());
  });
  const auto copy = [&](const at::Tensor& leaf) {
    if (!Blocks::suits(leaf)) return copy_of(leaf, true);
    at::Tensor result = blocks.make(leaf);
    std::memcpy(result.data_ptr(), leaf.data_ptr(), leaf.nbytes());
    return result;
  };
  return TensorDict(map(node_, LeafOp(copy, true)));
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

namespace {

// Searches for a difference. Compares lazy stacks along one dimension by elements.
class Comparison : public WalkSink<Take::elements> {
 public:
  Take meet(const Here&, NodesHere nodes) {
    same_ = same_ && nodes[0] != nullptr && nodes[1] != nullptr &&
            nodes[0]->batch() == nodes[1]->batch();
    if (!same_) return Take::nothing;
    return stacked_alike(*nodes[0], *nodes[1]) ? Take::elements : Take::reads;
  }
  void leaf(const Here&, Tensors tensors) {
    same_ =
        tensors[0] != nullptr && tensors[1] != nullptr && equal_tensors(*tensors[0], *tensors[1]);
  }
  void value(const Here&, NodesHere nodes) {
    same_ = nodes[0] != nullptr && nodes[1] != nullptr && nodes[0]->batch() == nodes[1]->batch() &&
            same_non_tensor(*nodes[0], *nodes[1]);
  }
  bool mixed(const Here&) {
    same_ = false;
    return true;
  }
  bool done() const { return !same_; }

 private:
  bool same_ = true;
};

}  // namespace

bool TensorDict::equal(const TensorDict& other) const {
  WalkRules rules = all_entries();
  rules.missing = WalkRules::Missing::fill;
  Comparison comparison;
  walk_pair(node_, other.node_, comparison, rules);
  return !comparison.done();
}

std::optional<c10::ScalarType> common_dtype(const TensorDict& td) {
  std::optional<c10::ScalarType> common;
  bool same = true;
  visit_values(*td.node(), [&](const Value& value) {
    const at::Tensor* leaf = elements_of(value);
    if (leaf == nullptr) return;
    same = same && (!common || *common == leaf->scalar_type());
    common = leaf->scalar_type();
  });
  return same ? common : std::nullopt;
}

bool equal_tensors(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.device() != b.device() || a.sizes() != b.sizes()) {
    return false;
  }
  if (a.device().type() == c10::DeviceType::Meta) return true;
  // libtorch's versions disagree on whether a tensor with NaN equals itself.
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
