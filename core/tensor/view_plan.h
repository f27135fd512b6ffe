// core/tensor/view_plan.h: how an operation changes the batch dimensions, computed once for all leaves.
#pragma once

#include "core/base/error.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>

#include <optional>

namespace td {

// Selects, slices, adds, drops, reorders and expands dimensions: states for each result dimension where it
// comes from.
class ViewPlan {
 public:
  struct Dim {
    std::int64_t source;  // source dimension; -1: a new one
    std::int64_t size;
    std::int64_t start;  // first position in the source
    std::int64_t step;   // in positions of the source; 0 repeats one position
  };
  struct Drop {
    std::int64_t source;
    std::int64_t position;
  };

  explicit ViewPlan(SizesView batch) : in_(batch.begin(), batch.end()) {}

  // Builds the plan in the order of the result.
  void keep(std::int64_t source) { dims_.push_back({source, in_[source], 0, 1}); }
  void slice(std::int64_t source, std::int64_t start, std::int64_t size, std::int64_t step) {
    dims_.push_back({source, size, start, step});
  }
  void repeat(std::int64_t source, std::int64_t size) { dims_.push_back({source, size, 0, 0}); }
  void add(std::int64_t size = 1) { dims_.push_back({-1, size, 0, 0}); }
  void drop(std::int64_t source, std::int64_t position) { drops_.push_back({source, position}); }

  // Moves the first dropped position, which is 0.
  void move_drop(std::int64_t position) noexcept { drops_[0].position = position; }

  std::size_t out_dims() const noexcept { return dims_.size(); }
  std::int64_t out_size(std::size_t i) const noexcept { return dims_[i].size; }
  SizesView in() const noexcept { return in_; }
  c10::ArrayRef<Dim> dims() const noexcept { return dims_; }
  c10::ArrayRef<Drop> drops() const noexcept { return drops_; }
  bool is_identity() const noexcept;

  // The result's sizes for an entry whose sizes start with the plan's input.
  Sizes sizes(SizesView full) const;

  // Whether these are the result's sizes.
  bool gives(SizesView full, SizesView result) const noexcept;

  // The result's dimension names. `full` may be empty.
  Names names(const Names& full) const;

  // The place of the result's first element, in elements of the storage.
  std::int64_t offset(const at::Tensor& tensor) const;

  // Sizes, strides and offset of the result. The arrays need out_dims() + full - in() elements.
  struct Layout {
    Sizes sizes;
    Sizes strides;
    std::int64_t offset;
  };
  void layout(const at::Tensor& tensor, Layout& result) const;

  // This plan after another one, in one step; nullopt if the strides would differ from those of two steps.
  std::optional<ViewPlan> after(const ViewPlan& first) const;

  // Whether views of contiguous tensors are contiguous; false if unsure.
  bool keeps_contiguous() const noexcept;

  // Whether elements of the view share memory, as in an expanded tensor.
  bool repeats(const at::Tensor& tensor) const;

  // The view: built directly where that cannot be observed, else by the dispatcher.
  at::Tensor apply(const at::Tensor& tensor, bool fast) const;

 private:
  at::Tensor apply_by_dispatcher(at::Tensor tensor) const;

  Sizes in_;
  c10::SmallVector<Dim, 6> dims_;
  c10::SmallVector<Drop, 4> drops_;
};

}  // namespace td
