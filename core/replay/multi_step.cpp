#include "core/replay/multi_step.h"

#include "core/nn/key_path.h"
#include "core/replay/episodes.h"
#include "core/tensor/dtype.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace td {

namespace {

// As [rows, values of a row].
at::Tensor by_row(const at::Tensor& values) {
  return values.dim() == 1 ? values.unsqueeze(1) : values.flatten(1);
}

// One flag for each row.
at::Tensor flags_in(const at::Tensor& values, Path path) {
  if (values.scalar_type() != at::kBool)
    fail(Code::dtype, show_path(path), " must be bool, found ", dtype_name(values.scalar_type()));
  const at::Tensor flags = by_row(values);
  if (flags.size(1) != 1) {
    fail(Code::shape, show_path(path), " has shape ", show_sizes(values.sizes()),
         ": returns of several steps need one flag for each row");
  }
  return flags.squeeze(1);
}

struct RewardSum {
  KeyPath path;
  at::Tensor all;  // of the ring
  at::Tensor sum;  // in double precision
};

RewardSum sum_of(const RowSource& source, const std::vector<std::string>& key,
                 const at::Tensor& places) {
  RewardSum result{KeyPath(key), source.column(KeyPath(key)), {}};
  const c10::ScalarType dtype = result.all.scalar_type();
  if (!at::isFloatingType(dtype)) {
    fail(Code::dtype, show_path(result.path), " is ", dtype_name(dtype),
         ": discounted rewards must be floating-point");
  }
  result.sum = result.all.index_select(0, places).to(at::kDouble);
  return result;
}

}  // namespace

MultiStep::MultiStep(const ReplayOptions& options)
    : steps_(options.steps),
      gamma_(options.gamma),
      rewards_(options.rewards),
      mask_(options.mask),
      episodes_(episodes_of(options.slices)) {}

void MultiStep::find_moved(const RingRows& rows) {
  if (of_ == &rows) return;
  std::vector<Key> stay = rewards_, moved;
  stay.insert(stay.end(), episodes_.ends.begin(), episodes_.ends.end());
  for (const char* flag : {"done", "terminated", "truncated"}) stay.push_back({"next", flag});
  visit_paths(*rows.dict().node(), [&](Path path, const Value& value) {
    if (value.is_node() || path.size() < 2 || path[0] != "next") return;
    Key key(path.begin(), path.end());
    if (std::find(stay.begin(), stay.end(), key) == stay.end()) moved.push_back(std::move(key));
  });
  // Without keys a source has all entries.
  if (!moved.empty()) last_rows_ = std::make_shared<RowSource>(rows.dict(), /*flat=*/false, moved);
  moved_ = std::move(moved);
  of_ = &rows;
}

at::Tensor MultiStep::ended(const RowSource& source, const at::Tensor& places) const {
  at::Tensor result = at::zeros(places.sizes(), at::kBool);
  for (const Key& end : episodes_.ends) {
    const KeyPath path(end);
    result.logical_or_(flags_in(source.column(path).index_select(0, places), path));
  }
  return result;
}

// Python takes an entry "mask" for that of real rows.
at::Tensor MultiStep::real_rows(const TensorDict& batch, std::int64_t n) const {
  const KeyPath path(mask_.empty() ? Key{"mask"} : mask_);
  if (mask_.empty()) {
    const at::Tensor* stored = batch.stored(path);
    if (stored == nullptr || stored->scalar_type() != at::kBool || stored->numel() != n)
      return at::ones({n}, at::kBool);
  }
  return flags_in(batch.get(path), path);
}

void MultiStep::apply(const RingCounts& ring, const RingRows& rows,
                      c10::ArrayRef<std::int64_t> places, TensorDict& batch) {
  if (rows.dict().batch_size().size() != 1) {
    fail(Code::unsupported, "rows are batches of ", show_sizes(rows.dict().batch_size().slice(1)),
         ", which may end one by one: returns of several steps need single elements (dims)");
  }
  find_moved(rows);
  const RowSource& source = *rows.source();
  const auto n = static_cast<std::int64_t>(places.size());
  const std::int64_t columns = rows.places_of_row();
  const RingCounts time = in_steps(ring, columns);
  at::Tensor place = at::tensor(places, at::kLong), behind = at::empty({n}, at::kLong);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t step = time.number(places[static_cast<std::size_t>(i)] / columns);
    behind.data_ptr<std::int64_t>()[i] = time.whole() - 1 - step;
  }
  std::vector<RewardSum> sums;
  for (const Key& reward : rewards_) sums.push_back(sum_of(source, reward, place));
  at::Tensor goes_on = at::ones({n}, at::kBool), steps = at::ones({n}, at::kLong);
  for (std::int64_t k = 1; k < steps_; ++k) {
    goes_on = goes_on.logical_and(behind.ge(k)).logical_and(ended(source, place).logical_not());
    const at::Tensor next = (place + columns).remainder(ring.capacity);
    if (!episodes_.episode.empty()) {
      const at::Tensor ids = source.column(KeyPath(episodes_.episode));
      const at::Tensor same =
          by_row(ids.index_select(0, place)).eq(by_row(ids.index_select(0, next))).all(1);
      goes_on = goes_on.logical_and(same);
    }
    if (!goes_on.any().item<bool>()) break;
    place = at::where(goes_on, next, place);
    steps += goes_on;
    for (RewardSum& sum : sums) {
      Sizes front(static_cast<std::size_t>(sum.all.dim()), 1);
      front[0] = n;
      const at::Tensor later = sum.all.index_select(0, place).to(at::kDouble);
      const at::Tensor more = later * std::pow(gamma_, static_cast<double>(k));
      sum.sum += more.masked_fill(goes_on.logical_not().reshape(front), 0);
    }
  }
  if (!moved_.empty()) {
    const TensorDict last = last_rows_->pick(place);
    for (const Key& key : moved_) batch.set(KeyPath(key), last.get(KeyPath(key)));
  }
  const std::string_view original[] = {"next", "original_reward"}, count[] = {"steps_to_next_obs"},
                         gamma[] = {"gamma"}, nonterminal[] = {"nonterminal"};
  for (const RewardSum& sum : sums) {
    batch.set(original, batch.get(sum.path));
    batch.set(sum.path, sum.sum.to(sum.all.scalar_type()));
  }
  const at::Tensor real = real_rows(batch, n);
  batch.set(count, steps);
  batch.set(gamma, at::pow(gamma_, steps.to(at::kDouble)).to(at::kFloat));
  batch.set(nonterminal, steps.ne(1).logical_and(real));
}

}  // namespace td
