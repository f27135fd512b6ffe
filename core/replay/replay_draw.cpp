// Rows are drawn from a buffer.
#include "core/replay/replay_hold.h"

#include "core/shape/join.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

// Draws a buffer for each of as many pieces as there are buffers, and each piece from its buffer, as TorchRL's
// SamplerEnsemble does without other options.
TensorDict Replay::sample_members(std::int64_t rows) {
  const auto n = static_cast<std::int64_t>(members_.size());
  if (rows % n != 0) {
    fail(Code::invalid_argument, "a batch of ", rows,
         " rows is no whole number of rows from each of ", n, " buffers");
  }
  std::vector<TensorDict> pieces;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t id = random_.below(n);
    TensorDict piece = members_[static_cast<std::size_t>(id)]->sample(rows / n);
    const std::string_view path[] = {"buffer_ids"};
    piece.set(path, at::full(piece.batch_size(), id, at::kLong));
    pieces.push_back(std::move(piece));
  }
  return cat(pieces, 0);
}

TensorDict Replay::sample(std::int64_t rows) { return drawn_batch(rows, nullptr).batch; }

Relabeled Replay::sample_hindsight(std::int64_t rows, const HindsightOptions& options) {
  check_hindsight(options);
  return drawn_batch(rows, &options);
}

Relabeled Replay::drawn_batch(std::int64_t rows, const HindsightOptions* hindsight) {
  const Hold hold(*this, /*alone=*/false);
  if (rows < 0) fail(Code::invalid_argument, "rows is ", rows, "; a batch has at least 1");
  if (rows == 0) rows = options_.rows;
  if (rows == 0)
    fail(Code::invalid_argument, "neither the call nor the options say how many rows a batch has");
  if (hindsight != nullptr) {
    require_single();
    if (read_)
      fail(Code::unsupported, "the rows are those of a data set: other goals need them in memory");
    if (options_.steps > 0 || options_.by_slice) {
      fail(Code::unsupported, "other goals have other rewards: neither returns of n_steps nor ",
           "batches by slice can be made of them");
    }
  }
  if (!members_.empty()) return {sample_members(rows), 0};
  if (!rows_ || counts_.whole() == 0)
    fail(Code::shape, "the buffer holds no rows yet: none can be drawn");
  const at::NoGradGuard no_grad;
  sampler_->follow(counts_, rows_.get());
  RandomNumbers random = random_;
  Drawn drawn;
  drawn.places.reserve(static_cast<std::size_t>(rows));  // refuses what no memory holds
  sampler_->draw(counts_, *rows_, rows, random, drawn);
  const SliceLayout layout =
      options_.by_slice ? SliceLayout::filled(drawn) : SliceLayout::of(drawn);
  Relabeled result{gathered(drawn), 0};
  if (returns_) returns_->apply(counts_, *rows_, drawn.places, result.batch);
  if (hindsight != nullptr) result.rows = relabel(*hindsight, drawn, random, result.batch);
  if (options_.mark_ends) layout.mark(result.batch);
  if (options_.by_slice) result.batch = layout.by_slice(std::move(result.batch));
  sampler_->commit();
  random_ = random;
  return result;
}

// Gives the first rows other goals; how many.
std::int64_t Replay::relabel(const HindsightOptions& options, const Drawn& drawn,
                             RandomNumbers& random, TensorDict& batch) {
  if (!episodes_) {
    ReplayOptions told_apart = options_;
    told_apart.slices = episodes_of(std::move(told_apart.slices));
    episodes_.emplace(told_apart);
  }
  episodes_->follow(counts_, *rows_);
  const c10::ArrayRef<std::int64_t> places = drawn.places;
  const std::int64_t first =
      hindsight_rows(options, static_cast<std::int64_t>(drawn.places.size()));
  give_reached_goals(options, *episodes_, *rows_, places.slice(0, static_cast<std::size_t>(first)),
                     random, batch);
  return first;
}

TensorDict Replay::gathered(const Drawn& drawn) {
  const auto n = static_cast<std::int64_t>(drawn.places.size());
  TensorDict result;
  const std::shared_ptr<const RowSource>& source = rows_->source();
  if (read_) {
    result = read_(at::tensor(drawn.places, at::kLong));
  } else if (source->plain()) {
    std::shared_ptr<PooledBatch> batch = pool_.take(source, {n});
    source->copy_rows(drawn.places, batch->targets());
    result = batch->dict();
    pool_.give(batch);
  } else {
    result = source->pick(at::tensor(drawn.places, at::kLong));
  }
  const auto put = [&](std::string_view name, at::Tensor value) {
    const std::string_view path[] = {name};
    // As in TorchRL, all elements of a row get the row's number.
    Sizes sizes(result.batch_size().begin(), result.batch_size().end());
    sizes.append(value.sizes().begin() + 1, value.sizes().end());
    if (value.sizes() != SizesView(sizes)) {
      while (value.dim() < static_cast<std::int64_t>(sizes.size())) value = value.unsqueeze(1);
      value = value.expand(sizes).contiguous();
    }
    result.set(path, std::move(value));
  };
  put("index", index_of(drawn.places));
  if (!drawn.weights.empty()) {
    at::Tensor weights = at::empty({n}, at::kFloat);
    std::copy(drawn.weights.begin(), drawn.weights.end(), weights.data_ptr<float>());
    put("priority_weight", std::move(weights));
  }
  return result;
}

}  // namespace td
