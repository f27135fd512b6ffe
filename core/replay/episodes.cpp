#include "core/replay/episodes.h"

#include "core/tree/view_ops.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

const RingEpisode& EpisodeTable::operator[](std::int64_t number) const noexcept {
  std::size_t at = 0;
  for (; number >= static_cast<std::int64_t>(columns_[at].size()); ++at)
    number -= static_cast<std::int64_t>(columns_[at].size());
  return columns_[at][static_cast<std::size_t>(number)];
}

void EpisodeTable::begin(std::int64_t columns) {
  columns_.clear();
  columns_.resize(static_cast<std::size_t>(columns));
  size_ = 0;
}

void EpisodeTable::add(const RingEpisode& episode) {
  if (episode.length < least_) return;
  columns_[static_cast<std::size_t>(episode.column)].push_back(episode);
  ++size_;
}

void EpisodeTable::extended(const RingEpisode& episode) {
  std::deque<RingEpisode>& own = columns_[static_cast<std::size_t>(episode.column)];
  if (!own.empty() && own.back().first == episode.first) {
    own.back() = episode;
  } else {
    add(episode);
  }
}

void EpisodeTable::shortened(const RingEpisode& episode) {
  std::deque<RingEpisode>& own = columns_[static_cast<std::size_t>(episode.column)];
  if (own.empty() || own.front().first != episode.first - 1) return;
  if (episode.length >= least_) {
    own.front() = episode;
    return;
  }
  own.pop_front();
  --size_;
}

RingCounts in_steps(RingCounts ring, std::int64_t columns) noexcept {
  for (std::int64_t* count : {&ring.capacity, &ring.length, &ring.cursor, &ring.written, &ring.gap})
    *count /= columns;
  return ring;
}

void each_episode(const RowSource& column, const RingCounts& time, const SliceOptions& options,
                  const std::function<void(std::int64_t, std::int64_t)>& f) {
  const at::Tensor ends = episode_ends(column, time.length, options, /*ring=*/time.full());
  const bool* const is_last = ends.data_ptr<bool>();
  std::int64_t first = 0;
  for (std::int64_t k = 0, n = time.whole(); k < n; ++k) {
    if (!is_last[time.place(k)] && k + 1 < n) continue;
    f(first, k + 1 - first);
    first = k + 1;
  }
}

bool RingEpisodes::follow(const RingCounts& ring, const RingRows& rows, const Changed& changed) {
  if (ring == seen_) return false;
  const RingCounts time = in_steps(ring, rows.places_of_row());
  const bool goes_on = can_follow(time, rows);
  const std::int64_t steps = time.written - time_.written;
  seen_ = RingCounts();  // if there is no memory on the way, all are found anew
  if (goes_on) {
    for (std::int64_t step = 0; step < steps; ++step) take_step(changed);
  } else {
    find_all(ring, time, rows);
  }
  seen_ = ring;
  return !goes_on;
}

// Whether rows came at the cursor since the last call, and nothing else happened.
bool RingEpisodes::can_follow(const RingCounts& time, const RingRows& rows) const noexcept {
  if (rows_ != &rows || !borders_ || seen_.capacity == 0) return false;
  const std::int64_t steps = time.written - time_.written;
  if (time.capacity != time_.capacity || steps <= 0 || steps >= time.capacity) return false;
  if (time.gap != 0 || time_.gap != 0) return false;
  if (!time_.full() && time_.cursor != time_.length) return false;
  return time.cursor == (time_.cursor + steps) % time.capacity &&
         time.length == std::min(time.capacity, time_.length + steps);
}

void RingEpisodes::take_step(const Changed& changed) {
  const std::int64_t at = time_.cursor, before = (at + time_.capacity - 1) % time_.capacity;
  const std::int64_t number = begin_ + time_.length;
  const bool loses_one = time_.full();
  const RingCounts after = time_.after(1);
  for (std::int64_t column = 0; column < columns_; ++column) {
    RingEpisode oldest{0, 0, column};
    if (loses_one) {
      oldest = all_.column(column).front();
      ++oldest.first;
      --oldest.length;
      all_.shortened(oldest);
      if (some_) some_->shortened(oldest);
    }
    const std::deque<RingEpisode>& own = all_.column(column);
    const bool begins =
        own.empty() || borders_->between(before * columns_ + column, at * columns_ + column);
    RingEpisode newest = begins ? RingEpisode{number, 0, column} : own.back();
    ++newest.length;
    all_.extended(newest);
    if (some_) some_->extended(newest);
  }
  time_ = after;
  if (loses_one) ++begin_;
  if (!changed) return;
  for (std::int64_t column = 0; column < columns_; ++column) {
    if (loses_one && all_.column(column).front().first == begin_)
      changed(all_.column(column).front());
    changed(all_.column(column).back());
  }
}

void RingEpisodes::find_all(const RingCounts& ring, const RingCounts& time, const RingRows& rows) {
  rows_ = nullptr;
  columns_ = rows.places_of_row();
  all_.begin(columns_);
  some_.reset();
  const Sizes front{ring.capacity / columns_, columns_};
  for (std::int64_t column = 0; column < columns_; ++column) {
    const auto add = [&](std::int64_t first, std::int64_t length) {
      all_.add({first, length, column});
    };
    const IndexItem one[] = {IndexItem::range({}, {}), IndexItem::at(column)};
    if (columns_ == 1) {
      each_episode(*rows.source(), time, options_, add);
    } else {
      const TensorDict own = unflatten(rows.dict(), 0, front).index(one);
      each_episode(RowSource(own, /*flat=*/false), time, options_, add);
    }
  }
  time_ = time;
  begin_ = 0;
  borders_ = RowBorders::of(rows, options_);
  rows_ = &rows;
}

const EpisodeTable& RingEpisodes::at_least(std::int64_t steps) {
  if (steps <= 1) return all_;
  if (some_ && some_->least() == steps) return *some_;
  some_.reset();
  EpisodeTable table(steps);
  table.begin(columns_);
  for (std::int64_t column = 0; column < columns_; ++column)
    for (const RingEpisode& episode : all_.column(column)) table.add(episode);
  some_ = std::move(table);
  return *some_;
}

const RingEpisode& RingEpisodes::of(std::int64_t place) const noexcept {
  const std::deque<RingEpisode>& own = all_.column(place % columns_);
  const auto behind = std::upper_bound(
      own.begin(), own.end(), step_at(place),
      [](std::int64_t step, const RingEpisode& episode) { return step < episode.first; });
  return *(behind - 1);
}

const RingEpisode& RingEpisodes::by_place(std::int64_t number) const noexcept {
  std::int64_t column = 0;
  const auto count = [&] { return static_cast<std::int64_t>(all_.column(column).size()); };
  while (number >= count()) number -= count(), ++column;
  const std::deque<RingEpisode>& own = all_.column(column);
  const auto last_of = [&](const RingEpisode& episode) {
    return place(episode, episode.length - 1);
  };
  // By age, their places rise, and begin again from 0 once.
  const auto again = std::partition_point(
      own.begin(), own.end(),
      [&, first = last_of(own.front())](const RingEpisode& one) { return last_of(one) >= first; });
  return own[static_cast<std::size_t>((again - own.begin() + number) % count())];
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
