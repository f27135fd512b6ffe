#include "core/replay/episodes.h"

#include "core/tree/view_ops.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

RingCounts in_steps(RingCounts ring, std::int64_t columns) noexcept {
  for (std::int64_t* count : {&ring.capacity, &ring.length, &ring.cursor, &ring.written, &ring.gap})
    *count /= columns;
  return ring;
}

bool RingEpisodes::follow(const RingCounts& ring, const RingRows& rows) {
  if (ring == seen_) return false;
  columns_ = rows.places_of_row();
  std::vector<RingEpisode> episodes;
  const RingCounts time = in_steps(ring, columns_);
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
      episodes.push_back({first, k + 1 - first, column});
      first = k + 1;
    }
  }
  episodes_ = std::move(episodes);
  time_ = time;
  seen_ = ring;
  return true;
}

const RingEpisode& RingEpisodes::of(std::int64_t place) const noexcept {
  const std::pair<std::int64_t, std::int64_t> row{place % columns_, time_.number(place / columns_)};
  const auto behind = std::upper_bound(episodes_.begin(), episodes_.end(), row,
                                       [](const auto& at, const RingEpisode& episode) {
                                         return at < std::make_pair(episode.column, episode.first);
                                       });
  return *(behind - 1);
}

std::vector<std::size_t> RingEpisodes::by_place() const {
  std::vector<std::size_t> order(episodes_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](std::size_t i) {
    const RingEpisode& episode = episodes_[i];
    return std::make_pair(episode.column, place(episode, episode.length - 1));
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

std::int64_t slice_length(const ReplayOptions& options, std::int64_t count) {
  const bool by_number = options.num_slices != 0;
  const std::int64_t whole = by_number ? options.num_slices : options.slices.length;
  if (count % whole != 0) {
    fail(Code::invalid_argument, "a batch of ", count, " rows is no whole number of ",
         by_number ? "rows for each of " : "slices of ", whole, by_number ? " slices" : "");
  }
  return by_number ? count / whole : whole;
}

void fail_without_episodes(const RingCounts& ring, std::int64_t length) {
  fail(Code::shape, "no episode among ", ring.whole(), " rows has ", length, " rows");
}

}  // namespace td
