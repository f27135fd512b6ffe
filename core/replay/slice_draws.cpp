// Draws runs of rows of one episode, in ring order.
#include "core/replay/replay_sampler.h"
#include "core/tree/view_ops.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

// Draws an episode, then a place in it. The cursor of a full ring and rows being written separate episodes;
// the end of the memory does not.
class SliceDraws final : public ReplaySampler {
 public:
  explicit SliceDraws(const ReplayOptions& options)
      : options_(options.slices),
        span_begin_(options.span_begin),
        span_end_(options.span_end),
        columns_(options.columns) {}

  void draw(const RingCounts& ring, const RingRows& rows, std::int64_t count, RandomNumbers& random,
            Drawn& drawn) override {
    if (count % options_.length != 0) {
      fail(Code::invalid_argument, "a batch of ", count, " rows is no whole number of slices of ",
           options_.length);
    }
    if (!(ring == seen_)) find_episodes(ring, rows);
    if (episodes_.empty()) {
      fail(Code::shape, "no episode among ", ring.whole(), " rows has ",
           options_.short_ones ? 1 : options_.length, " rows");
    }
    drawn.places.clear();
    for (std::int64_t slice = 0; slice < count / options_.length; ++slice) {
      const Episode& episode = episodes_[static_cast<std::size_t>(
          random.below(static_cast<std::int64_t>(episodes_.size())))];
      const std::int64_t length = std::min(options_.length, episode.length);
      const std::int64_t before =
          span_begin_ ? length - 1 : 0;  // a slice may begin before the episode; one row lies in it
      const std::int64_t behind = span_end_ ? length - 1 : 0;
      const std::int64_t places = episode.length - length + 1;
      const std::int64_t first = random.below(before + places + behind) - before;
      const std::int64_t end = std::min(first + length, episode.length);
      for (std::int64_t k = std::max<std::int64_t>(first, 0); k < end; ++k)
        drawn.places.push_back(time_.place(episode.first + k) * columns_ + episode.column);
    }
  }

 private:
  struct Episode {
    std::int64_t first, length;  // in steps, counted from the oldest
    std::int64_t column;
  };

  // Finds episodes as runs of steps. In a storage of several dimensions the first one is time, as in TorchRL, and
  // each place in a row is a column of its own.
  void find_episodes(const RingCounts& ring, const RingRows& rows) {
    std::vector<Episode> episodes;
    RingCounts time = ring;
    for (std::int64_t* count :
         {&time.capacity, &time.length, &time.cursor, &time.written, &time.gap})
      *count /= columns_;
    const Sizes front{ring.capacity / columns_, columns_};
    for (std::int64_t column = 0; column < columns_; ++column) {
      const IndexItem one[] = {IndexItem::range({}, {}), IndexItem::at(column)};
      const at::Tensor ends =
          columns_ == 1
              ? episode_ends(*rows.source(), time.length, options_, /*ring=*/time.full())
              : episode_ends(RowSource(unflatten(rows.dict(), 0, front).index(one), /*flat=*/false),
                             time.length, options_, /*ring=*/time.full());
      const bool* is_last = ends.data_ptr<bool>();
      std::int64_t first = 0;
      for (std::int64_t k = 0, n = time.whole(); k < n; ++k) {
        if (!is_last[time.place(k)] && k + 1 < n) continue;
        const std::int64_t length = k + 1 - first;
        if (options_.short_ones || length >= options_.length)
          episodes.push_back({first, length, column});
        first = k + 1;
      }
    }
    episodes_ = std::move(episodes);
    time_ = time;
    seen_ = ring;
  }

  SliceOptions options_;
  bool span_begin_, span_end_;
  std::int64_t columns_;
  RingCounts seen_;
  RingCounts time_;  // the ring's state in steps
  std::vector<Episode> episodes_;
};

}  // namespace

std::unique_ptr<ReplaySampler> make_slice_draws(const ReplayOptions& options) {
  return std::make_unique<SliceDraws>(options);
}

}  // namespace td
