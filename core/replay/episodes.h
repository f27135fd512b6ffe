// core/replay/episodes.h: where the episodes of a ring are.
#pragma once

#include "core/replay/replay_sampler.h"
#include "core/replay/row_borders.h"

#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace td {

struct RingEpisode {
  std::int64_t first, length;  // in steps; they are numbered on, however often the ring is full
  std::int64_t column;

  std::int64_t end() const noexcept { return first + length; }
};

// Episodes of at least so many steps, by column, then by age.
class EpisodeTable {
 public:
  explicit EpisodeTable(std::int64_t least = 1) : least_(least) {}

  std::int64_t least() const noexcept { return least_; }
  std::int64_t size() const noexcept { return size_; }
  const RingEpisode& operator[](std::int64_t number) const noexcept;
  const std::deque<RingEpisode>& column(std::int64_t column) const noexcept {
    return columns_[static_cast<std::size_t>(column)];
  }

  void begin(std::int64_t columns);
  void add(const RingEpisode& episode);
  // The newest episode of its column after one step more, which may be its first.
  void extended(const RingEpisode& episode);
  // The oldest one of its column after it lost its first step, which may be its last.
  void shortened(const RingEpisode& episode);

 private:
  std::int64_t least_;
  std::int64_t size_ = 0;
  std::vector<std::deque<RingEpisode>> columns_;
};

// The same counts in steps, of `columns` places each.
RingCounts in_steps(RingCounts ring, std::int64_t columns) noexcept;

// Calls `f(first, length)` for each episode of a column of rows, by age; `time` says which step lies where.
void each_episode(const RowSource& column, const RingCounts& time, const SliceOptions& options,
                  const std::function<void(std::int64_t, std::int64_t)>& f);

// The cursor of a full ring and rows being written separate episodes; the end of the memory does not. In a storage of
// several dimensions the first one is time, as in TorchRL, and each place in a row is a column of its own.
class RingEpisodes {
 public:
  // Told of each episode that a new row began, made longer, or took the first row of.
  using Changed = std::function<void(const RingEpisode&)>;

  explicit RingEpisodes(const ReplayOptions& options) : options_(options.slices) {
    all_.begin(columns_);
  }

  // Takes up what has changed since the last call. true: all were found anew, since more than rows at the cursor did.
  bool follow(const RingCounts& ring, const RingRows& rows, const Changed& changed = nullptr);

  const EpisodeTable& all() const noexcept { return all_; }
  // Those of at least so many steps: the table is made once, and follows.
  const EpisodeTable& at_least(std::int64_t steps);

  std::int64_t place(const RingEpisode& episode, std::int64_t step) const noexcept {
    return time_.place(episode.first + step - begin_) * columns_ + episode.column;
  }
  std::int64_t columns() const noexcept { return columns_; }
  // The ring's state in steps, and the number of the step at a place.
  const RingCounts& time() const noexcept { return time_; }
  std::int64_t step_at(std::int64_t place) const noexcept {
    return begin_ + time_.number(place / columns_);
  }

  std::int64_t end() const noexcept { return begin_ + time_.whole(); }  // behind the newest step

  // The episode that a whole row belongs to.
  const RingEpisode& of(std::int64_t place) const noexcept;

  // TorchRL numbers episodes by column, then by the place of the last row.
  const RingEpisode& by_place(std::int64_t number) const noexcept;

 private:
  bool can_follow(const RingCounts& time, const RingRows& rows) const noexcept;
  void find_all(const RingCounts& ring, const RingCounts& time, const RingRows& rows);
  void take_step(const Changed& changed);

  SliceOptions options_;
  std::int64_t columns_ = 1;
  RingCounts seen_;
  RingCounts time_;
  std::int64_t begin_ = 0;  // the number of the oldest step
  EpisodeTable all_;
  std::optional<EpisodeTable> some_;
  const RingRows* rows_ = nullptr;  // those of `borders_`
  std::optional<RowBorders> borders_;
};

// How many rows a slice of a batch of `count` has. Throws Code::invalid_argument if slices do not fill the batch.
std::int64_t slice_length(const ReplayOptions& options, std::int64_t count);

[[noreturn]] void fail_without_episodes(const RingCounts& ring, std::int64_t length);

}  // namespace td
