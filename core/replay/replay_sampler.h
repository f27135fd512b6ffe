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
  as_stored,            // as the files of the folder say
  random,               // any row any number of times
  without_replacement,  // each row once, then again in another order
  slices,               // runs of rows of an episode
  prioritized,          // each as often as its priority says
};

struct ReplayOptions {
  ReplaySampling sampling = ReplaySampling::as_stored;
  std::int64_t capacity = 0;
  std::int64_t rows = 0;  // of a batch, unless the call says how many; 0: not known
  std::uint64_t seed = 0;
  bool drop_last = false;      // without replacement: leaves out what is no full batch
  bool in_order = false;       // without replacement: in the order of the places
  bool batch_weights = false;  // the largest weight of each batch is 1, not that of all rows
  double alpha = 0.6, beta = 0.4, eps = 1e-8;
  SliceOptions slices;  // `short_ones`: episodes that are shorter count, too
  // Slices may begin before their episode, or end behind it; what is outside is left out.
  bool span_begin = false, span_end = false;
  std::string folder;  // empty: in memory
};

// The options with what 0 stands for; throws Code::invalid_argument for those that make no sense.
ReplayOptions checked(ReplayOptions options);

// Numbers that follow from a seed, one after the other.
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

// One caller at a time.
class ReplaySampler {
 public:
  virtual ~ReplaySampler() = default;
  ReplaySampler(const ReplaySampler&) = delete;
  ReplaySampler& operator=(const ReplaySampler&) = delete;

  // Draws `rows` rows. What was drawn counts as drawn once commit() is called. Throws Code::shape when there
  // is nothing to draw.
  virtual void draw(const RingCounts& ring, const RingRows& rows, std::int64_t count,
                    RandomNumbers& random, Drawn& drawn) = 0;
  virtual void commit() {}

  // Looks at the rows that have come since the last call.
  virtual void follow(const RingCounts&) {}

  virtual void save(const std::string& /*folder*/, bool /*in_new*/) const {
  }  // into a folder, which it makes if need be
  virtual void load(const std::string& /*folder*/, const RingCounts& /*ring*/) {}

 protected:
  ReplaySampler() = default;
};

std::unique_ptr<ReplaySampler> make_random_draws();
std::unique_ptr<ReplaySampler> make_draws_without_replacement(const ReplayOptions& options);
std::unique_ptr<ReplaySampler> make_slice_draws(const ReplayOptions& options);

}  // namespace td
