// Rows of a bag: each takes the newest message of every topic.
#include "core/base/key.h"
#include "core/datasets/bag_episode.h"
#include "core/formats/json_text.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>

namespace td::datasets {

namespace {

std::string shown(const OwnedKey& key) {
  const std::vector<std::string_view> path(key.begin(), key.end());
  return show_path(path);
}

std::string shown_rows(const at::Tensor& tensor) {
  return dtype_name(tensor.scalar_type()) + " " + show_sizes(tensor.sizes().slice(1));
}

// Fills the rows behind one with the same.
void repeat(std::vector<bags::ColumnRows>& columns, std::int64_t row, std::int64_t more) {
  for (bags::ColumnRows& one : columns) {
    if (one.tensor.defined()) {
      one.tensor.narrow(0, row + 1, more).copy_(one.tensor.narrow(0, row, 1));
    } else {
      const auto first = one.values.begin() + row;
      std::fill(first + 1, first + 1 + more, *first);
    }
  }
}

// Behind those of the episodes before, which must be alike.
void append(const std::string& where, std::vector<BagEntry> found, std::vector<BagEntry>& to) {
  if (to.empty()) {
    to = std::move(found);
    return;
  }
  for (std::size_t i = 0; i < std::max(found.size(), to.size()); ++i) {
    const bool both = i < found.size() && i < to.size();
    if (!both || found[i].key != to[i].key || found[i].tensors.empty() != to[i].tensors.empty()) {
      const OwnedKey& key = i < found.size() ? found[i].key : to[i].key;
      fail(Code::format, where, ": the entry ", shown(key),
           " is not as in the episodes before, or only in some of them");
    }
    if (!found[i].tensors.empty()) {
      const at::Tensor &one = found[i].tensors[0], &before = to[i].tensors[0];
      if (one.sizes().slice(1) != before.sizes().slice(1) ||
          one.scalar_type() != before.scalar_type()) {
        fail(Code::format, where, ": rows of ", shown(found[i].key), " are ", shown_rows(one),
             ", in the episodes before ", shown_rows(before));
      }
      to[i].tensors.push_back(one);
    }
    std::move(found[i].values.begin(), found[i].values.end(), std::back_inserter(to[i].values));
  }
}

}  // namespace

void BagEpisode::require_room(const Topic& topic, std::int64_t count) const {
  for (const bags::Column& column : topic.decoder->columns()) {
    Sizes sizes = column.sizes;
    sizes.push_back(count);
    const auto bytes =
        checked_bytes({sizes.data(), sizes.size()},
                      column.is_tensor ? c10::elementSize(column.dtype) : sizeof(Plain));
    if (!bytes || static_cast<std::uint64_t>(*bytes) > most_) {
      fail(Code::format, where_, ": ", count, " rows of ", quote(column.key.back()), " of ",
           quote(topic.name), " would take more than the limit of ", most_, " bytes");
    }
  }
}

// The messages that rows take of a topic: the newest that is not later than the row, of the clock its own.
void BagEpisode::add_jobs(std::size_t topic, std::int64_t from, std::int64_t count,
                          std::vector<Job>& jobs) const {
  const std::vector<Message>& messages = topics_[topic].messages;
  if (rate_ <= 0 && topic == clock_) {
    for (std::int64_t row = 0; row < count; ++row)
      jobs.push_back({messages[static_cast<std::size_t>(first_ + from + row)], topic, row, 1});
    return;
  }
  auto next = messages.begin();
  for (std::int64_t row = 0; row < count; ++row) {
    const std::int64_t time = time_of(from + row);
    const auto before = next;
    if (row == 0) {
      next = std::partition_point(next, messages.end(),
                                  [&](const Message& one) { return one.place.time <= time; });
    } else {
      while (next != messages.end() && next->place.time <= time) ++next;
    }
    if (row > 0 && next == before) {
      ++jobs.back().count;
    } else {
      jobs.push_back({*(next - 1), topic, row, 1});
    }
  }
}

void BagEpisode::read(std::int64_t from, std::int64_t count, std::vector<BagEntry>& entries) const {
  settle();
  std::vector<std::vector<bags::ColumnRows>> rows(topics_.size());
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < topics_.size(); ++i) {
    if (!topics_[i].is_read()) continue;
    require_room(topics_[i], count);
    rows[i] = topics_[i].decoder->make_rows(count);
    add_jobs(i, from, count, jobs);
  }
  run(jobs, [&](const Job& job, std::string_view message) {
    topics_[job.topic].decoder->decode(message, rows[job.topic], job.row);
    if (job.count > 1) repeat(rows[job.topic], job.row, job.count - 1);
  });
  std::vector<BagEntry> found;
  for (std::size_t i = 0; i < topics_.size(); ++i) {
    for (std::size_t c = 0; c < rows[i].size(); ++c) {
      BagEntry entry{topics_[i].key, {}, std::move(rows[i][c].values)};
      const OwnedKey& below = topics_[i].decoder->columns()[c].key;
      entry.key.insert(entry.key.end(), below.begin(), below.end());
      if (rows[i][c].tensor.defined()) entry.tensors.push_back(rows[i][c].tensor);
      found.push_back(std::move(entry));
    }
  }
  at::Tensor times = at::empty({count}, at::kLong);
  for (std::int64_t row = 0; row < count; ++row)
    times.data_ptr<std::int64_t>()[row] = time_of(from + row);
  found.push_back({{"timestamp"}, {times}, {}});
  append(where_, std::move(found), entries);
}

}  // namespace td::datasets
