// Draws runs of rows of one episode, in ring order.
#include "core/replay/replay_sampler.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

// Draws an episode, then a place in it. The cursor of a full ring and rows being written separate episodes;
// the end of the memory does not.
class SliceDraws final : public ReplaySampler {
 public:
  explicit SliceDraws(const ReplayOptions& options)
      : options_(options.slices), span_begin_(options.span_begin), span_end_(options.span_end) {}

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
      const Run& episode = episodes_[static_cast<std::size_t>(
          random.below(static_cast<std::int64_t>(episodes_.size())))];
      const std::int64_t length = std::min(options_.length, episode.length);
      const std::int64_t before =
          span_begin_ ? length - 1 : 0;  // a slice may begin before the episode; one row lies in it
      const std::int64_t behind = span_end_ ? length - 1 : 0;
      const std::int64_t places = episode.length - length + 1;
      const std::int64_t first = random.below(before + places + behind) - before;
      const std::int64_t end = std::min(first + length, episode.length);
      for (std::int64_t k = std::max<std::int64_t>(first, 0); k < end; ++k)
        drawn.places.push_back(ring.place(episode.first + k));
    }
  }

 private:
  // Finds episodes as runs of places, counted from the oldest row.
  void find_episodes(const RingCounts& ring, const RingRows& rows) {
    std::vector<Run> episodes;
    const at::Tensor ends =
        episode_ends(*rows.source(), ring.length, options_, /*ring=*/ring.full());
    const bool* is_last = ends.data_ptr<bool>();
    std::int64_t first = 0;
    for (std::int64_t k = 0, n = ring.whole(); k < n; ++k) {
      if (!is_last[ring.place(k)] && k + 1 < n) continue;
      const std::int64_t length = k + 1 - first;
      if (options_.short_ones || length >= options_.length) episodes.push_back({first, length});
      first = k + 1;
    }
    episodes_ = std::move(episodes);
    seen_ = ring;
  }

  SliceOptions options_;
  bool span_begin_, span_end_;
  RingCounts seen_;
  std::vector<Run> episodes_;
};

}  // namespace

std::unique_ptr<ReplaySampler> make_slice_draws(const ReplayOptions& options) {
  return std::make_unique<SliceDraws>(options);
}

}  // namespace td
