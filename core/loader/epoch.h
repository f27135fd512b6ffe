// core/loader/epoch.h: one pass over a dictionary: defines its batches and creates any of them.
#pragma once

#include "core/loader/batch_pool.h"
#include "core/loader/loader.h"

namespace td {

// Reused by each worker, so that batches do not allocate it.
struct Scratch {
  std::vector<std::int64_t> items;
  std::vector<Run> runs;
};

// The items to draw: rows of a source, or slices. Shared by epochs over the same rows.
struct Items {
  // `rows`: uses only the first rows of the source.
  Items(std::shared_ptr<const RowSource> source, std::int64_t rows, const LoaderOptions& options);
  explicit Items(const std::shared_ptr<const RowSource>& source, const LoaderOptions& options)
      : Items(source, source->rows(), options) {}

  std::int64_t count() const noexcept { return slices ? slices->count() : rows; }

  std::shared_ptr<const RowSource> source;
  std::int64_t rows;
  std::optional<Slices> slices;
  std::shared_ptr<const WeightSums> sums;  // of the weights, if any
};

// Immutable: workers share it.
class Epoch {
 public:
  Epoch(std::int64_t number, std::shared_ptr<const Items> items, std::uint64_t seed,
        const LoaderOptions& options);

  std::int64_t rows() const noexcept { return items_->rows; }  // of the source
  std::int64_t draws() const noexcept { return draws_; }       // of this rank
  std::int64_t batches() const noexcept { return batches_; }   // of this rank

  TensorDict batch(std::int64_t number, int worker, BatchPool& pool, Scratch& scratch) const;

 private:
  TensorDict gathered(std::int64_t first, std::int64_t count, BatchPool& pool,
                      Scratch& scratch) const;
  TensorDict picked(c10::ArrayRef<std::int64_t> rows, SizesView front) const;

  const LoaderOptions& options_;
  std::shared_ptr<const Items> items_;
  std::uint64_t seed_;
  std::unique_ptr<const Sampler> sampler_;
  std::int64_t first_ = 0, draws_ = 0, batches_ = 0;
};

}  // namespace td
