// Sets of LeRobot, version 3.0: meta, and tables in Parquet with a row group for each episode. Memory holds the episodes of
// one table at a time. Version 2.1 has a table for each episode, and lines of JSON for meta.
#include "core/arrow/library.h"
#include "core/datasets/lerobot_columns.h"
#include "core/datasets/lerobot_info.h"
#include "core/datasets/lerobot_lists.h"
#include "core/datasets/lerobot_rows.h"
#include "core/datasets/lerobot_tables.h"
#include "core/datasets/lerobot_there.h"
#include "core/datasets/lerobot_video_files.h"
#include "core/datasets/set_folder.h"
#include "core/datasets/source.h"
#include "core/formats/json_text.h"
#include "core/pictures/decode.h"
#include "core/tensor/dtype.h"
#include "core/tree/bytes_value.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

namespace td::datasets {

namespace {

// A set that is being written: what its episodes are so far.
class LeRobotEpisodes {
 public:
  // `there`: of a set that grows, or nullptr.
  LeRobotEpisodes(const TensorDict& metadata, const DatasetSaveOptions& options,
                  const LeRobotThere* there)
      : metadata_(metadata),
        options_(options),
        draft_(options),
        planner_(metadata, options, draft_, there == nullptr ? 0 : there->episodes,
                 there == nullptr ? 0 : there->rows),
        lists_(options.lerobot_v21),
        rows_(options.lerobot_v21) {
    if (there == nullptr) return;
    lists_.go_on(there->lists, there->stats);
    rows_.go_on(there->data_files, there->rows);
    for (const auto& video : there->videos) video_files_.go_on(video.first, video.second);
    tasks_written_ = static_cast<std::size_t>(tasks().size());
  }

  std::int64_t count() const { return planner_.plan().episodes; }
  Draft& draft() noexcept { return draft_; }
  Plain info() const { return without_words(lerobot_info(planner_.plan(), metadata_, options_)); }

  // Whether it is an episode: without steps it is left out.
  bool plan(const Entries& entries, const TensorDict& about, const std::vector<HeldVideo>& videos) {
    const bool first = !is_planned_;
    if (!planner_.add(entries, about, videos)) return false;
    if (first) with_picture_stats_ = can_decode(entries);
    is_planned_ = true;
    return true;
  }

  // The episode that was planned last.
  void add(SetTarget& target, Entries& entries, const std::vector<HeldVideo>& videos) {
    const LeRobotPlan& plan = planner_.plan();
    const std::int64_t number = plan.episodes - 1, steps = plan.last.steps;
    LeRobotValues values(plan.columns.size());
    stats_.clear();
    for (std::size_t c = 0; c < plan.columns.size(); ++c) {
      const Rows rows = *entries.take(plan.columns[c].feature.key);
      if (plan.columns[c].is_video) {
        add_video(target, plan.columns[c], rows);
      } else {
        add_column(plan.columns[c], rows, values.tensors[c], values.items[c]);
      }
    }
    const bool v21 = options_.lerobot_v21;
    v21 ? VideoFiles::add_alone(target, videos, number)
        : video_files_.add(target, videos, plan.fps.number());
    if (v21) video_files_.finish();
    add_video_stats(videos);
    const at::Tensor counted = at::arange(steps, at::kLong);
    const at::Tensor times = (counted.to(at::kDouble) / plan.fps.number()).to(at::kFloat);
    const std::int64_t first_row = rows_.rows();
    add_made_stats(plan.last, counted, times, first_row);
    rows_.add(target, plan, std::move(values), times);
    lists_.add({number, first_row, steps, rows_.file(), tasks_of(plan.last), std::move(stats_)},
               tasks());
    if (v21) rows_.write(target, plan);
    if (lists_.is_full()) lists_.write_episodes(target, tasks(), video_files_);
  }

  void plan_end() { planner_.finish(); }

  // Everything that is not written yet. info.json is the last, and returned: it counts the episodes.
  std::string write(SetTarget& target) {
    rows_.write(target, planner_.plan());
    video_files_.finish();
    options_.lerobot_v21 ? lists_.write_lines(target, tasks()) : write_lists(target);
    std::string text = python_json(info());
    target.put("meta/info.json", text);
    return text;
  }

 private:
  const std::vector<std::string>& tasks() const { return planner_.plan().tasks.texts(); }

  void write_lists(SetTarget& target) {
    const bool grows = tasks_written_.has_value();
    if (!grows || *tasks_written_ != tasks().size())
      write_tasks(target, "meta/tasks.parquet", "task_index", tasks());
    tasks_written_ = tasks().size();
    const Plain subtasks = metadata_member(metadata_, "subtasks");
    if (!grows && subtasks.is(Plain::list)) {
      std::vector<std::string> texts;
      for (const Plain& one : subtasks.items()) texts.emplace_back(one.characters());
      write_tasks(target, "meta/subtasks.parquet", "subtask_index", texts);
    }
    if (!lists_.is_written()) lists_.write_episodes(target, tasks(), video_files_);
    lists_.write_stats(target);
  }

  // The tasks of its rows, each once.
  static std::vector<std::int64_t> tasks_of(const PlannedEpisode& episode) {
    std::vector<std::int64_t> seen;
    for (const std::int64_t task : episode.tasks) {
      if (std::find(seen.begin(), seen.end(), task) == seen.end()) seen.push_back(task);
    }
    return seen;
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

  void add_column(const PlannedColumn& column, const Rows& rows, std::vector<at::Tensor>& tensors,
                  std::vector<std::string>& items) {
    const Feature& feature = column.feature;
    if (feature.holds == Feature::tensor) {
      const at::Tensor values = rows.tensor.dim() == 1 ? rows.tensor.unsqueeze(1) : rows.tensor;
      tensors.push_back(values);
      stats_.emplace_back(feature.column, stats_of(values));
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
    stats_.emplace_back(feature.column, stats.take());
  }

  // Pictures of an episode as the frames of a video. All have one size, which its table tells.
  void add_video(SetTarget& target, const PlannedColumn& column, const Rows& rows) {
    const Feature& feature = column.feature;
    const std::string name = "the video " + quote(feature.column);
    VideoForm form;
    form.codec = options_.video == VideoChoice::av1 ? videos::Codec::av1 : videos::Codec::h264;
    form.height = feature.shape[0];
    form.width = feature.shape[1];
    form.rate = planner_.plan().fps.number();
    form.quality = options_.video_quality;
    const std::vector<std::int64_t> sampled = sampled_pictures(rows.count());
    PictureStats stats;
    auto next = sampled.begin();
    video_files_.encode(
        target, feature.column, form, rows.count(),
        [&](std::int64_t row) {
          const at::Tensor frame = frame_of(rows, row, feature, name);
          if (next != sampled.end() && *next == row) {
            stats.add(frame);
            ++next;
          }
          return frame;
        },
        options_.lerobot_v21);
    stats_.emplace_back(feature.column, stats.take());
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
        stats_.emplace_back(video.column, video_files_.stats_of_video(video));
      } catch (const Error& failure) {
        if (failure.code() != Code::unsupported || planner_.plan().episodes > 1) throw;
        draft_.lose(text_of("the statistics of videos: ", failure.what()));
        with_video_stats_ = false;
      }
    }
  }

  void add_made_stats(const PlannedEpisode& episode, const at::Tensor& counted,
                      const at::Tensor& times, std::int64_t first_row) {
    at::Tensor tasks = at::empty({episode.steps}, at::kLong);
    std::copy(episode.tasks.begin(), episode.tasks.end(), tasks.data_ptr<std::int64_t>());
    const auto add = [&](const char* name, const at::Tensor& values) {
      stats_.emplace_back(name, stats_of(values.unsqueeze(1)));
    };
    add("timestamp", times);
    add("frame_index", counted);
    add("episode_index", at::full({episode.steps}, planner_.plan().episodes - 1, at::kLong));
    add("index", counted + first_row);
    add("task_index", tasks);
  }

  TensorDict metadata_;
  DatasetSaveOptions options_;
  Draft draft_;
  LeRobotPlanner planner_;
  LeRobotLists lists_;
  LeRobotRows rows_;
  VideoFiles video_files_;
  SetStats stats_;  // of the episode
  bool is_planned_ = false, with_picture_stats_ = true, with_video_stats_ = true;
  std::optional<std::size_t> tasks_written_;
};

constexpr const char* info_file = "meta/info.json";

class LeRobotWriter final : public SetWriter {
 public:
  explicit LeRobotWriter(SetPlan plan) : plan_(std::move(plan)) {
    if (plan_.each && plan_.options.lerobot_v21) {
      fail(Code::unsupported,
           "a data set of LeRobot v2.1 is not written episode by episode: write version 3.0, or "
           "save or convert it as a whole");
    }
    folder_ = folder_for(plan_.path, DatasetKind::lerobot, info_file);
    arrow::library(quote(folder_) + ", a data set of LeRobot,");  // before the work
    if (plan_.options.video != VideoChoice::none)
      videos::library(quote(folder_) + ", a data set of LeRobot with videos,");
    is_there_ = plan_.options.resume && files::look(folder_).found != files::Found::nothing;
    begin();
  }

  std::int64_t episodes() const override { return episodes_; }

  void add(const TensorDict& episode, const TensorDict& about) override {
    if (!now_) begin();
    try {
      add_to(*now_, episode, about);
    } catch (...) {
      if (plan_.each) forget();
      throw;
    }
    episodes_ = now_->count();
  }

  void take_videos(const std::vector<HeldVideo>& videos) override { videos_ = videos; }

  void finish() override {
    if (plan_.each && is_there_) return;
    if (!now_) begin();
    now_->plan_end();
    if (plan_.options.lerobot_v21 && metadata_member(plan_.metadata, "subtasks").is(Plain::list))
      now_->draft().lose("the texts of subtasks");
    publish();
  }

 private:
  // As the disk has it.
  void begin() {
    there_.reset();
    if (is_there_) there_ = LeRobotThere::read(folder_);
    now_ = std::make_unique<LeRobotEpisodes>(there_ ? there_->metadata : plan_.metadata,
                                             plan_.options, there_ ? &*there_ : nullptr);
    episodes_ = now_->count();
    is_checked_ = !there_;
    is_fresh_ = true;
    if (is_there_) info_ = info_on_disk();
  }

  std::string info_on_disk() const {
    return std::string(SetFolder(folder_).bytes(info_file).text());
  }

  // The next call begins with the set on the disk.
  void forget() noexcept {
    now_.reset();
    target_.reset();
  }

  void add_to(LeRobotEpisodes& now, const TensorDict& episode, const TensorDict& about) {
    Entries entries(episode);
    const std::vector<HeldVideo> videos = std::exchange(videos_, {});
    if (plan_.each && !is_fresh_) now.draft() = Draft(plan_.options);
    is_fresh_ = false;
    const bool is_one = now.plan(entries, about, videos);
    if (plan_.each) now.draft().require_all(DatasetKind::lerobot);
    if (!is_one) return;
    if (!is_checked_) there_->require_same(now.info());
    is_checked_ = true;
    if (now.draft().fails()) return target_.reset();  // finish() says what is lost
    is_taken_ = is_taken_ || (is_there_ && info_on_disk() != info_);
    if (is_taken_) fail(Code::busy, quote(folder_), " was replaced by another writer");
    if (!target_)
      target_.emplace(folder_, is_there_ ? SetTarget::Way::more : SetTarget::Way::whole);
    now.add(*target_, entries, videos);
    if (plan_.each) publish();
  }

  void publish() {
    now_->draft().require_all(DatasetKind::lerobot);
    if (!target_) target_.emplace(folder_, SetTarget::Way::whole);
    std::string info = now_->write(*target_);
    target_->commit(plan_.options.durable);
    info_ = std::move(info);
    target_.reset();
    is_there_ = true;
  }

  SetPlan plan_;
  std::string folder_;
  bool is_there_ = false;                 // the set, in its place
  bool is_taken_ = false;                 // by another writer
  std::string info_;                      // as this one left it
  std::optional<LeRobotThere> there_;     // the episodes that this writer did not add
  std::unique_ptr<LeRobotEpisodes> now_;  // none after a failure
  std::optional<SetTarget> target_;       // of what is not in its place
  bool is_checked_ = true, is_fresh_ = true;
  std::int64_t episodes_ = 0;
  std::vector<HeldVideo> videos_;  // of the episode that comes next
};

}  // namespace

std::unique_ptr<SetWriter> write_lerobot(const SetPlan& plan) {
  return std::make_unique<LeRobotWriter>(plan);
}

}  // namespace td::datasets
