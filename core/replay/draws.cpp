// Draws with and without replacement.
#include "core/memmap/memmap.h"
#include "core/replay/replay_sampler.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace td {

ReplayOptions checked(ReplayOptions options) {
  const auto refuse = [](const auto&... parts) { fail(Code::invalid_argument, parts...); };
  constexpr std::int64_t most_places = std::int64_t{1} << 40;
  if (options.capacity < 0 || options.capacity > most_places)
    refuse("capacity is ", options.capacity, "; 1 to ", most_places, " are valid");
  constexpr std::int64_t most_priorities = std::int64_t{1} << 31;  // all are held in memory
  if (options.sampling == ReplaySampling::prioritized && options.capacity > most_priorities)
    refuse("capacity is ", options.capacity, "; ", most_priorities, " rows can have priorities");
  if (options.rows < 0) refuse("rows is ", options.rows, "; it must be at least 0");
  const SliceOptions& slices = options.slices;
  if (slices.length < 0) refuse("slice_len is ", slices.length, "; it must be at least 0");
  const bool of_slices = options.sampling == ReplaySampling::slices;
  if (of_slices && slices.length == 0) refuse("draws of slices need slice_len");
  if (of_slices && slices.episode.empty() && slices.ends.empty())
    refuse("draws of slices need entries that tell episodes apart: episode or ends");
  if (!of_slices && (slices.length != 0 || slices.short_ones || options.span_begin ||
                     options.span_end || !slices.episode.empty() || !slices.ends.empty()))
    refuse("slice_len, episodes and short slices are for draws of slices");
  if (options.sampling != ReplaySampling::without_replacement &&
      (options.drop_last || options.in_order))
    refuse("drop_last and in_order are for draws without replacement");
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

// Draws from a list of all places, batch by batch. Makes a new list when it is used up or when rows were
// added, as Python's sampler does; its state is this list.
class DrawsWithoutReplacement final : public ReplaySampler {
 public:
  explicit DrawsWithoutReplacement(const ReplayOptions& options)
      : shuffle_(!options.in_order), drop_last_(options.drop_last), as_stored_(options.as_stored) {}

  bool has_files() const noexcept override { return true; }

  void draw(const RingCounts& ring, const RingRows&, std::int64_t count, RandomNumbers& random,
            Drawn& drawn) override {
    require_rows(ring);
    if (doubtful_) {
      fail(Code::unsupported, "the list in sampler/ is of ", now_.rows,
           " pieces, and the buffer was saved with other rows: it may be that of "
           "SliceSamplerWithoutReplacement; name the sampler to draw");
    }
    if (drop_last_ && count > ring.length) {
      fail(Code::shape, "a full batch of ", count, " rows was asked for; there are ", ring.length);
    }
    next_ = now_;
    drawn.places.clear();
    if (next_.rows != ring.length || !next_.list) begin(next_, ring.length, count, random);
    const std::size_t wanted = static_cast<std::size_t>(count);
    while (drawn.places.empty()) {
      while (next_.at < next_.list->size() && drawn.places.size() < wanted) {
        const std::int64_t place = (*next_.list)[next_.at++];
        if (!ring.in_gap(place)) drawn.places.push_back(place);
      }
      const std::size_t left = next_.list->size() - next_.at;
      next_.ran_out = left == 0 || (drop_last_ && left < wanted);
      if (next_.ran_out) begin(next_, ring.length, count, random);
    }
  }

  void commit() override {
    now_ = next_;
    changed_ = true;
  }

  void follow(const RingCounts& ring) override {
    changed_ = changed_ || ring.length != rows_;
    rows_ = ring.length;
  }

  void save(const std::string& folder, bool in_new) const override {
    TensorDict state = stored_.clone(/*recurse=*/false);
    const auto put = [&](std::string_view name, at::Tensor value) {
      const std::string_view path[] = {name};
      state.set(path, std::move(value));
    };
    // A list of fewer rows than there are now is drawn from no more.
    const bool stale = changed_ && now_.rows != rows_;
    put("len_storage", at::scalar_tensor(stale ? 0 : now_.rows, at::kLong));
    const std::int64_t left =
        now_.list && !stale ? static_cast<std::int64_t>(now_.list->size() - now_.at) : 0;
    const at::Tensor list = at::empty({left}, at::kLong);
    if (left != 0)
      std::copy(now_.list->begin() + static_cast<std::ptrdiff_t>(now_.at), now_.list->end(),
                list.data_ptr<std::int64_t>());
    if (list.numel() != 0 || !null_list_) put("_sample_list", list);
    put("drop_last", at::scalar_tensor(drop_last_, at::kBool));
    put("_ran_out", at::scalar_tensor(now_.ran_out, at::kBool));
    MemmapOptions options;
    options.aside = in_new;
    memmap(state, folder, options);
  }

  void load(const std::string& folder, const RingCounts& ring) override {
    LoadOptions options;
    options.private_mapping = true;
    TensorDict state = load_memmap(folder, options).clone();
    const auto entry = [&](const char* name, c10::ScalarType dtype, std::int64_t dims) {
      const std::string_view path[] = {name};
      const at::Tensor value = state.get(path);
      if (value.scalar_type() != dtype || value.dim() != dims) {
        fail(Code::format, "\"", name, "\" in \"", folder, "\" is ",
             dtype_name(value.scalar_type()), " of shape ", show_sizes(value.sizes()));
      }
      return value;
    };
    State read;
    read.rows = entry("len_storage", at::kLong, 0).item<std::int64_t>();
    // The list of a sampler that was never drawn from is null.
    const std::string_view list_name[] = {"_sample_list"};
    const bool none = state.kind_of(list_name) == EntryKind::non_tensor &&
                      state.get_non_tensor(list_name) == "null";
    const at::Tensor list =
        none ? at::empty({0}, at::kLong) : entry("_sample_list", at::kLong, 1).contiguous();
    const auto* places = list.data_ptr<std::int64_t>();
    if (read.rows < 0 || read.rows > ring.capacity) {
      fail(Code::format, "\"", folder, "\" is of ", read.rows, " rows; the buffer has places for ",
           ring.capacity);
    }
    std::vector<std::int64_t> sorted(places, places + list.numel());
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const bool again = i != 0 && sorted[i] == sorted[i - 1];
      if (sorted[i] >= 0 && sorted[i] < read.rows && !again) continue;
      fail(Code::format, "\"_sample_list\" in \"", folder, "\" names row ", sorted[i],
           again ? " twice" : "", "; there are ", read.rows);
    }
    read.ran_out = entry("_ran_out", at::kBool, 0).item<bool>();
    const bool drop_last = entry("drop_last", at::kBool, 0).item<bool>();
    if (list.numel() != 0)
      read.list = std::make_shared<const std::vector<std::int64_t>>(places, places + list.numel());
    drop_last_ = drop_last;
    doubtful_ = as_stored_ && list.numel() != 0 && read.rows != ring.length;
    null_list_ = none;
    rows_ = ring.length;
    now_ = std::move(read);
    stored_ = std::move(state);
  }

 private:
  struct State {
    std::shared_ptr<const std::vector<std::int64_t>> list;  // remaining from `at` on
    std::size_t at = 0;
    std::int64_t rows = 0;
    bool ran_out = false;
  };

  void begin(State& state, std::int64_t rows, std::int64_t batch, RandomNumbers& random) const {
    std::vector<std::int64_t> list(static_cast<std::size_t>(rows));
    std::iota(list.begin(), list.end(), 0);
    if (shuffle_) {
      const Permutation order(rows, random.next());
      for (std::int64_t i = 0; i < rows; ++i) list[static_cast<std::size_t>(i)] = order(i);
    }
    if (drop_last_) list.resize(static_cast<std::size_t>(rows / batch * batch));
    state.list = std::make_shared<const std::vector<std::int64_t>>(std::move(list));
    state.at = 0;
    state.rows = rows;
  }

  bool shuffle_, drop_last_;
  bool as_stored_;          // the caller did not name this sampler
  bool doubtful_ = false;   // the list may be of slices
  bool null_list_ = false;  // as it was read
  bool changed_ = false;    // since it was read
  std::int64_t rows_ = 0;   // in the ring
  State now_, next_;
  TensorDict stored_;  // as read, with unknown entries
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
