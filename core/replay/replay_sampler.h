// core/replay/replay_sampler.h: which rows of a ring are drawn.
#pragma once

#include "core/loader/permutation.h"
#include "core/loader/slices.h"
#include "core/replay/json_members.h"
#include "core/replay/ring.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace td {

enum class ReplaySampling {
  as_stored,                   // the sampler that the folder's files name
  random,                      // uniform, with replacement
  without_replacement,         // a permutation, then the next one
  slices,                      // runs of rows within an episode
  prioritized,                 // in proportion to priorities
  slices_without_replacement,  // one slice of each episode, then again in another order
  prioritized_slices,          // slices that begin in proportion to priorities
  foreign,                     // one that only TorchRL has: refuses to draw
};

constexpr bool of_slices(ReplaySampling sampling) noexcept {
  return sampling == ReplaySampling::slices ||
         sampling == ReplaySampling::slices_without_replacement ||
         sampling == ReplaySampling::prioritized_slices;
}
constexpr bool has_priorities(ReplaySampling sampling) noexcept {
  return sampling == ReplaySampling::prioritized || sampling == ReplaySampling::prioritized_slices;
}
constexpr bool draws_once(ReplaySampling sampling) noexcept {
  return sampling == ReplaySampling::without_replacement ||
         sampling == ReplaySampling::slices_without_replacement;
}
// The sampler that a folder with the files of this one seems to have: files do not say whether rows or slices are drawn.
constexpr ReplaySampling by_files(ReplaySampling sampling) noexcept {
  if (has_priorities(sampling)) return ReplaySampling::prioritized;
  if (draws_once(sampling)) return ReplaySampling::without_replacement;
  return of_slices(sampling) ? ReplaySampling::random : sampling;
}

struct ReplayOptions {
  ReplaySampling sampling = ReplaySampling::as_stored;
  std::int64_t capacity = 0;
  std::int64_t rows = 0;  // of a batch; 0: each call must say
  std::uint64_t seed = 0;
  bool drop_last = false;      // without replacement: drops an incomplete last batch
  bool in_order = false;       // without replacement: in order of places
  bool batch_weights = false;  // scales weights to a maximum of 1 in each batch, not over all rows
  double alpha = 0.6, beta = 0.4, eps = 1e-8;
  SliceOptions slices;          // `short_ones`: also draws episodes that are shorter
  std::int64_t num_slices = 0;  // of a batch, instead of the length of a slice
  // How many rows of a slice may lie before its episode or behind it; they are dropped.
  std::int64_t span_begin = 0, span_end = 0;
  static constexpr std::int64_t whole_span = std::int64_t{1} << 62;  // all but one
  bool mark_ends = false;             // of slices, in ("next", "done") and others
  bool by_slice = false;              // a batch is [slices, rows of a slice]
  std::vector<std::string> priority;  // the entry that gives new rows their priority; may be empty
  bool largest_within = false;        // new rows get the largest priority of rows that are there
  std::int64_t dims = 0;              // of the storage; 0: those of the folder, or 1
  std::int64_t steps = 0;             // of returns; 0: rewards are as they were written
  double gamma = 0.99;                // their discount
  std::vector<std::vector<std::string>> rewards;  // entries that are summed
  std::vector<std::string> mask;  // of rows that are real; empty: "mask", if there is one
  std::string folder;             // empty: in memory
  bool as_stored = false;         // the folder, not the caller, named the sampler
};

// Replaces 0 by defaults; throws Code::invalid_argument for contradictory options.
ReplayOptions checked(ReplayOptions options);

// The same options; ("next", "done") ends episodes unless they say what does.
SliceOptions episodes_of(SliceOptions slices);

// A sequence of random numbers determined by a seed.
struct RandomNumbers {
  std::uint64_t seed = 0, drawn = 0;

  std::uint64_t next() noexcept { return mixed(seed, drawn++); }
  std::int64_t below(std::int64_t n) noexcept { return td::below(next(), n); }
  double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
};

struct Drawn {
  std::vector<std::int64_t> places;
  std::vector<float> weights;         // of a prioritized draw
  std::vector<std::int64_t> lengths;  // of slices
  std::int64_t slice = 0;             // the length of a full one
};

class Priorities;

// Not thread-safe.
class ReplaySampler {
 public:
  virtual ~ReplaySampler() = default;
  ReplaySampler(const ReplaySampler&) = delete;
  ReplaySampler& operator=(const ReplaySampler&) = delete;

  // Draws `count` rows. commit() makes the draw count. Throws Code::shape if there are no rows.
  virtual void draw(const RingCounts& ring, const RingRows& rows, std::int64_t count,
                    RandomNumbers& random, Drawn& drawn) = 0;
  virtual void commit() {}

  // Takes note of rows added since the last call. `rows` is nullptr before the first row.
  virtual void follow(const RingCounts&, const RingRows* /*rows*/) {}

  virtual Priorities* priorities() noexcept { return nullptr; }

  // Takes note of rows written elsewhere than at the cursor, instead of follow().
  virtual void replaced(c10::ArrayRef<std::int64_t> /*places*/, const RingCounts&,
                        const RingRows& /*rows*/) {}

  // Whether save() writes files.
  virtual bool has_files() const noexcept { return false; }

  virtual void save(const std::string& /*folder*/, bool /*in_new*/) const {
  }  // into a folder, which it creates if necessary
  virtual void load(const std::string& /*folder*/, const RingCounts& /*ring*/) {}

 protected:
  ReplaySampler() = default;
};

std::unique_ptr<ReplaySampler> make_random_draws();
std::unique_ptr<ReplaySampler> make_draws_without_replacement(const ReplayOptions& options);
std::unique_ptr<ReplaySampler> make_slice_draws(const ReplayOptions& options);
std::unique_ptr<ReplaySampler> make_prioritized_slices(const ReplayOptions& options);
// Refuses to draw. `name`: the sampler whose files the folder has.
std::unique_ptr<ReplaySampler> make_foreign_draws(std::string name);

}  // namespace td
