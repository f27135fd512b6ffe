#include "core/datasets/row_reader.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::datasets {

RowReader::RowReader(const Dataset& set) : source_(set.source()) {
  for (const std::int64_t length : set.lengths()) starts_.push_back(starts_.back() + length);
}

at::Tensor RowReader::episodes() const {
  at::Tensor result = at::empty({rows()}, at::kLong);
  auto* numbers = result.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i + 1 < starts_.size(); ++i)
    std::fill(numbers + starts_[i], numbers + starts_[i + 1], static_cast<std::int64_t>(i));
  return result;
}

TensorDict RowReader::read(const at::Tensor& rows) const {
  at::Tensor wanted, places;
  std::tie(wanted, places, std::ignore) =
      at::_unique2(rows.reshape({-1}), /*sorted=*/true, /*return_inverse=*/true);
  std::vector<Steps> steps;
  auto next = starts_.begin();
  for (std::int64_t i = 0; i < wanted.numel(); ++i) {
    const std::int64_t row = wanted.data_ptr<std::int64_t>()[i];
    next = std::upper_bound(next, starts_.end(), row);
    const std::int64_t episode = next - starts_.begin() - 1, from = row - *(next - 1);
    if (!steps.empty() && steps.back().episode == episode &&
        steps.back().from + steps.back().count == from) {
      ++steps.back().count;
    } else {
      steps.push_back({episode, from, 1});
    }
  }
  TensorDict found = source_->read(steps);
  const bool in_order =
      wanted.numel() == places.numel() && at::equal(places, at::arange(places.numel(), at::kLong));
  if (!in_order) found = found.index(IndexItem::of(places));
  return rows.dim() == 1 ? found : found.reshape(rows.sizes());
}

}  // namespace td::datasets
