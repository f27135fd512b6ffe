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
    episodes_.follow(ring, rows);
    const std::int64_t least = options_.slices.short_ones ? 1 : drawn.slice;
    const EpisodeTable& long_enough = episodes_.at_least(least);
    if (long_enough.size() == 0) fail_without_episodes(ring, least);
    for (std::int64_t slice = 0; slice < count / drawn.slice; ++slice)
      draw_slice(options_, episodes_, long_enough[random.below(long_enough.size())], random, drawn);
  }

 private:
  ReplayOptions options_;
  RingEpisodes episodes_;
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
    episodes_.follow(ring, rows);
    if (episodes_.at_least(least).size() == 0) fail_without_episodes(ring, least);
    list_.begin_draw();
    std::vector<std::int64_t> numbers;
    const std::int64_t n = episodes_.all().size();
    const std::int64_t slices = count / drawn.slice;
    for (std::int64_t k = 0; drawn.lengths.empty(); ++k) {
      // In one order the same episodes may be dropped again and again.
      if (options_.in_order && k > 2 * (n / slices + 1)) fail_without_episodes(ring, least);
      numbers.clear();
      list_.take(n, slices, "slices", random, numbers);
      for (const std::int64_t number : numbers) {
        const RingEpisode& episode = episodes_.by_place(number);
        if (episode.length >= least) draw_slice(options_, episodes_, episode, random, drawn);
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
    changed_.clear();
    const bool anew = episodes_.follow(ring, rows, [&](const RingEpisode& one) { note(one); });
    if (anew || length != length_) {
      limit(ring.capacity, length);
    } else {
      length_ = 0;  // if there is no memory, rows are limited anew
      priorities_.allow(changed_);
      length_ = length;
    }
    if (priorities_.allows_none()) fail_without_episodes(ring, length);
    Drawn starts;
    priorities_.draw(ring, rows, count / length, random, starts);
    drawn.slice = length;
    for (std::size_t i = 0; i < starts.places.size(); ++i) {
      std::int64_t place = starts.places[i];
      const std::int64_t left = episodes_.of(place).end() - episodes_.step_at(place);
      const std::int64_t rows_of = std::min(length, left);
      for (std::int64_t k = 0; k < rows_of; ++k) {
        drawn.places.push_back(place);
        drawn.weights.push_back(starts.weights[i]);
        place = (place + episodes_.columns()) % ring.capacity;
      }
      drawn.lengths.push_back(rows_of);
    }
  }

 private:
  // How many rows of an episode may begin a slice: the first ones.
  std::int64_t starts_of(const RingEpisode& episode) const {
    // As in TorchRL, the last row begins no slice, however much may lie behind an episode.
    const std::int64_t behind = std::min(options_.span_end, std::max<std::int64_t>(length_ - 2, 0));
    const std::int64_t starts = episode.length - length_ + 1 + behind;
    const std::int64_t least = options_.slices.short_ones ? 1 : 0;
    return std::min(std::max(starts, least), episode.length);
  }

  // A row more moves the last start of its episode by one. An episode that lost its first row keeps its starts, and one
  // that became short has its first row.
  void note(const RingEpisode& episode) {
    if (length_ == 0) return;
    const std::int64_t starts = starts_of(episode);
    const std::int64_t newest = episode.length - 1;
    if (starts <= newest && episode.end() == episodes_.end())
      changed_.emplace_back(episodes_.place(episode, newest), false);
    if (starts > 0) changed_.emplace_back(episodes_.place(episode, starts - 1), true);
  }

  void limit(std::int64_t capacity, std::int64_t length) {
    length_ = length;
    std::vector<char> begins(static_cast<std::size_t>(capacity));
    for (std::int64_t i = 0; i < episodes_.columns(); ++i) {
      for (const RingEpisode& episode : episodes_.all().column(i)) {
        for (std::int64_t k = 0; k < starts_of(episode); ++k)
          begins[static_cast<std::size_t>(episodes_.place(episode, k))] = 1;
      }
    }
    priorities_.limit(std::move(begins));
  }

  ReplayOptions options_;
  RingEpisodes episodes_;
  Priorities priorities_;
  std::int64_t length_ = 0;  // of the slices for which rows are limited
  std::vector<std::pair<std::int64_t, bool>>
      changed_;  // places that begin a slice from now on, or none
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
