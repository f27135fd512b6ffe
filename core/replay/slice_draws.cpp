// Draws runs of rows of one episode, in ring order.
#include "core/replay/draw_list.h"
#include "core/replay/episodes.h"
#include "core/replay/priorities.h"

#include <algorithm>

namespace td {

namespace {

// Appends a slice of an episode that is long enough, at a random place.
void draw_slice(const ReplayOptions& options, const RingEpisodes& episodes,
                const RingEpisode& episode, RandomNumbers& random, Drawn& drawn) {
  const std::int64_t length = std::min(drawn.slice, episode.length);
  // A slice may begin before the episode; one row lies in it.
  const std::int64_t before = std::min(options.span_begin, length - 1);
  const std::int64_t behind = std::min(options.span_end, length - 1);
  const std::int64_t places = episode.length - length + 1;
  const std::int64_t start = random.below(before + places + behind) - before;
  const std::int64_t end = std::min(start + length, episode.length);
  const std::int64_t first = std::max<std::int64_t>(start, 0);
  for (std::int64_t k = first; k < end; ++k) drawn.places.push_back(episodes.place(episode, k));
  drawn.lengths.push_back(end - first);
}

// Draws an episode, then a place in it.
class SliceDraws final : public ReplaySampler {
 public:
  explicit SliceDraws(const ReplayOptions& options) : options_(options), episodes_(options) {}

  void draw(const RingCounts& ring, const RingRows& rows, std::int64_t count, RandomNumbers& random,
            Drawn& drawn) override {
    drawn.slice = slice_length(options_, count);
    if (episodes_.follow(ring, rows)) least_ = 0;
    if (least_ != least_rows(drawn)) {
      least_ = 0;  // until the list is complete
      long_enough_.clear();
      for (const RingEpisode& episode : episodes_.all())
        if (episode.length >= least_rows(drawn)) long_enough_.push_back(episode);
      least_ = least_rows(drawn);
    }
    if (long_enough_.empty()) fail_without_episodes(ring, least_);
    for (std::int64_t slice = 0; slice < count / drawn.slice; ++slice) {
      const auto n = static_cast<std::int64_t>(long_enough_.size());
      draw_slice(options_, episodes_, long_enough_[static_cast<std::size_t>(random.below(n))],
                 random, drawn);
    }
  }

 private:
  std::int64_t least_rows(const Drawn& drawn) const {
    return options_.slices.short_ones ? 1 : drawn.slice;
  }

  ReplayOptions options_;
  RingEpisodes episodes_;
  std::int64_t least_ = 0;
  std::vector<RingEpisode> long_enough_;
};

// Draws a slice of each episode once, then again in another order. As in TorchRL, episodes that are too short stand in
// the list, too, and are passed over.
class SlicesWithoutReplacement final : public ReplaySampler {
 public:
  explicit SlicesWithoutReplacement(const ReplayOptions& options)
      : options_(options), episodes_(options), list_(!options.in_order, options.drop_last) {}

  bool has_files() const noexcept override { return true; }

  void draw(const RingCounts& ring, const RingRows& rows, std::int64_t count, RandomNumbers& random,
            Drawn& drawn) override {
    drawn.slice = slice_length(options_, count);
    const std::int64_t least = options_.slices.short_ones ? 1 : drawn.slice;
    const std::vector<RingEpisode>& all = episodes_.all();
    if (episodes_.follow(ring, rows)) order_.clear();
    if (order_.size() != all.size()) order_ = episodes_.by_place();
    const auto fits = [&](const RingEpisode& episode) { return episode.length >= least; };
    if (std::none_of(all.begin(), all.end(), fits)) fail_without_episodes(ring, least);
    list_.begin_draw();
    std::vector<std::int64_t> numbers;
    const auto n = static_cast<std::int64_t>(all.size());
    const std::int64_t slices = count / drawn.slice;
    for (std::int64_t k = 0; drawn.lengths.empty(); ++k) {
      // In one order the same episodes may be dropped again and again.
      if (options_.in_order && k > 2 * (n / slices + 1)) fail_without_episodes(ring, least);
      numbers.clear();
      list_.take(n, slices, "slices", random, numbers);
      for (const std::int64_t number : numbers) {
        const RingEpisode& episode = all[order_[static_cast<std::size_t>(number)]];
        if (fits(episode)) draw_slice(options_, episodes_, episode, random, drawn);
      }
    }
  }

  void commit() override { list_.commit(); }

  void save(const std::string& folder, bool in_new) const override {
    list_.save(folder, in_new, /*forgotten=*/false);
  }
  void load(const std::string& folder, const RingCounts& ring) override {
    list_.load(folder, ring.capacity);
  }

 private:
  ReplayOptions options_;
  RingEpisodes episodes_;
  std::vector<std::size_t> order_;  // of the episodes in the list
  DrawList list_;
};

// Draws first rows of slices by priority. A row that is too near to the end of its episode begins none.
class PrioritizedSlices final : public ReplaySampler {
 public:
  explicit PrioritizedSlices(const ReplayOptions& options)
      : options_(options), episodes_(options), priorities_(options, options.capacity) {}

  Priorities* priorities() noexcept override { return &priorities_; }
  bool has_files() const noexcept override { return true; }
  void save(const std::string& folder, bool in_new) const override {
    priorities_.save(folder, in_new);
  }
  void load(const std::string& folder, const RingCounts& ring) override {
    priorities_.load(folder, ring);
  }
  void follow(const RingCounts& ring, const RingRows* rows) override {
    priorities_.follow(ring, rows);
  }
  void replaced(c10::ArrayRef<std::int64_t> places, const RingCounts& ring,
                const RingRows& rows) override {
    priorities_.replaced(places, ring, rows);
  }

  void draw(const RingCounts& ring, const RingRows& rows, std::int64_t count, RandomNumbers& random,
            Drawn& drawn) override {
    const std::int64_t length = slice_length(options_, count);
    if (episodes_.follow(ring, rows)) length_ = 0;  // until the rows are limited anew
    if (length != length_) limit(ring.capacity, length);
    if (none_begins_) fail_without_episodes(ring, length);
    Drawn starts;
    priorities_.draw(ring, rows, count / length, random, starts);
    drawn.slice = length;
    for (std::size_t i = 0; i < starts.places.size(); ++i) {
      std::int64_t place = starts.places[i];
      const std::int64_t rows_of = std::min(length, left_[static_cast<std::size_t>(place)]);
      for (std::int64_t k = 0; k < rows_of; ++k) {
        drawn.places.push_back(place);
        drawn.weights.push_back(starts.weights[i]);
        place = (place + episodes_.columns()) % ring.capacity;
      }
      drawn.lengths.push_back(rows_of);
    }
  }

 private:
  void limit(std::int64_t capacity, std::int64_t length) {
    std::vector<std::int64_t> left(static_cast<std::size_t>(capacity));
    // As in TorchRL, the last row begins no slice, however much may lie behind an episode.
    const std::int64_t behind = std::min(options_.span_end, std::max<std::int64_t>(length - 2, 0));
    for (const RingEpisode& episode : episodes_.all()) {
      std::int64_t starts = episode.length - length + 1 + behind;
      if (options_.slices.short_ones) starts = std::max<std::int64_t>(starts, 1);
      for (std::int64_t k = 0; k < std::min(starts, episode.length); ++k)
        left[static_cast<std::size_t>(episodes_.place(episode, k))] = episode.length - k;
    }
    none_begins_ = std::none_of(left.begin(), left.end(), [](std::int64_t n) { return n != 0; });
    priorities_.limit(
        [&](std::int64_t place) { return left[static_cast<std::size_t>(place)] != 0; });
    left_ = std::move(left);
    length_ = length;
  }

  ReplayOptions options_;
  RingEpisodes episodes_;
  Priorities priorities_;
  std::int64_t length_ = 0;  // of the slices for which rows are limited
  bool none_begins_ = false;
  std::vector<std::int64_t>
      left_;  // rows to the end of its episode, for each that may begin a slice
};

}  // namespace

std::unique_ptr<ReplaySampler> make_slice_draws(const ReplayOptions& options) {
  if (draws_once(options.sampling)) return std::make_unique<SlicesWithoutReplacement>(options);
  return std::make_unique<SliceDraws>(options);
}

std::unique_ptr<ReplaySampler> make_prioritized_slices(const ReplayOptions& options) {
  return std::make_unique<PrioritizedSlices>(options);
}

}  // namespace td
