#include "core/tree/sub_index.h"

#include "core/tensor/index_items.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/lazy_index.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

IndexItem picked(const at::Tensor& positions, bool of_mask) {
  IndexItem item = IndexItem::of(positions);
  item.of_mask = of_mask;
  return item;
}

// An item that reads `size` positions from `start` on in steps.
IndexItem stretch(std::int64_t start, std::int64_t step, std::int64_t size, std::int64_t full) {
  if (start == 0 && step == 1 && size == full) return IndexItem::range(std::nullopt, std::nullopt);
  if (size == 0) return IndexItem::range(0, 0);
  return IndexItem::range(start, start + (size - 1) * step + 1, size > 1 ? step : 1);
}

// Rewrites `second` in dimensions of the whole, if `first` is a view. Fails if it indexes a new dimension.
class OverView {
 public:
  OverView(const ViewPlan& first, SizesView part, SizesView batch)
      : first_(first), part_(part), batch_(batch) {}

  std::optional<std::vector<IndexItem>> run(c10::ArrayRef<IndexItem> second) {
    std::size_t at = 0;
    for (const IndexItem& item : second) {
      if (dims_used(item) == 0) {
        result_.push_back(item);
      } else if (!item_over(item, at++)) {
        return std::nullopt;
      }
    }
    while (at < first_.out_dims()) {
      if (!item_over(IndexItem::range(std::nullopt, std::nullopt), at++)) return std::nullopt;
    }
    drop_before(static_cast<std::int64_t>(batch_.size()));
    return std::move(result_);
  }

 private:
  bool item_over(const IndexItem& item, std::size_t at) {
    const ViewPlan::Dim& dim = first_.dims()[at];
    const IndexPlan plan(item, SizesView(part_[at]));
    if (dim.source < 0) {
      if (plan.gathers()) return false;
      if (plan.view().out_dims() == 0) return true;
      if (plan.view().out_size(0) != 1) return false;
      result_.push_back(IndexItem::none());
      return true;
    }
    drop_before(dim.source);
    const auto place = [&](std::int64_t position) { return dim.start + position * dim.step; };
    if (plan.gathers()) {
      const at::NoGradGuard no_grad;
      result_.push_back(picked(plan.positions()[0].mul(dim.step).add(dim.start), item.of_mask));
    } else if (plan.view().out_dims() == 0) {
      result_.push_back(IndexItem::at(place(plan.view().drops()[0].position)));
    } else {
      const ViewPlan::Dim& own = plan.view().dims()[0];
      result_.push_back(stretch(place(own.start), own.step * dim.step, own.size,
                                batch_[static_cast<std::size_t>(dim.source)]));
    }
    return true;
  }

  // Appends the selections of `first` before this dimension.
  void drop_before(std::int64_t source) {
    for (; next_ < first_.drops().size() && first_.drops()[next_].source < source; ++next_)
      result_.push_back(IndexItem::at(first_.drops()[next_].position));
  }

  const ViewPlan& first_;
  SizesView part_, batch_;
  std::size_t next_ = 0;  // into the drops
  std::vector<IndexItem> result_;
};

// The positions of the part's elements: a list for each dimension of the whole.
std::vector<IndexItem> counted_out(const IndexPlan& first, const IndexPlan& second, SizesView part,
                                   SizesView batch) {
  const at::NoGradGuard no_grad;
  Names named(batch.size());
  if (batch.size() == 1) named[0] = "x";
  const Names names = second.names(first.names(named));
  const bool keeps_name = names.size() == 1 && names[0];
  std::vector<IndexItem> items;
  for (std::size_t d = 0; d < batch.size(); ++d) {
    Sizes sizes(batch.size(), 1);
    sizes[d] = batch[d];
    const at::Tensor places = at::arange(batch[d], at::kLong).view(sizes).expand(batch);
    const at::Tensor own = second.read(first.read(places, false), false).clone().contiguous();
    items.push_back(own.dim() == 0 ? IndexItem::at(own.item<std::int64_t>())
                                   : picked(own, !keeps_name));
  }
  if (!items.empty()) return items;
  const Sizes sizes = second.sizes(part);
  if (!sizes.empty()) {
    items.push_back(IndexItem::boolean(true));
    items.back().tensor = at::zeros(sizes, at::kLong);
  }
  return items;
}

}  // namespace

std::vector<IndexItem> own_index(c10::ArrayRef<IndexItem> items, SizesView batch) {
  const at::NoGradGuard no_grad;
  std::int64_t used = 0;
  for (const IndexItem& item : items) used += dims_used(item);
  std::vector<IndexItem> result;
  for (const IndexItem& item : items) {
    if (item.kind == IndexKind::ellipsis) {
      for (auto i = used; i < static_cast<std::int64_t>(batch.size()); ++i)
        result.push_back(IndexItem::range(std::nullopt, std::nullopt));
    } else if (item.kind != IndexKind::tensor) {
      result.push_back(item);
    } else if (item.tensor.dim() == 0) {
      result.push_back(is_mask(item.tensor) ? IndexItem::boolean(item.tensor.item().toBool())
                                            : IndexItem::at(item.tensor.item().toLong()));
    } else if (is_mask(item.tensor)) {
      const at::Tensor places = item.tensor.nonzero();
      for (std::int64_t d = 0; d < places.size(1); ++d)
        result.push_back(picked(places.select(1, d), /*of_mask=*/true));
    } else {
      result.push_back(item);
    }
  }
  return result;
}

std::optional<std::vector<IndexItem>> compose(c10::ArrayRef<IndexItem> first,
                                              c10::ArrayRef<IndexItem> second, SizesView batch) {
  if (is_whole(second)) return first.vec();
  if (is_whole(first)) return second.vec();
  if (is_uneven(batch)) return std::nullopt;
  const IndexPlan outer(first, batch);
  const Sizes part = outer.sizes(batch);
  if (!outer.gathers()) {
    if (auto items = OverView(outer.view(), part, batch).run(second)) return items;
  }
  return counted_out(outer, IndexPlan(second, part), part, batch);
}

}  // namespace td
