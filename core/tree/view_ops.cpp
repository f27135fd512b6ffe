// TensorDict's operations that move batch dimensions. Each maps the result's dimensions to the source's; the
// walk and the view do the rest.
#include "core/tree/view_ops.h"

#include "core/tensor/fast_path.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/inherit.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/mapping.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/plan_view.h"
#include "core/tree/tensordict.h"

#include <ATen/ATen.h>

namespace td {

namespace {

class ViewOp final : public BatchOp {
 public:
  explicit ViewOp(const ViewPlan& plan) : plan_(plan), fast_(fast::can_skip_dispatcher()) {}
  Sizes batch(SizesView before) const override { return plan_.sizes(before); }
  at::Tensor leaf(const at::Tensor& before) const override { return plan_.apply(before, fast_); }
  LeafViewPtr later() const override {
    return fast_ ? LeafViewPtr(c10::make_intrusive<PlanView>(plan_)) : LeafViewPtr();
  }
  void tags(const Node& before, Node& after) const override {
    after.set_tensorclass(before.tensorclass());
    after.set_names(plan_.names(before.names()));
  }
  NodePtr lazy(const LazyNode& node) const override { return view_lazy(node, plan_); }
  Value nested_tensor(const NestedTensorNode& node) const override {
    return rearranged(node, *this);
  }

 private:
  const ViewPlan& plan_;
  bool fast_;
};

}  // namespace

NodePtr apply_plan(const NodePtr& node, const ViewPlan& plan, bool keep_memmap) {
  if (plan.is_identity()) return node;
  NodePtr result = map_by(node, ViewOp(plan));
  inherit_flags(*node, result, keep_memmap);
  return result;
}

std::int64_t wrap_dim(std::int64_t dim, std::int64_t dims, Code code, SizesView batch) {
  if (dim < -dims || dim >= dims) {
    fail(code, "dimension ", dim, " is out of range for batch size ", show_sizes(batch), " of ",
         static_cast<std::int64_t>(batch.size()), batch.size() == 1 ? " dimension" : " dimensions");
  }
  return dim < 0 ? dim + dims : dim;
}

TensorDict TensorDict::permute(SizesView order) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(order.size());
  const auto dims = static_cast<std::int64_t>(batch.size());
  if (order.size() > batch.size()) {
    fail(Code::shape, "permute was given ", n, " dimensions for batch size ", show_sizes(batch));
  }
  ViewPlan plan(batch);
  std::vector<bool> seen(order.size(), false);
  for (const std::int64_t asked : order) {
    const std::int64_t dim = wrap_dim(asked, dims, Code::shape, batch);
    if (dim >= n) {
      fail(Code::shape, "permute was given dimension ", asked, " among ", n,
           n == 1 ? " dimension" : " dimensions", " of batch size ", show_sizes(batch),
           ": give the first dimensions, in any order");
    }
    if (seen[static_cast<std::size_t>(dim)])
      fail(Code::shape, "permute was given dimension ", asked, " twice");
    seen[static_cast<std::size_t>(dim)] = true;
    plan.keep(dim);
  }
  for (auto i = n; i < dims; ++i) plan.keep(i);
  return TensorDict(apply_plan(node_, plan));
}

TensorDict TensorDict::transpose(std::int64_t dim0, std::int64_t dim1) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(batch.size());
  dim0 = wrap_dim(dim0, n, Code::shape, batch);
  dim1 = wrap_dim(dim1, n, Code::shape, batch);
  ViewPlan plan(batch);
  for (std::int64_t i = 0; i < n; ++i) plan.keep(i == dim0 ? dim1 : i == dim1 ? dim0 : i);
  return TensorDict(apply_plan(node_, plan));
}

TensorDict TensorDict::squeeze(std::int64_t dim) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(batch.size());
  dim = wrap_dim(dim, n, Code::index, batch);
  ViewPlan plan(batch);
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == dim && batch[i] == 1) {
      plan.drop(i, 0);
    } else {
      plan.keep(i);
    }
  }
  return TensorDict(apply_plan(node_, plan));
}

TensorDict TensorDict::squeeze() const {
  const SizesView batch = batch_size();
  ViewPlan plan(batch);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(batch.size()); ++i) {
    if (batch[i] == 1) {
      plan.drop(i, 0);
    } else {
      plan.keep(i);
    }
  }
  return TensorDict(apply_plan(node_, plan, /*keep_memmap=*/false));
}

TensorDict TensorDict::unsqueeze(std::int64_t dim) const {
  const SizesView batch = batch_size();
  const auto n = static_cast<std::int64_t>(batch.size());
  dim = wrap_dim(dim, n + 1, Code::index, batch);
  ViewPlan plan(batch);
  for (std::int64_t i = 0; i <= n; ++i) {
    if (i == dim) plan.add();
    if (i < n) plan.keep(i);
  }
  return TensorDict(apply_plan(node_, plan));
}

TensorDict TensorDict::expand(SizesView sizes) const {
  const SizesView batch = batch_size();
  bool fits = sizes.size() >= batch.size();
  const std::size_t added = fits ? sizes.size() - batch.size() : 0;
  for (std::size_t i = 0; fits && i < sizes.size(); ++i) {
    if (i >= added && (sizes[i] == -1 || batch[i - added] == sizes[i])) continue;
    fits = sizes[i] >= 0 && (i < added || known_size(batch, i - added) == 1);
  }
  if (!fits)
    fail(Code::shape, "batch size ", show_sizes(batch), " cannot be expanded to ",
         show_sizes(sizes));
  ViewPlan plan(batch);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto source = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(added);
    if (source < 0) {
      plan.add(sizes[i]);
    } else if (sizes[i] == -1 || batch[i - added] == sizes[i]) {
      plan.keep(source);
    } else {
      plan.repeat(source, sizes[i]);
    }
  }
  return TensorDict(apply_plan(node_, plan, /*keep_memmap=*/false));
}

}  // namespace td
