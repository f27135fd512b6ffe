#include "core/datasets/lerobot_lists.h"

#include "core/datasets/lerobot_columns.h"
#include "core/datasets/lerobot_info.h"
#include "core/datasets/lerobot_meta.h"
#include "core/datasets/lerobot_tables.h"
#include "core/datasets/source.h"
#include "core/formats/json_text.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::datasets {

namespace {

Plain stats_plain(const SetStats& stats, bool quantiles) {
  std::vector<std::pair<std::string, Plain>> members;
  for (const auto& feature : stats)
    members.emplace_back(feature.first, feature.second.plain(quantiles));
  return without_words(object_of(members));
}

}  // namespace

void LeRobotLists::add(ListedEpisode episode, const std::vector<std::string>& tasks) {
  if (v21_) return add_lines(episode, tasks);
  waiting_.push_back(std::move(episode));
}

bool LeRobotLists::is_full() const noexcept {
  return waiting_.size() >= static_cast<std::size_t>(lerobot_chunks_size);
}

void LeRobotLists::write_episodes(SetTarget& target, const std::vector<std::string>& tasks,
                                  VideoFiles& videos) {
  std::vector<std::int64_t> numbers, lengths, chunks, files, from, to, task_counts;
  std::vector<std::string> texts;
  for (const ListedEpisode& episode : waiting_) {
    numbers.push_back(episode.number);
    lengths.push_back(episode.steps);
    chunks.push_back(episode.file / lerobot_chunks_size);
    files.push_back(episode.file % lerobot_chunks_size);
    from.push_back(episode.first_row);
    to.push_back(episode.first_row + episode.steps);
    for (const std::int64_t task : episode.tasks)
      texts.push_back(tasks[static_cast<std::size_t>(task)]);
    task_counts.push_back(static_cast<std::int64_t>(episode.tasks.size()));
  }
  std::vector<arrow::Column> columns;
  columns.push_back(numbers_column("episode_index", numbers));
  columns.push_back(arrow::ragged_column("tasks", task_counts, texts_column("item", texts)));
  columns.push_back(numbers_column("length", lengths));
  columns.push_back(numbers_column("data/chunk_index", chunks));
  columns.push_back(numbers_column("data/file_index", files));
  columns.push_back(numbers_column("dataset_from_index", from));
  columns.push_back(numbers_column("dataset_to_index", to));
  for (arrow::Column& column : videos.take_columns()) columns.push_back(std::move(column));
  for (std::size_t feature = 0; !waiting_.empty() && feature < waiting_[0].stats.size();
       ++feature) {
    const std::string name = "stats/" + waiting_[0].stats[feature].first + "/";
    for (std::size_t which = 0; which < FeatureStats::kinds; ++which) {
      std::vector<at::Tensor> values;
      for (const ListedEpisode& episode : waiting_)
        values.push_back(episode.stats[feature].second.values[which]);
      columns.push_back(nested_lists(name + FeatureStats::names[which], at::stack(values), {}));
    }
  }
  const std::int64_t chunk = files_ / lerobot_chunks_size, file = files_ % lerobot_chunks_size;
  const std::vector<std::int64_t> same_chunk(numbers.size(), chunk), same(numbers.size(), file);
  columns.push_back(numbers_column("meta/episodes/chunk_index", same_chunk));
  columns.push_back(numbers_column("meta/episodes/file_index", same));
  write_table(
      target,
      filled_path(lerobot_episodes_path, {{"chunk_index", chunk}, {"file_index", file}}, ""),
      std::move(columns), whole(numbers.size()), {});
  ++files_;
  for (ListedEpisode& episode : waiting_) stats_.add(std::move(episode.stats));
  stats_.take();
  waiting_.clear();
}

void LeRobotLists::write_stats(SetTarget& target) {
  target.put("meta/stats.json", python_json(stats_plain(stats_.take(), /*quantiles=*/true)));
}

void LeRobotLists::add_lines(const ListedEpisode& episode, const std::vector<std::string>& tasks) {
  std::vector<Plain> texts;
  for (const std::int64_t task : episode.tasks)
    texts.push_back(Plain::of_text(tasks[static_cast<std::size_t>(task)]));
  const Plain number = Plain::of_integer(episode.number);
  lines_ += python_json(object_of({{"episode_index", number},
                                   {"tasks", Plain::of_list(std::move(texts))},
                                   {"length", Plain::of_integer(episode.steps)}})) +
            "\n";
  stats_lines_ += python_json(object_of(
                      {{"episode_index", number}, {"stats", stats_plain(episode.stats, false)}})) +
                  "\n";
}

void LeRobotLists::write_lines(SetTarget& target, const std::vector<std::string>& tasks) const {
  std::string text;
  std::int64_t number = 0;
  for (const std::string& task : tasks) {
    text += python_json(object_of(
                {{"task_index", Plain::of_integer(number++)}, {"task", Plain::of_text(task)}})) +
            "\n";
  }
  target.put("meta/tasks.jsonl", text);
  target.put("meta/episodes.jsonl", lines_);
  target.put("meta/episodes_stats.jsonl", stats_lines_);
}

}  // namespace td::datasets
