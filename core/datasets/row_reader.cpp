#include "core/datasets/row_reader.h"

#include "core/tree/non_tensor.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::datasets {

namespace {

// What a row takes in memory, about. Texts and files of pictures differ from row to row.
std::int64_t bytes_of(const TensorDict& row) {
  std::size_t bytes = 0;
  visit_paths(*row.node(), [&](Path path, const Value& value) {
    if (!value.is_node()) {
      bytes += value.tensor().nbytes();
    } else if (row.kind_of(path) == EntryKind::non_tensor) {
      bytes += sizeof(Plain) + values_of(row, path).size();
    }
  });
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

RowReader::RowReader(const Dataset& set, std::int64_t most_held)
    : source_(set.source()), most_held_(most_held) {
  for (const std::int64_t length : set.lengths()) starts_.push_back(starts_.back() + length);
}

at::Tensor RowReader::episodes() const {
  at::Tensor result = at::empty({rows()}, at::kLong);
  auto* numbers = result.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i + 1 < starts_.size(); ++i)
    std::fill(numbers + starts_[i], numbers + starts_[i + 1], static_cast<std::int64_t>(i));
  return result;
}

void RowReader::hold() const {
  if (rows() == 0) return;
  try {
    if (bytes_of(read_anew(at::zeros({1}, at::kLong))) > most_held_ / rows()) return;
    held_ = read_anew(at::arange(rows(), at::kLong));
  } catch (const Error& failure) {
    if (failure.code() == Code::out_of_memory) throw;
    // Rows that can be read are given; the others fail when they are asked for.
  }
}

TensorDict RowReader::read(const at::Tensor& rows) const {
  std::call_once(tried_, [&] { hold(); });
  return held_ ? held_->index(IndexItem::of(rows)) : read_anew(rows);
}

TensorDict RowReader::read_anew(const at::Tensor& rows) const {
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
