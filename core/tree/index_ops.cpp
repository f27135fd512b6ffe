// Reads parts of a dictionary. index_write.cpp writes them.
#include "core/base/recursion_guard.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/index_items.h"
#include "core/tree/inherit.h"
#include "core/tree/lazy_index.h"
#include "core/tree/mapping.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/plan_view.h"
#include "core/tree/sub_tensordict.h"

#include <ATen/ATen.h>

namespace td {

namespace {

class ReadOp final : public BatchOp {
 public:
  ReadOp(const IndexPlan& plan, c10::ArrayRef<IndexItem> items, std::size_t dims)
      : plan_(plan), items_(items), dims_(dims), fast_(fast::can_skip_dispatcher()) {}
  Sizes batch(SizesView before) const override { return plan_.sizes(before); }
  at::Tensor leaf(const at::Tensor& before) const override { return plan_.read(before, fast_); }
  LeafViewPtr later() const override {
    return fast_ && plan_.is_view() ? LeafViewPtr(c10::make_intrusive<PlanView>(plan_.view()))
                                    : LeafViewPtr();
  }
  void tags(const Node& before, Node& after) const override {
    after.set_tensorclass(before.tensorclass());
    after.set_names(plan_.names(before.names()));
  }
  NodePtr lazy(const LazyNode& node) const override { return read_lazy(node, items_, dims_); }
  Value nested_tensor(const NestedTensorNode& node) const override {
    return rearranged(node, *this);
  }

 private:
  const IndexPlan& plan_;
  c10::ArrayRef<IndexItem> items_;
  std::size_t dims_;
  bool fast_;
};

// Python's rule: a mapped dictionary stays mapped under integers, new dimensions, the ellipsis and slices
// from 0.
bool keeps_memmap(c10::ArrayRef<IndexItem> items) {
  for (const IndexItem& item : items) {
    const bool leading = item.kind == IndexKind::slice && item.start.value_or(0) == 0;
    if (!leading && item.kind != IndexKind::integer && item.kind != IndexKind::none &&
        item.kind != IndexKind::ellipsis) {
      return false;
    }
  }
  return true;
}

}  // namespace

NodePtr read_at(const NodePtr& node, c10::ArrayRef<IndexItem> items) {
  if (const LazyNode* lazy = as_lazy(node.get())) {
    if (is_whole(items)) return node;
    NodePtr result = read_lazy(*lazy, items, node->batch().size());
    if (node->locked() && !result->locked() && as_lazy(result.get()) != nullptr) lock(result);
    return result;
  }
  if (node->kind() == NodeKind::sub_tensordict) return read_at(dense_form(node), items);
  const IndexPlan plan(items, node->batch());
  if (plan.is_whole()) return node;
  NodePtr result = map_by(node, ReadOp(plan, items, node->batch().size()));
  if ((node->memmapped() || node->shared()) && keeps_memmap(items)) inherit_flags(*node, result);
  return result;
}

TensorDict TensorDict::index(c10::ArrayRef<IndexItem> items) const {
  if (node_->kind() != NodeKind::sub_tensordict) return TensorDict(read_at(node_, items));
  // A part of a part is also a sub-tensordict: writes reach the dictionary behind both.
  return is_whole(items) ? *this : sub_tensordict(*this, items);
}

}  // namespace td
