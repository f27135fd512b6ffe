#include "core/tree/plan_view.h"

#include "core/base/recycler.h"
#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"

namespace td {

void* PlanView::operator new(std::size_t) { return Recycler<sizeof(PlanView)>::take(); }
void PlanView::operator delete(void* memory) { Recycler<sizeof(PlanView)>::give(memory); }

at::Tensor PlanView::of(const at::Tensor& leaf, std::int64_t part) const {
  if (!begins_with(leaf.sizes(), plan_.in()) || !fast::plain(leaf)) fail_changed(leaf, plan_.in());
  ViewPlan::Layout made;
  plan_.layout(leaf, made);
  if (parts_dim_ >= 0) made.offset += part * leaf.stride(parts_dim_);
  return fast::make_view(leaf, made.sizes, made.strides, made.offset);
}

ViewPlan PlanView::plan_of(std::int64_t part) const {
  ViewPlan plan = plan_;
  if (parts_dim_ >= 0) plan.move_drop(part);
  return plan;
}

LeafViewPtr PlanView::after(const LeafView& first, std::int64_t first_part,
                            std::int64_t part) const {
  const auto* before = dynamic_cast<const PlanView*>(&first);
  if (before == nullptr) return {};
  std::optional<ViewPlan> both = plan_of(part).after(before->plan_of(first_part));
  return both ? LeafViewPtr(c10::make_intrusive<PlanView>(*std::move(both))) : LeafViewPtr();
}

}  // namespace td
