#include "core/datasets/lerobot_rows.h"

#include "core/datasets/lerobot_columns.h"
#include "core/datasets/lerobot_info.h"
#include "core/datasets/lerobot_meta.h"
#include "core/datasets/lerobot_tables.h"
#include "core/formats/json_text.h"

#include <ATen/ATen.h>

#include <iterator>
#include <utility>

namespace td::datasets {

namespace {

template <class T>
void append_all(std::vector<T>& to, std::vector<T>&& more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::int64_t LeRobotValues::bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& column : tensors) {
    for (const at::Tensor& one : column) bytes += one.nbytes();
  }
  for (const auto& column : items) {
    for (const std::string& one : column) bytes += one.size();
  }
  return static_cast<std::int64_t>(bytes);
}

void LeRobotValues::append(LeRobotValues&& more) {
  if (tensors.empty()) return std::swap(*this, more);
  for (std::size_t c = 0; c < tensors.size(); ++c) {
    append_all(tensors[c], std::move(more.tensors[c]));
    append_all(items[c], std::move(more.items[c]));
  }
}

void LeRobotRows::add(SetTarget& target, const LeRobotPlan& plan, LeRobotValues values,
                      const at::Tensor& times) {
  const std::int64_t bytes = values.bytes();
  if (bytes_ > 0 && bytes_ + bytes > lerobot_file_megabytes << 20) write(target, plan);
  waiting_.append(std::move(values));
  bytes_ += bytes;
  times_.push_back(times);
  for (std::int64_t row = 0; row < plan.last.steps; ++row) {
    frames_.push_back(row);
    episodes_.push_back(plan.episodes - 1);
    index_.push_back(rows_++);
  }
  tasks_.insert(tasks_.end(), plan.last.tasks.begin(), plan.last.tasks.end());
  groups_.push_back(plan.last.steps);
}

void LeRobotRows::write(SetTarget& target, const LeRobotPlan& plan) {
  LeRobotValues values = std::exchange(waiting_, LeRobotValues(0));
  bytes_ = 0;
  if (groups_.empty()) return;
  const std::int64_t chunk = files_ / lerobot_chunks_size, file = files_ % lerobot_chunks_size;
  const std::string path =
      v21_ ? filled_path(lerobot_v21_data_path,
                         {{"episode_chunk", chunk}, {"episode_index", files_}}, "")
           : filled_path(lerobot_data_path, {{"chunk_index", chunk}, {"file_index", file}}, "");
  ++files_;
  std::vector<arrow::Column> columns;
  std::vector<std::pair<std::string, Plain>> descriptions;
  for (std::size_t c = 0; c < plan.columns.size(); ++c) {
    const Feature& feature = plan.columns[c].feature;
    if (plan.columns[c].is_video) continue;
    columns.push_back(
        feature.holds == Feature::image  ? pictures_column(feature.column, values.items[c])
        : feature.holds == Feature::text ? texts_column(feature.column, values.items[c])
                                         : tensor_as_column(feature, at::cat(values.tensors[c])));
    descriptions.emplace_back(feature.column, described(feature));
  }
  columns.push_back(arrow::tensor_column("timestamp", at::cat(std::exchange(times_, {}))));
  columns.push_back(numbers_column("frame_index", std::exchange(frames_, {})));
  columns.push_back(numbers_column("episode_index", std::exchange(episodes_, {})));
  columns.push_back(numbers_column("index", std::exchange(index_, {})));
  columns.push_back(numbers_column("task_index", std::exchange(tasks_, {})));
  for (const auto& name : made_columns)
    descriptions.emplace_back(name.first, object_of({{"dtype", Plain::of_text(name.second)},
                                                     {"_type", Plain::of_text("Value")}}));
  const Plain told = object_of({{"info", object_of({{"features", object_of(descriptions)}})}});
  write_table(target, path, std::move(columns), std::exchange(groups_, {}),
              {{"huggingface", python_json(told)}});
}

}  // namespace td::datasets
