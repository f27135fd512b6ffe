// core/tree/plan_view.h: views of leaves made of plans (core/tensor/view_plan.h), when they are first read.
#pragma once

#include "core/tensor/view_plan.h"
#include "core/tree/leaf_row.h"

#include <utility>

namespace td {

class PlanView final : public LeafView {
 public:
  // `parts_dim`: the dimension whose positions are the parts; the plan drops it first. -1: there are no parts.
  explicit PlanView(ViewPlan plan, std::int64_t parts_dim = -1)
      : plan_(std::move(plan)), parts_dim_(parts_dim) {}
  static void* operator new(std::size_t);
  static void operator delete(void* memory);

  at::Tensor of(const at::Tensor& leaf, std::int64_t part) const override;
  bool fits(const LeafRow& row) const noexcept override { return row.all_plain(); }
  bool keeps_contiguous() const noexcept override { return plan_.keeps_contiguous(); }
  LeafViewPtr after(const LeafView& first, std::int64_t first_part,
                    std::int64_t part) const override;

 private:
  // The plan of one part.
  ViewPlan plan_of(std::int64_t part) const;

  ViewPlan plan_;
  std::int64_t parts_dim_;
};

}  // namespace td
