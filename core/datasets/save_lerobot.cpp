// LeRobot's data sets, version 3.0: meta, and tables in Parquet with a row group for each episode. Memory holds the episodes of
// one table at a time. Version 2.1 has a table for each episode, and lines of JSON for meta.
#include "core/arrow/library.h"
#include "core/datasets/lerobot_columns.h"
#include "core/datasets/lerobot_info.h"
#include "core/datasets/lerobot_meta.h"
#include "core/datasets/lerobot_stats.h"
#include "core/datasets/lerobot_tables.h"
#include "core/datasets/lerobot_video_files.h"
#include "core/datasets/source.h"
#include "core/formats/json_text.h"
#include "core/io/file_io.h"
#include "core/io/folder.h"
#include "core/pictures/decode.h"
#include "core/tensor/dtype.h"
#include "core/tree/bytes_value.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

namespace td::datasets {

namespace {

constexpr const char* episodes_path = "meta/episodes/chunk-000/file-000.parquet";

template <class T>
void append_all(std::vector<T>& to, std::vector<T>&& more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Rows of a table that is not written yet: of each column, then of those that all sets have.
struct TableRows {
  std::vector<std::vector<at::Tensor>> tensors;
  std::vector<std::vector<std::string>> items;
  std::vector<at::Tensor> times;
  std::vector<std::int64_t> frames, episodes, rows, tasks, groups;
  std::int64_t bytes = 0;

  explicit TableRows(std::size_t columns) : tensors(columns), items(columns) {}
};

class LeRobotWriter final : public SetWriter {
 public:
  explicit LeRobotWriter(SetPlan plan)
      : plan_(std::move(plan)),
        draft_(plan_.options),
        planner_(plan_.metadata, draft_, plan_.options.video != VideoChoice::none),
        pending_(0) {
    if (plan_.each) {
      fail(
          Code::unsupported,
          "a data set of LeRobot is not written episode by episode: save or convert it as a whole");
    }
    folder_ = folder_for(plan_.path, DatasetKind::lerobot, "meta/info.json");
    arrow::library(quote(folder_) + ", a data set of LeRobot,");  // before the work
    if (plan_.options.video != VideoChoice::none)
      videos::library(quote(folder_) + ", a data set of LeRobot with videos,");
  }

  std::int64_t episodes() const override {
    return static_cast<std::int64_t>(planner_.plan().episodes.size());
  }

  void add(const TensorDict& episode, const TensorDict& about) override {
    Entries entries(episode);
    const std::vector<HeldVideo> videos = std::exchange(videos_, {});
    if (!planner_.add(entries, about, videos)) return;
    if (episodes() == 1) {
      pending_ = TableRows(planner_.plan().columns.size());
      with_picture_stats_ = can_decode(entries);
    }
    if (draft_.fails()) return target_.reset();  // finish() says what is lost
    begin();
    add_rows(entries, videos);
  }

  void take_videos(const std::vector<HeldVideo>& videos) override { videos_ = videos; }

  void finish() override {
    const LeRobotPlan& plan = planner_.finish();
    if (v21() && metadata_member(plan_.metadata, "subtasks").is(Plain::list))
      draft_.lose("the texts of subtasks");
    draft_.require_all(DatasetKind::lerobot);
    begin();
    write_rows();
    video_files_.finish();
    v21() ? write_lines() : write_meta(plan);
    target_->write("meta/info.json",
                   python_json(without_words(lerobot_info(plan, plan_.metadata, plan_.options))));
    target_->commit(plan_.options.durable);
  }

 private:
  bool v21() const noexcept { return plan_.options.lerobot_v21; }

  void begin() {
    if (target_) return;
    target_.emplace(folder_);
    for (const char* name : {"meta", "meta/episodes", "meta/episodes/chunk-000", "data"}) {
      if (!v21() || std::string_view(name).find('/') == std::string_view::npos)
        target_->make_folder(name);
    }
  }

  void write_meta(const LeRobotPlan& plan) {
    write_episodes();
    write_tasks(place("meta/tasks.parquet"), "task_index", plan.tasks);
    const Plain subtasks = metadata_member(plan_.metadata, "subtasks");
    if (subtasks.is(Plain::list)) {
      std::vector<std::string> texts;
      for (const Plain& one : subtasks.items()) texts.emplace_back(one.characters());
      write_tasks(place("meta/subtasks.parquet"), "subtask_index", texts);
    }
    target_->write("meta/stats.json", python_json(without_words(all_stats())));
  }

  // Version 2.1.
  void write_lines() {
    const LeRobotPlan& plan = planner_.plan();
    std::string tasks, episodes, stats;
    for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
      tasks += python_json(object_of(
                   {{"task_index", number_of(i)}, {"task", Plain::of_text(plan.tasks[i])}})) +
               "\n";
    }
    for (std::size_t i = 0; i < plan.episodes.size(); ++i) {
      std::vector<Plain> texts;
      for (const std::int64_t task : tasks_of(plan.episodes[i]))
        texts.push_back(Plain::of_text(plan.tasks[static_cast<std::size_t>(task)]));
      episodes += python_json(object_of({{"episode_index", number_of(i)},
                                         {"tasks", Plain::of_list(std::move(texts))},
                                         {"length", Plain::of_integer(plan.episodes[i].steps)}})) +
                  "\n";
      std::vector<std::pair<std::string, Plain>> members;
      for (const auto& feature : stats_[i])
        members.emplace_back(feature.first, feature.second.plain(/*quantiles=*/false));
      stats += python_json(without_words(
                   object_of({{"episode_index", number_of(i)}, {"stats", object_of(members)}}))) +
               "\n";
    }
    target_->write("meta/tasks.jsonl", tasks);
    target_->write("meta/episodes.jsonl", episodes);
    target_->write("meta/episodes_stats.jsonl", stats);
  }

  static Plain number_of(std::size_t i) { return Plain::of_integer(static_cast<std::int64_t>(i)); }

  // The tasks of its rows, each once.
  static std::vector<std::int64_t> tasks_of(const PlannedEpisode& episode) {
    std::vector<std::int64_t> seen;
    for (const std::int64_t task : episode.tasks) {
      if (std::find(seen.begin(), seen.end(), task) == seen.end()) seen.push_back(task);
    }
    return seen;
  }

  std::string place(const std::string& relative) const {
    return files::join(target_->path(), relative);
  }

  // Whether pictures can be decoded here; a damaged one fails later.
  bool can_decode(const Entries& entries) {
    for (const PlannedColumn& column : planner_.plan().columns) {
      if (column.feature.holds != Feature::image || column.is_encoded) continue;
      const Rows* rows = entries.find(column.feature.key);
      try {
        if (rows != nullptr && !rows->values.empty())
          decode_picture(bytes_of(rows->values[0]).value_or(""), quote(column.feature.column));
      } catch (const Error& failure) {
        if (failure.code() != Code::unsupported) throw;
        draft_.lose(text_of("the statistics of pictures: ", failure.what()));
        return false;
      }
    }
    return true;
  }

  // The episode that was planned last.
  void add_rows(Entries& entries, const std::vector<HeldVideo>& videos) {
    const LeRobotPlan& plan = planner_.plan();
    const PlannedEpisode& episode = plan.episodes.back();
    const std::int64_t number = episodes() - 1;
    std::vector<std::vector<at::Tensor>> tensors(plan.columns.size());
    std::vector<std::vector<std::string>> items(plan.columns.size());
    std::int64_t bytes = 0;
    stats_.emplace_back();
    for (std::size_t c = 0; c < plan.columns.size(); ++c) {
      const Rows rows = *entries.take(plan.columns[c].feature.key);
      if (plan.columns[c].is_video) {
        add_video(plan.columns[c], rows);
        continue;
      }
      add(plan.columns[c], rows, tensors[c], items[c]);
      for (const at::Tensor& one : tensors[c]) bytes += static_cast<std::int64_t>(one.nbytes());
      for (const std::string& one : items[c]) bytes += static_cast<std::int64_t>(one.size());
    }
    v21() ? VideoFiles::add_alone(*target_, videos, number)
          : video_files_.add(*target_, videos, plan.fps.number());
    add_video_stats(videos);
    const at::Tensor counted = at::arange(episode.steps, at::kLong);
    const at::Tensor times = (counted.to(at::kDouble) / plan.fps.number()).to(at::kFloat);
    add_made_stats(episode, counted, times, number);
    if (pending_.bytes > 0 && pending_.bytes + bytes > lerobot_file_megabytes << 20) write_rows();
    for (std::size_t c = 0; c < plan.columns.size(); ++c) {
      append_all(pending_.tensors[c], std::move(tensors[c]));
      append_all(pending_.items[c], std::move(items[c]));
    }
    pending_.times.push_back(times);
    for (std::int64_t row = 0; row < episode.steps; ++row) {
      pending_.frames.push_back(row);
      pending_.episodes.push_back(number);
      pending_.rows.push_back(row_++);
    }
    pending_.tasks.insert(pending_.tasks.end(), episode.tasks.begin(), episode.tasks.end());
    pending_.groups.push_back(episode.steps);
    pending_.bytes += bytes;
    places_.emplace_back(files_ / lerobot_chunks_size, files_ % lerobot_chunks_size);
    if (v21()) write_rows();
  }

  // The rows that wait become a file.
  void write_rows() {
    const std::vector<PlannedColumn>& planned = planner_.plan().columns;
    TableRows rows = std::exchange(pending_, TableRows(planned.size()));
    if (rows.groups.empty()) return;
    const std::int64_t chunk = files_ / lerobot_chunks_size, file = files_ % lerobot_chunks_size;
    ++files_;
    const std::string path =
        v21() ? filled_path(lerobot_v21_data_path,
                            {{"episode_chunk", chunk}, {"episode_index", files_ - 1}}, "")
              : filled_path(lerobot_data_path, {{"chunk_index", chunk}, {"file_index", file}}, "");
    if (file == 0) target_->make_folder(path.substr(0, path.rfind('/')));
    std::vector<arrow::Column> columns;
    std::vector<std::pair<std::string, Plain>> descriptions;
    for (std::size_t c = 0; c < planned.size(); ++c) {
      const Feature& feature = planned[c].feature;
      if (planned[c].is_video) continue;
      columns.push_back(
          feature.holds == Feature::image  ? pictures_column(feature.column, rows.items[c])
          : feature.holds == Feature::text ? texts_column(feature.column, rows.items[c])
                                           : tensor_as_column(feature, at::cat(rows.tensors[c])));
      descriptions.emplace_back(feature.column, described(feature));
    }
    columns.push_back(arrow::tensor_column("timestamp", at::cat(rows.times)));
    columns.push_back(numbers_column("frame_index", rows.frames));
    columns.push_back(numbers_column("episode_index", rows.episodes));
    columns.push_back(numbers_column("index", rows.rows));
    columns.push_back(numbers_column("task_index", rows.tasks));
    for (const auto& name : made_columns)
      descriptions.emplace_back(name.first, object_of({{"dtype", Plain::of_text(name.second)},
                                                       {"_type", Plain::of_text("Value")}}));
    const Plain told = object_of({{"info", object_of({{"features", object_of(descriptions)}})}});
    write_table(place(path), std::move(columns), std::move(rows.groups),
                {{"huggingface", python_json(told)}});
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
      stats.add(column.is_encoded
                    ? rows.tensor[at]
                    : decode_picture(items[static_cast<std::size_t>(at)], quote(feature.column)));
    }
    stats_.back().emplace_back(feature.column, stats.take());
  }

  // Pictures of an episode as the frames of a video. All have one size, which its table tells.
  void add_video(const PlannedColumn& column, const Rows& rows) {
    const Feature& feature = column.feature;
    const std::string name = "the video " + quote(feature.column);
    VideoForm form;
    form.codec = plan_.options.video == VideoChoice::av1 ? videos::Codec::av1 : videos::Codec::h264;
    form.height = feature.shape[0];
    form.width = feature.shape[1];
    form.rate = planner_.plan().fps.number();
    form.quality = plan_.options.video_quality;
    const std::vector<std::int64_t> sampled = sampled_pictures(rows.count());
    PictureStats stats;
    auto next = sampled.begin();
    video_files_.encode(
        *target_, feature.column, form, rows.count(),
        [&](std::int64_t row) {
          const at::Tensor frame = frame_of(rows, row, feature, name);
          if (next != sampled.end() && *next == row) {
            stats.add(frame);
            ++next;
          }
          return frame;
        },
        v21());
    stats_.back().emplace_back(feature.column, stats.take());
  }

  static at::Tensor frame_of(const Rows& rows, std::int64_t row, const Feature& feature,
                             const std::string& name) {
    at::Tensor frame =
        rows.is_tensor()
            ? rows.tensor[row]
            : decode_picture(bytes_of(rows.values[static_cast<std::size_t>(row)]).value_or(""),
                             text_of(name, ", row ", row));
    if (frame.dim() == 2 || (frame.dim() == 3 && frame.size(2) == 1))  // gray
      frame = frame.reshape({frame.size(0), frame.size(1), 1}).expand({-1, -1, 3});
    if (frame.scalar_type() != at::kByte || frame.size(2) != 3 ||
        frame.size(0) != feature.shape[0] || frame.size(1) != feature.shape[1]) {
      fail(Code::unsupported, name, " cannot hold the picture of row ", row, ", of sizes ",
           show_sizes(frame.sizes()), " and ", dtype_name(frame.scalar_type()),
           ": its frames are uint8 of sizes [", feature.shape[0], ", ", feature.shape[1], ", 3]");
    }
    return frame.cpu();
  }

  void add_video_stats(const std::vector<HeldVideo>& videos) {
    for (const HeldVideo& video : videos) {
      if (!with_video_stats_) return;
      try {
        stats_.back().emplace_back(video.column, video_files_.stats_of_video(video));
      } catch (const Error& failure) {
        if (failure.code() != Code::unsupported || episodes() > 1) throw;
        draft_.lose(text_of("the statistics of videos: ", failure.what()));
        with_video_stats_ = false;
      }
    }
  }

  void add_made_stats(const PlannedEpisode& episode, const at::Tensor& counted,
                      const at::Tensor& times, std::int64_t number) {
    at::Tensor tasks = at::empty({episode.steps}, at::kLong);
    std::copy(episode.tasks.begin(), episode.tasks.end(), tasks.data_ptr<std::int64_t>());
    const auto add = [&](const char* name, const at::Tensor& values) {
      stats_.back().emplace_back(name, stats_of(values.unsqueeze(1)));
    };
    add("timestamp", times);
    add("frame_index", counted);
    add("episode_index", at::full({episode.steps}, number, at::kLong));
    add("index", counted + row_);
    add("task_index", tasks);
  }

  void write_episodes() const {
    std::vector<std::int64_t> numbers, lengths, chunks, file_numbers, from, to;
    std::vector<std::int64_t> task_counts;
    std::vector<std::string> tasks;
    std::int64_t row = 0;
    const LeRobotPlan& plan = planner_.plan();
    for (std::size_t i = 0; i < plan.episodes.size(); ++i) {
      const PlannedEpisode& episode = plan.episodes[i];
      numbers.push_back(static_cast<std::int64_t>(i));
      lengths.push_back(episode.steps);
      chunks.push_back(places_[i].first);
      file_numbers.push_back(places_[i].second);
      from.push_back(row);
      to.push_back(row += episode.steps);
      const std::vector<std::int64_t> seen = tasks_of(episode);
      for (const std::int64_t task : seen)
        tasks.push_back(plan.tasks[static_cast<std::size_t>(task)]);
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
    for (arrow::Column& column : video_files_.columns()) columns.push_back(std::move(column));
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
    write_table(place(episodes_path), std::move(columns), whole(numbers.size()), {});
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

  SetPlan plan_;
  Draft draft_;
  LeRobotPlanner planner_;
  std::string folder_;
  std::optional<files::FolderReplacement> target_;  // until the set is in its place
  TableRows pending_;
  std::vector<HeldVideo> videos_;  // of the episode that comes next
  VideoFiles video_files_;
  bool with_picture_stats_ = true, with_video_stats_ = true;
  std::int64_t files_ = 0, row_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> places_;  // chunk and file of each episode
  std::vector<std::vector<std::pair<std::string, FeatureStats>>> stats_;  // of each episode
};

}  // namespace

std::unique_ptr<SetWriter> write_lerobot(const SetPlan& plan) {
  return std::make_unique<LeRobotWriter>(plan);
}

}  // namespace td::datasets
