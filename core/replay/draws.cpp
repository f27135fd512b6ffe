// Draws with and without replacement.
#include "core/replay/draw_list.h"

#include <algorithm>

namespace td {

namespace {

constexpr auto refuse = [](const auto&... parts) { fail(Code::invalid_argument, parts...); };

void check_slices(const ReplayOptions& options) {
  const SliceOptions& slices = options.slices;
  const auto at_least_0 = [](const char* name, std::int64_t value) {
    if (value < 0) refuse(name, " is ", value, "; it must be at least 0");
  };
  at_least_0("slice_len", slices.length);
  at_least_0("num_slices", options.num_slices);
  at_least_0("span_begin", options.span_begin);
  at_least_0("span_end", options.span_end);
  if (!of_slices(options.sampling)) {
    if (slices.length != 0 || options.num_slices != 0 || slices.short_ones ||
        options.span_begin != 0 || options.span_end != 0 || options.mark_ends || options.by_slice)
      refuse("slice_len, short slices and spans are for draws of slices");
    return;
  }
  if ((slices.length == 0) == (options.num_slices == 0))
    refuse("draws of slices need slice_len or num_slices, and not both");
  if (slices.episode.empty() && slices.ends.empty())
    refuse("draws of slices need entries that tell episodes apart: episode or ends");
  if (options.span_begin != 0 && has_priorities(options.sampling))
    refuse("span_begin: a priority says where a slice begins, which is in its episode");
  for (const std::int64_t span : {options.span_begin, options.span_end}) {
    if (slices.length != 0 && span != ReplayOptions::whole_span && span >= slices.length)
      refuse("a slice of ", slices.length, " rows cannot have ", span, " outside of its episode");
  }
}

void check_returns(ReplayOptions& options) {
  if (options.steps < 0) refuse("n_steps is ", options.steps, "; it must be at least 0");
  if (options.steps == 0) {
    if (!options.rewards.empty() || !options.mask.empty())
      refuse("rewards and mask are for returns of n_steps, which is 0");
    return;
  }
  if (!(options.gamma > 0 && options.gamma <= 1))
    refuse("gamma is ", options.gamma, "; it must be above 0, and not above 1");
  if (options.rewards.empty()) options.rewards = {{"next", "reward"}};
}

}  // namespace

SliceOptions episodes_of(SliceOptions slices) {
  if (slices.ends.empty() && slices.episode.empty()) slices.ends = {{"next", "done"}};
  return slices;
}

ReplayOptions checked(ReplayOptions options) {
  constexpr std::int64_t most_places = std::int64_t{1} << 40;
  if (options.capacity < 0 || options.capacity > most_places)
    refuse("capacity is ", options.capacity, "; 1 to ", most_places, " are valid");
  constexpr std::int64_t most_priorities = std::int64_t{1} << 31;  // all are held in memory
  if (has_priorities(options.sampling) && options.capacity > most_priorities)
    refuse("capacity is ", options.capacity, "; ", most_priorities, " rows can have priorities");
  if (options.rows < 0) refuse("rows is ", options.rows, "; it must be at least 0");
  if (options.dims < 0 || options.dims > 64)
    refuse("dims is ", options.dims, "; a storage has 1 to 64 dimensions");
  check_slices(options);
  check_returns(options);
  if (!draws_once(options.sampling) && (options.drop_last || options.in_order))
    refuse("drop_last and in_order are for draws without replacement");
  if (!has_priorities(options.sampling) && (options.largest_within || !options.priority.empty()))
    refuse("priority_key and the largest priority are for prioritized draws");
  return options;
}

namespace {

void require_rows(const RingCounts& ring) {
  if (ring.whole() == 0) fail(Code::shape, "the buffer holds no rows yet: none can be drawn");
}

class RandomDraws final : public ReplaySampler {
 public:
  void draw(const RingCounts& ring, const RingRows&, std::int64_t count, RandomNumbers& random,
            Drawn& drawn) override {
    require_rows(ring);
    drawn.places.resize(static_cast<std::size_t>(count));
    const std::int64_t rows = ring.whole();
    for (std::int64_t& place : drawn.places) {
      const std::int64_t k = random.below(rows);
      place = ring.gap == 0 ? k : ring.place(k);
    }
  }
};

class ForeignDraws final : public ReplaySampler {
 public:
  explicit ForeignDraws(std::string name) : name_(std::move(name)) {}

  void draw(const RingCounts&, const RingRows&, std::int64_t, RandomNumbers&, Drawn&) override {
    fail(Code::unsupported, "the folder is that of ", name_,
         ", which this library lacks: name another sampler to draw");
  }

 private:
  std::string name_;
};

// Draws from a list of all places, batch by batch, as Python's sampler does.
class DrawsWithoutReplacement final : public ReplaySampler {
 public:
  explicit DrawsWithoutReplacement(const ReplayOptions& options)
      : list_(!options.in_order, options.drop_last),
        in_order_(options.in_order),
        as_stored_(options.as_stored) {}

  bool has_files() const noexcept override { return true; }

  void draw(const RingCounts& ring, const RingRows&, std::int64_t count, RandomNumbers& random,
            Drawn& drawn) override {
    require_rows(ring);
    if (doubtful_) {
      fail(Code::unsupported, "the list in sampler/ is of ", list_.rows(),
           " pieces, and the buffer was saved with other rows: it may be that of "
           "SliceSamplerWithoutReplacement; name the sampler to draw");
    }
    list_.begin_draw();
    drawn.places.clear();
    const auto in_gap = [&](std::int64_t place) { return ring.in_gap(place); };
    for (std::int64_t k = 0; drawn.places.empty(); ++k) {
      // In one order the same rows may be dropped again and again, and the others be incomplete.
      if (in_order_ && k > 2 * (ring.length / count + 1))
        fail(Code::shape, "a full batch of ", count, " rows has no complete row");
      list_.take(ring.length, count, "rows", random, drawn.places, in_gap);
    }
  }

  void commit() override { list_.commit(); }

  void follow(const RingCounts& ring, const RingRows*) override {
    changed_ = changed_ || ring.length != rows_;
    rows_ = ring.length;
  }

  void save(const std::string& folder, bool in_new) const override {
    // A list of fewer rows than there are now is drawn from no more.
    const bool changed = changed_ || list_.is_drawn();
    list_.save(folder, in_new, changed && list_.rows() != rows_);
  }

  void load(const std::string& folder, const RingCounts& ring) override {
    const bool in_middle = list_.load(folder, ring.capacity);
    doubtful_ = as_stored_ && in_middle && list_.rows() != ring.length;
    rows_ = ring.length;
  }

 private:
  DrawList list_;
  bool in_order_;
  bool as_stored_;         // the caller did not name this sampler
  bool doubtful_ = false;  // the list may be of slices
  bool changed_ = false;   // rows came since it was read
  std::int64_t rows_ = 0;  // in the ring
};

}  // namespace

std::unique_ptr<ReplaySampler> make_foreign_draws(std::string name) {
  return std::make_unique<ForeignDraws>(std::move(name));
}

std::unique_ptr<ReplaySampler> make_random_draws() { return std::make_unique<RandomDraws>(); }

std::unique_ptr<ReplaySampler> make_draws_without_replacement(const ReplayOptions& options) {
  return std::make_unique<DrawsWithoutReplacement>(options);
}

}  // namespace td
