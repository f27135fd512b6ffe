#include "core/tensor/view_plan.h"

#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"

#include <ATen/ATen.h>

#include <numeric>

namespace td {

bool ViewPlan::is_identity() const noexcept {
  if (!drops_.empty() || dims_.size() != in_.size()) return false;
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    const Dim& dim = dims_[i];
    if (dim.source != static_cast<std::int64_t>(i) || dim.size != in_[i] || dim.start != 0 ||
        dim.step != 1) {
      return false;
    }
  }
  return true;
}

Sizes ViewPlan::sizes(SizesView full) const {
  const std::size_t made = dims_.size(), taken = in_.size();
  Sizes result;
  result.resize_for_overwrite(made + full.size() - taken);
  for (std::size_t i = 0; i < made; ++i) result[i] = dims_[i].size;
  for (std::size_t i = taken; i < full.size(); ++i) result[made + i - taken] = full[i];
  return result;
}

bool ViewPlan::gives(SizesView full, SizesView result) const noexcept {
  const std::size_t made = dims_.size(), taken = in_.size();
  if (result.size() + taken != made + full.size()) return false;
  for (std::size_t i = 0; i < made; ++i) {
    if (result[i] != dims_[i].size) return false;
  }
  for (std::size_t i = made; i < result.size(); ++i) {  // too few for a call of memcmp
    if (result[i] != full[i - made + taken]) return false;
  }
  return true;
}

Names ViewPlan::names(const Names& full) const {
  Names result;
  if (full.empty()) return result;
  for (const Dim& dim : dims_) {
    result.push_back(dim.source < 0 ? std::nullopt : full[static_cast<std::size_t>(dim.source)]);
  }
  result.insert(result.end(), full.begin() + static_cast<std::ptrdiff_t>(in_.size()), full.end());
  return result;
}

std::int64_t ViewPlan::offset(const at::Tensor& tensor) const {
  const SizesView strides = tensor.strides();
  std::int64_t offset = tensor.storage_offset();
  for (const Drop& drop : drops_) offset += drop.position * strides[drop.source];
  for (const Dim& dim : dims_) {
    if (dim.source >= 0) offset += dim.start * strides[dim.source];
  }
  return offset;
}

void ViewPlan::layout(const at::Tensor& tensor, Layout& result) const {
  const SizesView sizes = tensor.sizes();
  const SizesView strides = tensor.strides();
  const std::size_t rest = sizes.size() - in_.size();
  const std::size_t n = dims_.size() + rest;
  result.sizes.resize_for_overwrite(n);
  result.strides.resize_for_overwrite(n);
  std::copy_n(sizes.begin() + in_.size(), rest, result.sizes.begin() + dims_.size());
  std::copy_n(strides.begin() + in_.size(), rest, result.strides.begin() + dims_.size());
  for (std::size_t i = dims_.size(); i-- > 0;) {
    const Dim& dim = dims_[i];
    result.sizes[i] = dim.size;
    if (dim.source >= 0) {
      result.strides[i] = dim.step * strides[dim.source];
    } else if (dim.size == 1) {
      // As unsqueeze does: contiguous with the next dimension.
      result.strides[i] = i + 1 < n ? result.sizes[i + 1] * result.strides[i + 1] : 1;
    } else {
      result.strides[i] = 0;
    }
  }
  result.offset = offset(tensor);
}

std::optional<ViewPlan> ViewPlan::after(const ViewPlan& first) const {
  ViewPlan both(first.in_);
  both.drops_.assign(first.drops_.begin(), first.drops_.end());
  // The batch sizes of the two may differ in length: what only one of them knows is kept as it is.
  c10::SmallVector<Dim, 6> made(first.dims_);
  for (std::size_t i = made.size(); i < in_.size(); ++i) {
    made.push_back({static_cast<std::int64_t>(both.in_.size()), in_[i], 0, 1});
    both.in_.push_back(in_[i]);
  }
  for (const Drop& drop : drops_) {
    const Dim& from = made[static_cast<std::size_t>(drop.source)];
    if (from.source >= 0) both.drop(from.source, from.start + drop.position * from.step);
  }
  const auto add = [&](const Dim& dim, const Dim& from) {
    both.slice(from.source, from.start + dim.start * from.step, dim.size, dim.step * from.step);
    return from.source >= 0;  // else its stride depends on what is beside it
  };
  for (const Dim& dim : dims_) {
    if (dim.source < 0) {
      both.dims_.push_back(dim);
    } else if (!add(dim, made[static_cast<std::size_t>(dim.source)])) {
      return std::nullopt;
    }
  }
  for (std::size_t i = in_.size(); i < made.size(); ++i) {
    if (!add({0, made[i].size, 0, 1}, made[i])) return std::nullopt;
  }
  return both;
}

bool ViewPlan::keeps_contiguous() const noexcept {
  std::int64_t next = 0;  // the source dimension that must follow
  bool first = true;
  for (const Dim& dim : dims_) {
    if (dim.source < 0) {
      if (dim.size != 1) return false;
      continue;
    }
    // Of the first dimension a part may be taken, before it single positions.
    const bool whole = dim.start == 0 && dim.size == in_[dim.source];
    if (dim.step != 1 || (first ? dim.source < next : dim.source != next || !whole)) return false;
    next = dim.source + 1;
    first = false;
  }
  // What is dropped lies in front, or there is nothing else in the batch.
  return first || next == static_cast<std::int64_t>(in_.size());
}

bool ViewPlan::repeats(const at::Tensor& tensor) const {
  if (tensor.is_contiguous()) return false;  // the usual case
  const auto repeated = [](SizesView sizes, SizesView strides) {
    bool found = false;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 0) return false;
      found = found || (strides[i] == 0 && sizes[i] > 1);
    }
    return found;
  };
  if (!repeated(tensor.sizes(), tensor.strides())) return false;
  Layout made;
  layout(tensor, made);
  return repeated(made.sizes, made.strides);
}

// Inlined: the cost of a call for each leaf is measurable.
[[gnu::flatten]] at::Tensor ViewPlan::apply(const at::Tensor& tensor, bool fast) const {
  if (!fast || !fast::plain(tensor)) return apply_by_dispatcher(tensor);
  Layout made;
  layout(tensor, made);
  return fast::make_view(tensor, made.sizes, made.strides, made.offset);
}

// Uses ATen's operators, so that autograd, vmap and others see them.
at::Tensor ViewPlan::apply_by_dispatcher(at::Tensor tensor) const {
  // Slices first: they do not move dimensions.
  for (const Dim& dim : dims_) {
    if (dim.source < 0 || (dim.start == 0 && dim.step == 1 && dim.size == in_[dim.source]))
      continue;
    if (dim.step == 0) continue;  // by expand, below
    const std::int64_t stop = dim.size == 0 ? dim.start : dim.start + (dim.size - 1) * dim.step + 1;
    tensor = tensor.slice(dim.source, dim.start, stop, dim.step);
  }
  // Selections from the last dimension to the first, so that earlier numbers stay valid.
  c10::SmallVector<Drop, 4> drops(drops_.begin(), drops_.end());
  std::sort(drops.begin(), drops.end(),
            [](const Drop& a, const Drop& b) { return a.source > b.source; });
  for (const Drop& drop : drops) tensor = tensor.select(drop.source, drop.position);
  // Permute the remaining source dimensions into the order of the result.
  c10::SmallVector<std::int64_t, 6> kept;
  for (const Dim& dim : dims_) {
    if (dim.source >= 0) kept.push_back(dim.source);
  }
  if (!std::is_sorted(kept.begin(), kept.end())) {
    c10::SmallVector<std::int64_t, 6> sorted(kept.begin(), kept.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::int64_t> order;
    for (const std::int64_t source : kept) {
      order.push_back(std::lower_bound(sorted.begin(), sorted.end(), source) - sorted.begin());
    }
    for (auto i = static_cast<std::int64_t>(kept.size()); i < tensor.dim(); ++i) order.push_back(i);
    tensor = tensor.permute(order);
  }
  bool expands = false;
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i].source < 0) tensor = tensor.unsqueeze(static_cast<std::int64_t>(i));
    expands = expands || (dims_[i].step == 0 && dims_[i].size != tensor.size(i));
  }
  if (expands) {
    Sizes target;
    for (const Dim& dim : dims_) target.push_back(dim.size);
    target.append(tensor.sizes().begin() + dims_.size(), tensor.sizes().end());
    tensor = tensor.expand(target);
  }
  return tensor;
}

}  // namespace td
