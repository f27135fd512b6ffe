// core/replay/episodes.h: where the episodes of a ring are.
#pragma once

#include "core/replay/replay_sampler.h"

#include <vector>

namespace td {

struct RingEpisode {
  std::int64_t first, length;  // in steps, counted from the oldest
  std::int64_t column;
};

// The same counts in steps, of `columns` places each.
RingCounts in_steps(RingCounts ring, std::int64_t columns) noexcept;

// The cursor of a full ring and rows being written separate episodes; the end of the memory does not. In a storage of
// several dimensions the first one is time, as in TorchRL, and each place in a row is a column of its own.
class RingEpisodes {
 public:
  explicit RingEpisodes(const ReplayOptions& options) : options_(options.slices) {}

  // Finds them anew if the ring has changed since; true: it had.
  bool follow(const RingCounts& ring, const RingRows& rows);

  const std::vector<RingEpisode>& all() const noexcept { return episodes_; }
  std::int64_t place(const RingEpisode& episode, std::int64_t step) const noexcept {
    return time_.place(episode.first + step) * columns_ + episode.column;
  }
  std::int64_t columns() const noexcept { return columns_; }
  // The ring's state in steps.
  const RingCounts& time() const noexcept { return time_; }

  // The episode that a whole row belongs to.
  const RingEpisode& of(std::int64_t place) const noexcept;

  // In the order of TorchRL's numbers: by column, then by the place of the last row.
  std::vector<std::size_t> by_place() const;

 private:
  SliceOptions options_;
  std::int64_t columns_ = 1;
  RingCounts seen_;
  RingCounts time_;
  std::vector<RingEpisode> episodes_;
};

// How many rows a slice of a batch of `count` has. Throws Code::invalid_argument if slices do not fill the batch.
std::int64_t slice_length(const ReplayOptions& options, std::int64_t count);

[[noreturn]] void fail_without_episodes(const RingCounts& ring, std::int64_t length);

}  // namespace td
