#include "core/datasets/lerobot_plan.h"

#include "core/base/quote.h"
#include "core/datasets/lerobot_plan_columns.h"
#include "core/datasets/source.h"
#include "core/formats/json_text.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace td::datasets {

class LeRobotPlanner::State {
 public:
  State(const TensorDict& metadata, const DatasetSaveOptions& options, Draft& draft,
        std::int64_t episodes, std::int64_t frames)
      : metadata_(metadata),
        rate_(options.fps),
        draft_(draft),
        videos_(options.video != VideoChoice::none),
        plan_{{}, {}, TextNumbers(metadata, "tasks"), {}, episodes, frames},
        columns_(metadata, draft, plan_.columns, videos_),
        met_(episodes) {
    note_metadata();
  }

  bool add(const Entries& entries, const TensorDict& about, const std::vector<HeldVideo>& videos) {
    note_about(about);
    const std::int64_t number = met_++;
    if (entries.steps() == 0) {
      draft_.lose_empty(number);
      return false;
    }
    if (!is_planned_) {
      find_fps(entries);
      columns_.plan(entries);
      is_planned_ = true;
      const bool has_video = std::any_of(plan_.columns.begin(), plan_.columns.end(),
                                         [](const PlannedColumn& one) { return one.is_video; });
      if (videos_ && !has_video)
        draft_.lose("a video: no entry below (\"observation\", \"image\") has pictures");
    } else {
      columns_.require(entries, static_cast<std::size_t>(number));
    }
    add_videos(videos, number);
    add_episode(entries, about);
    return true;
  }

  const LeRobotPlan& plan() const noexcept { return plan_; }
  void finish() {
    if (plan_.episodes == 0) {
      draft_.lose("a set without steps");
      find_fps(Entries(TensorDict(Sizes{0})));
    }
    const Plain beside = metadata_member(metadata_, "videos");
    for (const Plain& video : beside.items()) {
      if (!is_kept(video.characters()))
        draft_.lose("the video " + quote(video.characters()) + ", which was not read");
    }
  }

 private:
  static bool is_rate(const Plain& fps) {
    return fps.is_number() && fps.number() > 0 && std::isfinite(fps.number());
  }

  static Plain rate_plain(double rate) {
    return rate == std::round(rate) && rate < 1e6
               ? Plain::of_integer(static_cast<std::int64_t>(rate))
               : Plain::of_real(rate);
  }

  // By the options, else by the metadata, else by the times of the first episode.
  void find_fps(const Entries& entries) {
    plan_.fps = rate_ > 0 ? rate_plain(rate_) : metadata_member(metadata_, "fps");
    if (!is_rate(plan_.fps)) plan_.fps = rate_of_times(entries);
    if (is_rate(plan_.fps)) return;
    draft_.lose(
        "rows of an unknown number in a second (\"fps\" of the metadata is to be a number, and no "
        "tensor; lossy takes 1)");
    plan_.fps = Plain::of_integer(1);
  }

  // An entry with one number for each step, or an undefined tensor.
  static at::Tensor column_of(const Entries& entries, const char* key) {
    const Rows* rows = entries.find({key});
    const bool fits =
        rows != nullptr && rows->is_tensor() && rows->tensor.numel() == entries.steps();
    return fits ? rows->tensor.reshape({-1}) : at::Tensor();
  }

  static Plain rate_of_times(const Entries& entries) {
    at::Tensor seconds = column_of(entries, "timestamp");
    const std::int64_t steps = entries.steps();
    if (!seconds.defined() || steps < 2) return {};
    seconds = seconds.to(at::kDouble);
    const double rate =
        static_cast<double>(steps - 1) / (seconds[steps - 1] - seconds[0]).item<double>();
    if (!(rate > 0) || std::isinf(rate)) return {};
    const double whole = std::round(rate);
    return rate_plain(std::abs(rate - whole) < 1e-3 ? whole : rate);
  }

  bool is_kept(std::string_view column) const {
    return std::any_of(plan_.videos.begin(), plan_.videos.end(),
                       [&](const auto& one) { return one.first == column; });
  }

  // All episodes have the same. A column is the name of a folder, too.
  void add_videos(const std::vector<HeldVideo>& videos, std::int64_t number) {
    for (const HeldVideo& one : videos) {
      if (one.column.empty() || one.column[0] == '.' || one.column.find('/') != std::string::npos)
        fail(Code::unsupported, quote(one.column), " cannot be the folder of a video");
      if (plan_.last.steps == 0) plan_.videos.emplace_back(one.column, one.feature);
    }
    const bool same =
        plan_.videos.size() == videos.size() &&
        std::equal(videos.begin(), videos.end(), plan_.videos.begin(),
                   [](const HeldVideo& one, const auto& planned) {
                     return one.column == planned.first &&
                            *one.feature.find("shape") == *planned.second.find("shape");
                   });
    if (!same) {
      fail(Code::unsupported, "a data set of LeRobot cannot hold the videos of episode ", number,
           ": those of the episodes before are others");
    }
  }

  void add_episode(const Entries& entries, const TensorDict& about) {
    PlannedEpisode episode{entries.steps(), {}};
    const Rows* texts = entries.find({task_key});
    const std::string other = episode_task(about);
    if (texts == nullptr && other.empty()) episode.tasks = tasks_by_number(entries);
    for (auto row = static_cast<std::int64_t>(episode.tasks.size()); row < episode.steps; ++row) {
      const bool told = texts != nullptr && !texts->is_tensor() &&
                        texts->values[static_cast<std::size_t>(row)].is(Plain::text);
      episode.tasks.push_back(plan_.tasks.number_of(
          told ? std::string(texts->values[static_cast<std::size_t>(row)].characters()) : other));
    }
    check_frames(entries);
    plan_.frames += entries.steps();
    plan_.episodes += 1;
    plan_.last = std::move(episode);
  }

  // Tasks of rows that tell their numbers alone; those without a text are called "task 3". None if they are no such numbers.
  std::vector<std::int64_t> tasks_by_number(const Entries& entries) {
    at::Tensor told = column_of(entries, "task_index");
    if (!told.defined() || !c10::isIntegralType(told.scalar_type(), /*includeBool=*/false))
      return {};
    constexpr std::int64_t most = 10000;
    told = told.to(at::kLong).contiguous();
    const auto* first = told.data_ptr<std::int64_t>();
    const auto [least, last] = std::minmax_element(first, first + told.numel());
    for (auto i = plan_.tasks.texts().size(); *last < most && i <= static_cast<std::size_t>(*last);
         ++i)
      plan_.tasks.number_of("task " + std::to_string(i));
    if (*least >= 0 && *last < static_cast<std::int64_t>(plan_.tasks.texts().size()))
      return {first, first + told.numel()};
    draft_.lose("\"task_index\", which are no numbers of tasks");
    return {};
  }

  // The only task of an episode without a text in each row.
  static std::string episode_task(const TensorDict& about) {
    const Plain tasks = metadata_member(about, "tasks");
    const bool one = tasks.is(Plain::list) && tasks.items().size() == 1;
    return one ? std::string(tasks.items()[0].characters()) : "";
  }

  void check_frames(const Entries& entries) {
    const at::Tensor counted = at::arange(entries.steps(), at::kDouble);
    enum class From { zero, first };
    const auto require = [&](const char* key, const char* which, const at::Tensor& expected,
                             double room, From from) {
      at::Tensor found = column_of(entries, key);
      if (!found.defined() || found.numel() == 0) return;
      found = found.to(at::kDouble);
      if (from == From::first) found = found - found[0];
      if (!((found - expected).abs() <= room).all().item<bool>())
        draft_.lose(quote(key) + which, /*is_counted=*/true);
    };
    require("frame", ", which does not count the steps from 0", counted, 0, From::zero);
    require("index", ", which does not count the rows", counted, 0, From::first);
    require("timestamp", ", which is not the frame divided by fps", counted / plan_.fps.number(),
            1e-4, From::zero);
    for (const char* key : {"episode_index", "frame_index"}) {
      if (entries.find({key}) != nullptr)
        draft_.lose(quote(key) + ", which LeRobot counts itself", /*is_counted=*/true);
    }
    note_episode(draft_, entries);
    const Rows* texts = entries.find({task_key});
    if (texts != nullptr && texts->is_tensor())
      draft_.lose(quote(task_key) + ", which are no texts");
  }

  void note_about(const TensorDict& about) const {
    static constexpr std::string_view kept[] = {"id",
                                                "name",
                                                "total_steps",
                                                "num_samples",
                                                "episode_index",
                                                "tasks",
                                                "length",
                                                "stats",
                                                "data",
                                                "meta",
                                                "videos",
                                                "dataset_from_index",
                                                "dataset_to_index"};
    visit_paths(*about.node(), [&](Path path, const Value&) {
      if (std::find(std::begin(kept), std::end(kept), path[0]) == std::end(kept))
        draft_.lose("the metadata of episodes");
    });
  }

  void note_metadata() const {
    visit_paths(*metadata_.node(), [&](Path path, const Value& value) {
      if (is_branch(value)) return;
      if (!value.is_node() || one_value(*value.node()) == nullptr)
        draft_.lose("the metadata " + show_path(path));
    });
  }

  TensorDict metadata_;
  double rate_;  // that is asked for; 0: none
  Draft& draft_;
  bool videos_;
  LeRobotPlan plan_;
  LeRobotColumns columns_;
  bool is_planned_ = false;
  std::int64_t met_;  // episodes
};

TextNumbers::TextNumbers(const TensorDict& metadata, const char* name) {
  const Plain known = metadata_member(metadata, name);
  if (!known.is(Plain::list)) return;
  for (const Plain& text : known.items()) {
    if (text.is(Plain::text)) number_of(std::string(text.characters()));
  }
}

std::int64_t TextNumbers::number_of(const std::string& text) {
  const auto added = numbers_.emplace(text, static_cast<std::int64_t>(texts_.size()));
  if (added.second) texts_.push_back(text);
  return added.first->second;
}

LeRobotPlanner::LeRobotPlanner(const TensorDict& metadata, const DatasetSaveOptions& options,
                               Draft& draft, std::int64_t episodes, std::int64_t frames)
    : state_(std::make_unique<State>(metadata, options, draft, episodes, frames)) {}
LeRobotPlanner::~LeRobotPlanner() = default;

bool LeRobotPlanner::add(const Entries& entries, const TensorDict& about,
                         const std::vector<HeldVideo>& videos) {
  return state_->add(entries, about, videos);
}
const LeRobotPlan& LeRobotPlanner::plan() const noexcept { return state_->plan(); }
void LeRobotPlanner::finish() { state_->finish(); }

}  // namespace td::datasets
