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
  as_stored,            // the sampler that the folder's files name
  random,               // uniform, with replacement
  without_replacement,  // a permutation, then the next one
  slices,               // runs of rows within an episode
  prioritized,          // in proportion to priorities
  foreign,              // one that only TorchRL has: refuses to draw
};

struct ReplayOptions {
  ReplaySampling sampling = ReplaySampling::as_stored;
  std::int64_t capacity = 0;
  std::int64_t rows = 0;  // of a batch; 0: each call must say
  std::uint64_t seed = 0;
  bool drop_last = false;      // without replacement: drops an incomplete last batch
  bool in_order = false;       // without replacement: in order of places
  bool batch_weights = false;  // scales weights to a maximum of 1 in each batch, not over all rows
  double alpha = 0.6, beta = 0.4, eps = 1e-8;
  SliceOptions slices;  // `short_ones`: also draws episodes that are shorter
  // Slices may start before their episode or end after it; rows outside are dropped.
  bool span_begin = false, span_end = false;
  std::string folder;        // empty: in memory
  std::int64_t columns = 1;  // places in a row of the first dimension of the storage
  bool as_stored = false;    // the folder, not the caller, named the sampler
};

// Replaces 0 by defaults; throws Code::invalid_argument for contradictory options.
ReplayOptions checked(ReplayOptions options);

// A sequence of random numbers determined by a seed.
struct RandomNumbers {
  std::uint64_t seed = 0, drawn = 0;

  std::uint64_t next() noexcept { return mixed(seed, drawn++); }
  std::int64_t below(std::int64_t n) noexcept { return td::below(next(), n); }
  double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
};

struct Drawn {
  std::vector<std::int64_t> places;
  std::vector<float> weights;  // of a prioritized draw
};

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

  // Takes note of rows added since the last call.
  virtual void follow(const RingCounts&) {}

  // Takes note of rows written elsewhere than at the cursor, instead of follow().
  virtual void replaced(c10::ArrayRef<std::int64_t> /*places*/, const RingCounts&) {}

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
// Refuses to draw. `name`: the sampler whose files the folder has.
std::unique_ptr<ReplaySampler> make_foreign_draws(std::string name);

}  // namespace td
