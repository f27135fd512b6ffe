#include "core/datasets/verify_stats.h"

#include "core/base/quote.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace td::datasets {

namespace {

void add_values(const Plain& value, std::vector<double>& to) {
  if (value.is(Plain::boolean)) to.push_back(value.truth() ? 1 : 0);
  if (value.is_number()) to.push_back(value.number());
  if (!value.is(Plain::list)) return;
  for (const Plain& one : value.items()) add_values(one, to);
}

std::vector<double> doubles_of(const at::Tensor& values) {
  const at::Tensor flat = values.to(at::kDouble).reshape({-1}).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

}  // namespace

void SeenStats::add(const std::string& column, const at::Tensor& rows) {
  if (rows.size(0) == 0) return;
  const at::Tensor all = rows.to(at::kDouble);
  Seen here;
  here.low = all.amin(0);
  here.high = all.amax(0);
  here.sum = all.sum(0);
  here.count = rows.size(0);
  here.squares = (all - here.sum / static_cast<double>(here.count)).square().sum(0);
  join(columns_[column], here);
}

void SeenStats::add(const SeenStats& other) {
  for (const auto& column : other.columns_) join(columns_[column.first], column.second);
}

void SeenStats::join(Seen& to, const Seen& more) {
  if (to.count == 0) {
    to = more;
    return;
  }
  if (to.sum.sizes() != more.sum.sizes()) return;  // which is a problem of its own
  const auto before = static_cast<double>(to.count), here = static_cast<double>(more.count);
  const at::Tensor apart = more.sum / here - to.sum / before;
  to.low = at::minimum(to.low, more.low);
  to.high = at::maximum(to.high, more.high);
  to.squares = to.squares + more.squares + apart.square() * (before * here / (before + here));
  to.sum = to.sum + more.sum;
  to.count += more.count;
}

void SeenStats::compare(Problems& problems, const Spot& at, const Plain& told) const {
  for (const auto& column : columns_) {
    const Plain* stats = told.find(column.first, Plain::object);
    if (stats == nullptr) continue;
    const Seen& seen = column.second;
    const auto count = static_cast<double>(seen.count);
    const at::Tensor mean = seen.sum / count;
    const std::pair<const char*, std::vector<double>> whole[] = {
        {"min", doubles_of(seen.low)},
        {"max", doubles_of(seen.high)},
        {"mean", doubles_of(mean)},
        {"std", doubles_of((seen.squares / count).sqrt())},
        {"count", {count}}};
    // Of more dimensions, the last alone is kept.
    const std::int64_t last = seen.sum.dim() == 0 ? 1 : seen.sum.size(-1);
    const at::Tensor rows_mean = mean.reshape({-1, last}), middle = rows_mean.mean(0);
    const std::pair<const char*, std::vector<double>> reduced[] = {
        {"min", doubles_of(seen.low.reshape({-1, last}).amin(0))},
        {"max", doubles_of(seen.high.reshape({-1, last}).amax(0))},
        {"mean", doubles_of(middle)},
        {"std",
         doubles_of(((seen.squares / count).reshape({-1, last}) + (rows_mean - middle).square())
                        .mean(0)
                        .sqrt())},
        {"count", {count}}};
    for (std::size_t i = 0; i < std::size(whole); ++i) {
      const Plain* one = stats->find(whole[i].first);
      if (one == nullptr) {
        problems.add(at, "the statistics of ", quote(column.first), " have no ",
                     quote(whole[i].first));
        continue;
      }
      std::vector<double> values;
      add_values(*one, values);
      const std::vector<double>& wanted =
          values.size() == whole[i].second.size() ? whole[i].second : reduced[i].second;
      if (values.size() != wanted.size()) {
        problems.add(at, quote(whole[i].first), " of ", quote(column.first), " has ", values.size(),
                     " numbers, and a row of it ", wanted.size());
        continue;
      }
      for (std::size_t n = 0; n < values.size(); ++n) {
        const double room = 1e-4 * std::max(1.0, std::abs(wanted[n]));
        const bool same = std::abs(values[n] - wanted[n]) <= room || values[n] == wanted[n] ||
                          (std::isnan(values[n]) && std::isnan(wanted[n]));
        if (same) continue;
        problems.add(at, quote(whole[i].first), " of ", quote(column.first), " is ", values[n],
                     " in the statistics, and ", wanted[n], " in the data");
        break;
      }
    }
  }
}

}  // namespace td::datasets
