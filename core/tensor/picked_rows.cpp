#include "core/tensor/picked_rows.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

// Converts positions into runs of neighbours.
void set_positions(PickedRows& rows, const at::Tensor& flat) {
  const std::int64_t* data = flat.data_ptr<std::int64_t>();
  const std::int64_t count = flat.numel();
  std::vector<std::int64_t> sorted(data, data + count);
  const bool rising =
      std::adjacent_find(sorted.begin(), sorted.end(), std::greater_equal<>()) == sorted.end();
  if (!rising) {
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    rows.order.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      rows.order.push_back(std::lower_bound(sorted.begin(), sorted.end(), data[i]) -
                           sorted.begin());
    }
  }
  for (const std::int64_t position : sorted) {
    if (!rows.runs.empty() && rows.runs.back().start + rows.runs.back().count == position) {
      ++rows.runs.back().count;
    } else {
      rows.runs.push_back({position, 1, 1});
    }
  }
  rows.read_count = static_cast<std::int64_t>(sorted.size());
  rows.count = count;
}

void set_run(PickedRows& rows, std::int64_t start, std::int64_t count, std::int64_t step) {
  if (count > 0) rows.runs.push_back({start, count, step});
  rows.read_count = rows.count = count;
}

// The positions of a mask over the first dimension, or of an integer tensor; undefined for others.
at::Tensor positions_in(const at::Tensor& index, std::int64_t length) {
  const bool mask = index.scalar_type() == at::kBool;
  if (mask && index.dim() != 1) return at::Tensor();
  if (mask) return index.nonzero().squeeze(1).contiguous();
  return at::where(index < 0, index + length, index).contiguous();
}

}  // namespace

RowIndex split_rows(c10::ArrayRef<IndexItem> items, SizesView batch) {
  RowIndex result;
  PickedRows& rows = result.rows;
  if (!batch.empty()) rows.count = rows.read_count = batch[0];
  if (items.empty()) return result;
  // Throws before anything is read.
  const IndexPlan checked(items, batch);
  result.rest.assign(items.begin(), items.end());
  if (batch.empty()) return result;
  const IndexItem& first = items[0];
  const bool alone = items.size() == 1;
  if (first.kind == IndexKind::integer) {
    const std::int64_t at = *first.start;
    rows.all = false;
    set_run(rows, at < 0 ? at + batch[0] : at, 1, 1);
    result.rest[0] = IndexItem::at(0);
  } else if (first.kind == IndexKind::slice && first.step.value_or(1) > 0) {
    const std::int64_t length = batch[0], step = first.step.value_or(1);
    const auto clip = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + length : at, 0, length);
    };
    const std::int64_t start = clip(first.start.value_or(0)),
                       stop = clip(first.stop.value_or(length));
    rows.all = false;
    set_run(rows, start, stop > start ? (stop - start - 1) / step + 1 : 0, step);
    result.rest[0] = IndexItem::range(std::nullopt, std::nullopt);
    if (alone) result.rest.clear();
  } else if (first.kind == IndexKind::tensor) {
    const at::Tensor positions = positions_in(first.tensor, batch[0]);
    if (!positions.defined()) return result;
    rows.all = false;
    set_positions(rows, positions.reshape({-1}));
    IndexItem item = IndexItem::of(at::arange(rows.count, at::kLong).view(positions.sizes()));
    item.of_mask = first.tensor.scalar_type() == at::kBool;
    result.rest[0] = std::move(item);
    if (alone && positions.dim() == 1) result.rest.clear();
  }
  return result;
}

}  // namespace td
