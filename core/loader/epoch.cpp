#include "core/loader/epoch.h"

#include "core/shape/convert.h"

#include <ATen/ATen.h>

#include <numeric>

namespace td {

namespace {

Drawing drawing_of(const LoaderOptions& options) {
  if (options.weights.defined()) return Drawing::weighted;
  if (options.with_replacement) return Drawing::with_replacement;
  return options.shuffle ? Drawing::shuffled : Drawing::in_order;
}

}  // namespace

Items::Items(std::shared_ptr<const RowSource> from, std::int64_t count_of_rows,
             const LoaderOptions& options)
    : source(std::move(from)), rows(count_of_rows) {
  if (options.slices.length > 0) slices.emplace(*source, rows, options.slices);
  if (options.weights.defined()) {
    sums = weight_sums(checked_weights(options.weights, rows), count(),
                       [&](std::int64_t item) { return slices ? (*slices)[item].first : item; });
  }
}

Epoch::Epoch(std::int64_t number, std::shared_ptr<const Items> items, std::uint64_t seed,
             const LoaderOptions& options)
    : options_(options),
      items_(std::move(items)),
      seed_(mixed(seed, static_cast<std::uint64_t>(number))),
      sampler_(
          make_sampler(drawing_of(options), items_->count(), seed_, options.draws, items_->sums)) {
  // Each rank takes a contiguous part of the draws: ordered batches have adjacent rows.
  const std::int64_t all = sampler_->length(), ranks = options.world_size;
  const std::int64_t each = all / ranks, more = options.drop_last ? 0 : all % ranks;
  first_ = options.rank * each + std::min(options.rank, more);
  draws_ = each + (options.rank < more ? 1 : 0);
  batches_ = draws_ / options.rows;
  if (!options.drop_last && draws_ % options.rows != 0) ++batches_;
}

TensorDict Epoch::picked(c10::ArrayRef<std::int64_t> rows, SizesView front) const {
  const at::Tensor positions = at::empty(front, at::kLong);
  std::copy(rows.begin(), rows.end(), positions.data_ptr<std::int64_t>());
  return items_->source->pick(positions);
}

TensorDict Epoch::gathered(std::int64_t first, std::int64_t count, BatchPool& pool,
                           Scratch& scratch) const {
  const at::NoGradGuard no_grad;  // batches are not recorded by autograd
  scratch.items.resize(static_cast<std::size_t>(count));
  sampler_->draw(first, count, scratch.items.data());
  std::int64_t rows = count;
  if (items_->slices) {
    rows = 0;
    scratch.runs.clear();
    for (const std::int64_t item : scratch.items) {
      scratch.runs.push_back((*items_->slices)[item]);
      rows += scratch.runs.back().length;
    }
  }
  Sizes front{rows};
  if (items_->slices && !options_.concatenate) front = {count, options_.slices.length};
  if (items_->source->plain()) {
    std::shared_ptr<PooledBatch> batch = pool.take(items_->source, front);
    if (items_->slices) {
      items_->source->copy_runs(scratch.runs, batch->targets());
    } else {
      items_->source->copy_rows(scratch.items, batch->targets());
    }
    TensorDict result = batch->dict();
    pool.give(batch);
    return result;
  }
  if (!items_->slices) return picked(scratch.items, front);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(rows));
  auto to = positions.begin();
  for (const Run& run : scratch.runs) {
    std::iota(to, to + run.length, run.first);
    to += run.length;
  }
  return picked(positions, front);
}

TensorDict Epoch::batch(std::int64_t number, int worker, BatchPool& pool, Scratch& scratch) const {
  Piece piece;
  piece.number = static_cast<std::size_t>(number);
  piece.count = static_cast<std::size_t>(batches_);
  piece.first = number * options_.rows;
  piece.length = std::min(options_.rows, draws_ - piece.first);
  piece.worker = worker;
  // Another seed than that of the draws, so that the two do not depend on each other.
  piece.seed =
      mixed(~seed_, static_cast<std::uint64_t>(number * options_.world_size + options_.rank));
  TensorDict result = gathered(first_ + piece.first, piece.length, pool, scratch);
  if (options_.device || options_.pin) {
    ConvertOptions convert_options;
    convert_options.device = options_.device;
    convert_options.pin = options_.pin;
    result = convert(result, convert_options);
  }
  return options_.transform ? options_.transform(piece, result) : result;
}

}  // namespace td
