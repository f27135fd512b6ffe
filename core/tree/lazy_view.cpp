// Views of lazy stacks: handles the stack's dimension, and leaves the rest of the plan to the elements.
#include "core/base/recursion_guard.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/batch_op.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/tensordict.h"

namespace td {

namespace {

class ElementView final : public BatchOp {
 public:
  explicit ElementView(const ViewPlan& plan) : plan_(plan), fast_(fast::can_skip_dispatcher()) {}
  Sizes batch(SizesView before) const override { return plan_.sizes(before); }
  at::Tensor leaf(const at::Tensor& before) const override { return plan_.apply(before, fast_); }
  NodePtr lazy(const LazyNode& node) const override { return view_lazy(node, plan_); }
  Value nested_tensor(const NestedTensorNode& node) const override {
    return rearranged(node, *this);
  }

 private:
  const ViewPlan& plan_;
  bool fast_;
};

NodePtr view_element(const NodePtr& element, const ViewPlan& plan) {
  return plan.is_identity() ? element : map(element, ElementView(plan));
}

// The plan for an element, which lacks dimension `stack`. Dimensions kept whole stay whole even if elements
// differ in them.
ViewPlan plan_for(SizesView batch, std::size_t dims, const ViewPlan& plan, std::int64_t stack) {
  const bool inside = stack < static_cast<std::int64_t>(plan.in().size());
  ViewPlan result(batch.slice(0, dims));
  const auto source_of = [&](std::int64_t source) {
    return inside && source > stack ? source - 1 : source;
  };
  for (const ViewPlan::Dim& dim : plan.dims()) {
    if (dim.source == stack && inside) continue;
    if (dim.source < 0) {
      result.add(dim.size);
      continue;
    }
    const std::int64_t source = source_of(dim.source);
    const bool whole = dim.start == 0 && dim.step == 1 &&
                       dim.size == plan.in()[static_cast<std::size_t>(dim.source)];
    if (!whole) known_size(plan.in(), static_cast<std::size_t>(dim.source));
    if (whole) {
      result.keep(source);
    } else if (dim.step == 0) {
      result.repeat(source, dim.size);
    } else {
      result.slice(source, dim.start, dim.size, dim.step);
    }
  }
  for (const ViewPlan::Drop& drop : plan.drops()) {
    if (drop.source != stack || !inside) result.drop(source_of(drop.source), drop.position);
  }
  return result;
}

}  // namespace

NodePtr view_lazy(const LazyNode& lazy, const ViewPlan& plan) {
  const RecursionGuard guard;
  require_elements(lazy);
  const std::int64_t stack = lazy.stack_dim();
  const bool inside = stack < static_cast<std::int64_t>(plan.in().size());
  const std::size_t element_dims = plan.in().size() - (inside ? 1 : 0);
  const std::vector<NodePtr>& elements = lazy.elements();
  const auto view = [&](const NodePtr& element) {
    return view_element(element, plan_for(element->batch(), element_dims, plan, stack));
  };
  if (inside) {
    for (const ViewPlan::Drop& drop : plan.drops()) {
      if (drop.source == stack) return view(elements[static_cast<std::size_t>(drop.position)]);
    }
  }
  std::vector<NodePtr> kept;
  std::int64_t result_dim = stack;
  if (!inside) {
    result_dim +=
        static_cast<std::int64_t>(plan.out_dims()) - static_cast<std::int64_t>(plan.in().size());
    for (const NodePtr& element : elements) kept.push_back(view(element));
  } else {
    for (std::size_t i = 0; i < plan.dims().size(); ++i) {
      const ViewPlan::Dim& dim = plan.dims()[i];
      if (dim.source != stack) continue;
      result_dim = static_cast<std::int64_t>(i);
      for (std::int64_t k = 0; k < dim.size; ++k) {
        kept.push_back(view(elements[static_cast<std::size_t>(dim.start + k * dim.step)]));
      }
    }
  }
  Sizes batch = plan.sizes(lazy.batch());
  auto result = c10::make_intrusive<LazyNode>(std::vector<NodePtr>{}, result_dim, batch,
                                              lazy.device(), lazy.holds_non_tensor());
  if (!kept.empty()) result->set_elements(std::move(kept));
  result->set_names(plan.names(lazy.names()));
  return result;
}

std::vector<NodePtr> unbind_lazy(const LazyNode& lazy, std::int64_t dim) {
  const RecursionGuard guard;
  require_elements(lazy);
  const std::int64_t stack = lazy.stack_dim();
  if (dim == stack) return lazy.elements();
  const std::int64_t size = known_size(lazy.batch(), static_cast<std::size_t>(dim));
  std::vector<std::vector<TensorDict>> parts;  // of each element
  for (const NodePtr& element : lazy.elements()) {
    parts.push_back(TensorDict(element).unbind(dim < stack ? dim : dim - 1));
  }
  Sizes batch(lazy.batch().begin(), lazy.batch().end());
  batch.erase(batch.begin() + dim);
  Names names = lazy.names();
  if (!names.empty()) names.erase(names.begin() + dim);
  std::vector<NodePtr> result;
  for (std::int64_t k = 0; k < size; ++k) {
    std::vector<NodePtr> elements;
    for (const auto& of_element : parts) {
      elements.push_back(of_element[static_cast<std::size_t>(k)].node());
    }
    result.push_back(c10::make_intrusive<LazyNode>(std::move(elements),
                                                   dim < stack ? stack - 1 : stack, batch,
                                                   lazy.device(), lazy.holds_non_tensor()));
    result.back()->set_names(names);
  }
  return result;
}

}  // namespace td
