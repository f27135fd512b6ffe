// LeRobot's data sets, version 3.0: meta, and tables in Parquet with a row group for each episode.
#include "core/arrow/files.h"
#include "core/arrow/library.h"
#include "core/arrow/made.h"
#include "core/arrow/types.h"
#include "core/datasets/lerobot_meta.h"
#include "core/datasets/lerobot_plan.h"
#include "core/datasets/lerobot_stats.h"
#include "core/datasets/source.h"
#include "core/formats/json_text.h"
#include "core/io/folder.h"
#include "core/io/new_file.h"
#include "core/pictures/decode.h"
#include "core/tensor/dtype.h"
#include "core/tree/bytes_value.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>

namespace td::datasets {

namespace {

constexpr const char* data_path = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet";
constexpr const char* episodes_path = "meta/episodes/chunk-000/file-000.parquet";
constexpr std::int64_t chunks_size = 1000, file_megabytes = 100;

std::string dtype_text(const Feature& feature) {
  return feature.holds == Feature::text    ? "string"
         : feature.holds == Feature::image ? "image"
                                           : dtype_name(feature.dtype).substr(6);
}

Plain feature_plain(const std::string& dtype, SizesView shape, Plain names) {
  return object_of(
      {{"dtype", Plain::of_text(dtype)}, {"shape", list_of(shape)}, {"names", std::move(names)}});
}

// As the library `datasets` keeps it beside a table; versions before 4 know no "List".
Plain described(const Feature& feature) {
  const Plain value = object_of(
      {{"dtype", Plain::of_text(dtype_text(feature))}, {"_type", Plain::of_text("Value")}});
  if (feature.holds == Feature::image) return object_of({{"_type", Plain::of_text("Image")}});
  if (feature.holds == Feature::text || feature.shape == Sizes{1}) return value;
  if (feature.shape.size() == 1) {
    return object_of({{"feature", value},
                      {"length", Plain::of_integer(feature.shape[0])},
                      {"_type", Plain::of_text("Sequence")}});
  }
  return object_of(
      {{"shape", list_of(feature.shape)},
       {"dtype", Plain::of_text(dtype_text(feature))},
       {"_type", Plain::of_text("Array" + std::to_string(feature.shape.size()) + "D")}});
}

// Lists nested as the dimensions after the first.
arrow::Column nested_lists(std::string_view name, const at::Tensor& tensor,
                           const std::string& metadata) {
  arrow::Column column =
      arrow::tensor_column(tensor.dim() == 1 ? name : "item", tensor.reshape({-1}));
  for (std::int64_t dim = tensor.dim(); dim-- > 1;) {
    const std::int64_t lists =
        tensor.sizes().slice(0, static_cast<std::size_t>(dim)).empty()
            ? 1
            : c10::multiply_integers(tensor.sizes().slice(0, static_cast<std::size_t>(dim)));
    const std::vector<std::int64_t> lengths(static_cast<std::size_t>(lists), tensor.size(dim));
    column = arrow::ragged_column(dim == 1 ? name : "item", lengths, std::move(column),
                                  dim == 1 ? metadata : std::string());
  }
  return column;
}

arrow::Column tensor_as_column(const Feature& feature, const at::Tensor& rows) {
  if (feature.shape == Sizes{1}) return arrow::tensor_column(feature.column, rows.reshape({-1}));
  if (feature.shape.size() == 1) return arrow::tensor_column(feature.column, rows);
  const std::string dims = std::to_string(feature.shape.size());
  const Plain told = Plain::of_list({list_of(feature.shape), Plain::of_text(dtype_text(feature))});
  return nested_lists(
      feature.column, rows,
      arrow::metadata_text(
          {{arrow::extension_key, "datasets.features.features.Array" + dims + "DExtensionType"},
           {"ARROW:extension:metadata", python_json(told)}}));
}

arrow::Column numbers_column(std::string_view name, const std::vector<std::int64_t>& numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  at::Tensor values = at::empty({count}, at::kLong);
  std::copy(numbers.begin(), numbers.end(), values.data_ptr<std::int64_t>());
  return arrow::tensor_column(name, values);
}

arrow::Column texts_column(std::string_view name, const std::vector<std::string>& texts) {
  return arrow::text_column(name, {texts.begin(), texts.end()}, false);
}

arrow::Column pictures_column(std::string_view name, const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    char text[48];
    std::snprintf(text, sizeof text, "frame-%06zu.png", i);
    names.emplace_back(text);
  }
  std::vector<arrow::Column> parts;
  parts.push_back(arrow::text_column("bytes", {files.begin(), files.end()}, true));
  parts.push_back(texts_column("path", names));
  return arrow::struct_column(name, static_cast<std::int64_t>(files.size()), std::move(parts), {});
}

// The columns that every set has, with their dtypes.
constexpr std::pair<const char*, const char*> made_columns[] = {{"timestamp", "float32"},
                                                                {"frame_index", "int64"},
                                                                {"episode_index", "int64"},
                                                                {"index", "int64"},
                                                                {"task_index", "int64"}};

class LeRobotWriter {
 public:
  LeRobotWriter(const Recording& recording, LeRobotPlan plan, bool durable)
      : recording_(recording), plan_(std::move(plan)), durable_(durable) {}

  void write(const std::string& folder, bool with_picture_stats) {
    with_picture_stats_ = with_picture_stats;
    files::FolderReplacement target(folder);
    target_ = &target;
    for (const char* name : {"meta", "meta/episodes", "meta/episodes/chunk-000", "data"})
      target.make_folder(name);
    write_data();
    write_episodes();
    write_tasks("meta/tasks.parquet", "task_index", plan_.tasks);
    const Plain subtasks = metadata_member(recording_.metadata, "subtasks");
    if (subtasks.is(Plain::list)) {
      std::vector<std::string> texts;
      for (const Plain& one : subtasks.items()) texts.emplace_back(one.characters());
      write_tasks("meta/subtasks.parquet", "subtask_index", texts);
    }
    target.write("meta/stats.json", python_json(all_stats()));
    target.write("meta/info.json", python_json(info()));
    target.commit(durable_);
  }

 private:
  // Columns of equal lengths as a file, with a row group for each length.
  void write_table(const std::string& relative, std::vector<arrow::Column> columns,
                   std::vector<std::int64_t> groups, const arrow::Pairs& metadata) const {
    std::int64_t rows = 0;
    for (const std::int64_t group : groups) rows += group;
    arrow::Column table =
        arrow::struct_column("", rows, std::move(columns),
                             metadata.empty() ? std::string() : arrow::metadata_text(metadata));
    arrow::Owned<arrow::Stream> stream;
    arrow::stream_of(std::move(table), std::move(groups), &stream.value);
    files::NewFile file(files::join(target_->path(), relative), true);
    arrow::write_stream(&stream.value, file, FileFormat::parquet, true);
    file.commit(false);
  }

  void write_data() {
    const std::int64_t limit = file_megabytes << 20;
    std::int64_t bytes = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < plan_.episodes.size(); ++i) {
      const auto number = static_cast<std::size_t>(plan_.episodes[i].number);
      const auto here = static_cast<std::int64_t>(recording_.episodes[number].nbytes());
      if (i > begin && bytes + here > limit) {
        write_file(begin, i);
        begin = i;
        bytes = 0;
      }
      bytes += here;
    }
    if (begin < plan_.episodes.size()) write_file(begin, plan_.episodes.size());
  }

  void write_file(std::size_t begin, std::size_t end) {
    const std::int64_t chunk = files_ / chunks_size, file = files_ % chunks_size;
    ++files_;
    const std::string path =
        filled_path(data_path, {{"chunk_index", chunk}, {"file_index", file}}, "");
    if (file == 0) target_->make_folder(path.substr(0, path.rfind('/')));
    std::vector<std::vector<at::Tensor>> tensors(plan_.columns.size());
    std::vector<std::vector<std::string>> items(plan_.columns.size());
    std::vector<std::int64_t> frames, indices, rows, tasks, groups;
    std::vector<float> times;
    const double fps = plan_.fps.number();
    for (std::size_t i = begin; i < end; ++i) {
      const PlannedEpisode& episode = plan_.episodes[i];
      Entries entries(recording_.episodes[static_cast<std::size_t>(episode.number)]);
      stats_.emplace_back();
      std::vector<float> own_times;
      for (std::int64_t row = 0; row < episode.steps; ++row) {
        own_times.push_back(static_cast<float>(static_cast<double>(row) / fps));
        frames.push_back(row);
        indices.push_back(static_cast<std::int64_t>(i));
        rows.push_back(row_++);
      }
      tasks.insert(tasks.end(), episode.tasks.begin(), episode.tasks.end());
      times.insert(times.end(), own_times.begin(), own_times.end());
      groups.push_back(episode.steps);
      places_.push_back({chunk, file});
      for (std::size_t c = 0; c < plan_.columns.size(); ++c)
        add(plan_.columns[c], *entries.take(plan_.columns[c].feature.key), tensors[c], items[c]);
      add_made_stats(episode, row_ - episode.steps, static_cast<std::int64_t>(i), fps);
    }
    std::vector<arrow::Column> columns;
    std::vector<std::pair<std::string, Plain>> descriptions;
    for (std::size_t c = 0; c < plan_.columns.size(); ++c) {
      const Feature& feature = plan_.columns[c].feature;
      columns.push_back(feature.holds == Feature::image ? pictures_column(feature.column, items[c])
                        : feature.holds == Feature::text
                            ? texts_column(feature.column, items[c])
                            : tensor_as_column(feature, at::cat(tensors[c])));
      descriptions.emplace_back(feature.column, described(feature));
    }
    at::Tensor timestamp = at::empty({static_cast<std::int64_t>(times.size())}, at::kFloat);
    std::copy(times.begin(), times.end(), timestamp.data_ptr<float>());
    columns.push_back(arrow::tensor_column("timestamp", timestamp));
    columns.push_back(numbers_column("frame_index", frames));
    columns.push_back(numbers_column("episode_index", indices));
    columns.push_back(numbers_column("index", rows));
    columns.push_back(numbers_column("task_index", tasks));
    for (const auto& name : made_columns)
      descriptions.emplace_back(name.first, object_of({{"dtype", Plain::of_text(name.second)},
                                                       {"_type", Plain::of_text("Value")}}));
    const Plain told = object_of({{"info", object_of({{"features", object_of(descriptions)}})}});
    write_table(path, std::move(columns), std::move(groups), {{"huggingface", python_json(told)}});
  }

  void add(const PlannedColumn& column, const Rows& rows, std::vector<at::Tensor>& tensors,
           std::vector<std::string>& items) {
    const Feature& feature = column.feature;
    if (feature.holds == Feature::tensor) {
      const at::Tensor values = rows.tensor.dim() == 1 ? rows.tensor.unsqueeze(1) : rows.tensor;
      tensors.push_back(values);
      stats_.back().emplace_back(feature.column, stats_of(values));
      return;
    }
    const std::size_t first = items.size();
    for (std::int64_t row = 0; row < rows.count(); ++row) {
      if (column.is_encoded) {
        items.push_back(encode_png(rows.tensor[row]));
        continue;
      }
      const Plain& one = rows.values[static_cast<std::size_t>(row)];
      const std::optional<std::string> bytes = bytes_of(one);
      const bool fits = feature.holds == Feature::text ? one.is(Plain::text) : bytes.has_value();
      if (!fits) {
        fail(Code::unsupported, "a data set of LeRobot cannot hold ", json_text(one).substr(0, 60),
             " as a ", feature.holds == Feature::text ? "text" : "picture", " of ",
             quote(feature.column));
      }
      items.push_back(bytes ? *bytes : std::string(one.characters()));
    }
    if (feature.holds != Feature::image || !with_picture_stats_) return;
    PictureStats stats;
    for (const std::int64_t at : sampled_pictures(rows.count())) {
      stats.add(column.is_encoded ? rows.tensor[at]
                                  : decode_picture(items[first + static_cast<std::size_t>(at)],
                                                   quote(feature.column)));
    }
    stats_.back().emplace_back(feature.column, stats.take());
  }

  void add_made_stats(const PlannedEpisode& episode, std::int64_t begin, std::int64_t number,
                      double fps) {
    const at::Tensor counted = at::arange(episode.steps, at::kLong);
    at::Tensor tasks = at::empty({episode.steps}, at::kLong);
    std::copy(episode.tasks.begin(), episode.tasks.end(), tasks.data_ptr<std::int64_t>());
    const auto add = [&](const char* name, const at::Tensor& values) {
      stats_.back().emplace_back(name, stats_of(values.unsqueeze(1)));
    };
    add("timestamp", (counted.to(at::kDouble) / fps).to(at::kFloat));
    add("frame_index", counted);
    add("episode_index", at::full({episode.steps}, number, at::kLong));
    add("index", counted + begin);
    add("task_index", tasks);
  }

  void write_episodes() const {
    std::vector<std::int64_t> numbers, lengths, chunks, file_numbers, from, to;
    std::vector<std::int64_t> task_counts;
    std::vector<std::string> tasks;
    std::int64_t row = 0;
    for (std::size_t i = 0; i < plan_.episodes.size(); ++i) {
      const PlannedEpisode& episode = plan_.episodes[i];
      numbers.push_back(static_cast<std::int64_t>(i));
      lengths.push_back(episode.steps);
      chunks.push_back(places_[i].first);
      file_numbers.push_back(places_[i].second);
      from.push_back(row);
      to.push_back(row += episode.steps);
      std::vector<std::int64_t> seen;
      for (const std::int64_t task : episode.tasks) {
        if (std::find(seen.begin(), seen.end(), task) == seen.end()) seen.push_back(task);
      }
      for (const std::int64_t task : seen)
        tasks.push_back(plan_.tasks[static_cast<std::size_t>(task)]);
      task_counts.push_back(static_cast<std::int64_t>(seen.size()));
    }
    const std::vector<std::int64_t> zeros(numbers.size(), 0);
    std::vector<arrow::Column> columns;
    columns.push_back(numbers_column("episode_index", numbers));
    columns.push_back(arrow::ragged_column("tasks", task_counts, texts_column("item", tasks)));
    columns.push_back(numbers_column("length", lengths));
    columns.push_back(numbers_column("data/chunk_index", chunks));
    columns.push_back(numbers_column("data/file_index", file_numbers));
    columns.push_back(numbers_column("dataset_from_index", from));
    columns.push_back(numbers_column("dataset_to_index", to));
    for (std::size_t feature = 0; !stats_.empty() && feature < stats_[0].size(); ++feature) {
      for (std::size_t which = 0; which < FeatureStats::kinds; ++which) {
        std::vector<at::Tensor> values;
        for (const auto& episode : stats_) values.push_back(episode[feature].second.values[which]);
        columns.push_back(
            nested_lists("stats/" + stats_[0][feature].first + "/" + FeatureStats::names[which],
                         at::stack(values), {}));
      }
    }
    columns.push_back(numbers_column("meta/episodes/chunk_index", zeros));
    columns.push_back(numbers_column("meta/episodes/file_index", zeros));
    write_table(episodes_path, std::move(columns), whole(numbers.size()), {});
  }

  // A table of pandas whose index are the texts.
  void write_tasks(const std::string& path, const char* number,
                   const std::vector<std::string>& texts) const {
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < texts.size(); ++i) numbers.push_back(static_cast<std::int64_t>(i));
    std::vector<arrow::Column> columns;
    columns.push_back(numbers_column(number, numbers));
    columns.push_back(texts_column("__index_level_0__", texts));
    const auto column = [](Plain name, const char* field, const char* pandas, const char* numpy) {
      return object_of({{"name", std::move(name)},
                        {"field_name", Plain::of_text(field)},
                        {"pandas_type", Plain::of_text(pandas)},
                        {"numpy_type", Plain::of_text(numpy)},
                        {"metadata", Plain()}});
    };
    const Plain pandas = object_of(
        {{"index_columns", Plain::of_list({Plain::of_text("__index_level_0__")})},
         {"column_indexes", Plain::of_list({})},
         {"columns", Plain::of_list({column(Plain::of_text(number), number, "int64", "int64"),
                                     column(Plain(), "__index_level_0__", "unicode", "object")})}});
    write_table(path, std::move(columns), whole(texts.size()), {{"pandas", python_json(pandas)}});
  }

  static std::vector<std::int64_t> whole(std::size_t rows) {
    return rows == 0 ? std::vector<std::int64_t>()
                     : std::vector<std::int64_t>{static_cast<std::int64_t>(rows)};
  }

  Plain all_stats() const {
    std::vector<std::pair<std::string, Plain>> members;
    for (std::size_t feature = 0; !stats_.empty() && feature < stats_[0].size(); ++feature) {
      std::vector<FeatureStats> values;
      for (const auto& episode : stats_) values.push_back(episode[feature].second);
      members.emplace_back(stats_[0][feature].first, joined(values).plain());
    }
    return object_of(members);
  }

  Plain info() const {
    const auto count = static_cast<std::int64_t>(plan_.episodes.size());
    std::vector<std::pair<std::string, Plain>> features;
    std::vector<Plain> alone;
    for (const PlannedColumn& column : plan_.columns) {
      const Feature& feature = column.feature;
      features.emplace_back(feature.column,
                            feature_plain(dtype_text(feature), feature.shape, column.names));
      if (column.is_alone) alone.push_back(Plain::of_text(feature.column));
    }
    for (const auto& name : made_columns)
      features.emplace_back(name.first, feature_plain(name.second, {1}, Plain()));
    const Plain robot = metadata_member(recording_.metadata, "robot_type");
    const Plain splits = metadata_member(recording_.metadata, "splits");
    const Plain before = metadata_member(recording_.metadata, "total_episodes");
    const bool same = splits.is(Plain::object) && before == Plain::of_integer(count);
    std::vector<std::pair<std::string, Plain>> members{
        {"codebase_version", Plain::of_text("v3.0")},
        {"robot_type", robot},
        {"total_episodes", Plain::of_integer(count)},
        {"total_frames", Plain::of_integer(plan_.frames)},
        {"total_tasks", Plain::of_integer(static_cast<std::int64_t>(plan_.tasks.size()))},
        {"chunks_size", Plain::of_integer(chunks_size)},
        {"data_files_size_in_mb", Plain::of_integer(file_megabytes)},
        {"video_files_size_in_mb", Plain::of_integer(200)},
        {"fps", plan_.fps},
        {"splits",
         same ? splits : object_of({{"train", Plain::of_text("0:" + std::to_string(count))}})},
        {"data_path", Plain::of_text(data_path)},
        {"video_path", Plain()},
        {"features", object_of(features)}};
    if (!alone.empty()) members.emplace_back(scalars_mark, Plain::of_list(std::move(alone)));
    add_others(members);
    return object_of(members);
  }

  // What other kinds, or we do not know, stays.
  void add_others(std::vector<std::pair<std::string, Plain>>& members) const {
    static constexpr std::string_view ours[] = {
        "total_videos", "total_chunks", "stats", "tasks", "subtasks", "videos", scalars_mark};
    std::vector<std::pair<std::string, Plain>> others;
    visit_paths(*recording_.metadata.node(), [&](Path path, const Value& value) {
      const Plain* plain = value.is_node() ? one_value(*value.node()) : nullptr;
      if (plain == nullptr || is_branch(value)) return;
      const bool known = std::find(std::begin(ours), std::end(ours), path[0]) != std::end(ours) ||
                         std::any_of(members.begin(), members.end(),
                                     [&](const auto& one) { return one.first == path[0]; });
      if (known) return;
      std::string name;
      for (const std::string_view part : path)
        name += (name.empty() ? "" : "/") + std::string(part);
      others.emplace_back(name, *plain);
    });
    const Plain nested = nested_members(object_of(others));
    for (std::size_t i = 0; i < nested.items().size(); ++i)
      members.emplace_back(nested.name(i), nested.items()[i]);
  }

  const Recording& recording_;
  LeRobotPlan plan_;
  bool durable_, with_picture_stats_ = true;
  files::FolderReplacement* target_ = nullptr;
  std::int64_t files_ = 0, row_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> places_;  // chunk and file of each episode
  std::vector<std::vector<std::pair<std::string, FeatureStats>>> stats_;  // of each episode
};

// Whether pictures can be decoded here; a damaged one fails later.
bool can_decode(const Recording& recording, const LeRobotPlan& plan, Draft& draft) {
  for (const PlannedColumn& column : plan.columns) {
    if (column.feature.holds != Feature::image || column.is_encoded) continue;
    for (const PlannedEpisode& episode : plan.episodes) {
      const Entries entries(recording.episodes[static_cast<std::size_t>(episode.number)]);
      const Rows* rows = entries.find(column.feature.key);
      try {
        if (rows != nullptr && !rows->values.empty())
          decode_picture(bytes_of(rows->values[0]).value_or(""), quote(column.feature.column));
      } catch (const Error& failure) {
        if (failure.code() != Code::unsupported) throw;
        draft.lose(text_of("the statistics of pictures: ", failure.what()));
        return false;
      }
      break;
    }
  }
  return true;
}

void save_lerobot(const Recording& recording, const std::string& path,
                  const DatasetSaveOptions& options) {
  const std::string folder = files::absolute(path);
  arrow::library(quote(folder) + ", a data set of LeRobot,");  // before the work
  Draft draft(options.lossy);
  LeRobotPlan plan = plan_lerobot(recording, draft);
  const bool with_stats = can_decode(recording, plan, draft);
  draft.require_all(DatasetKind::lerobot);
  folder_for(folder, DatasetKind::lerobot, "meta/info.json");
  LeRobotWriter(recording, std::move(plan), options.durable).write(folder, with_stats);
}

class WaitingEpisodes final : public SetWriter {
 public:
  explicit WaitingEpisodes(SetPlan plan) : plan_(std::move(plan)) {
    if (plan_.each) {
      fail(
          Code::unsupported,
          "a data set of LeRobot is not written episode by episode: save or convert it as a whole");
    }
    recording_.metadata = plan_.metadata;
  }

  std::int64_t episodes() const override {
    return static_cast<std::int64_t>(recording_.episodes.size());
  }
  void add(const TensorDict& episode, const TensorDict& about) override {
    recording_.episodes.push_back(episode);
    recording_.about.push_back(about);
  }
  void finish() override { save_lerobot(recording_, plan_.path, plan_.options); }

 private:
  SetPlan plan_;
  Recording recording_;
};

}  // namespace

std::unique_ptr<SetWriter> write_lerobot(const SetPlan& plan) {
  return std::make_unique<WaitingEpisodes>(plan);
}

}  // namespace td::datasets
