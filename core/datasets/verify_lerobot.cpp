#include "core/datasets/verify_lerobot.h"

#include "core/arrow/library.h"
#include "core/base/quote.h"
#include "core/datasets/lerobot_meta.h"
#include "core/datasets/verify_members.h"
#include "core/datasets/verify_stats.h"
#include "core/formats/json_text.h"
#include "core/tree/non_tensor.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ATen.h>

#include <set>

namespace td::datasets {

namespace {

class LeRobotChecker final : public Checker {
 public:
  using Checker::Checker;

  void look() override {
    const SetFolder folder(problems_.path());
    info_ = check_info(problems_, folder);
    if (!info_.is(Plain::object)) return;
    check_video_files(problems_, folder, info_);
    check_stats(folder);
    check_tables(problems_, folder, info_);
  }

  void begin(const Source& source) override {
    const Plain tasks = metadata_member(source.metadata(), "tasks");
    const Plain* told = info_.find("total_tasks", Plain::integer);
    const auto found = static_cast<std::int64_t>(tasks.items().size());
    if (told != nullptr && tasks.is(Plain::list) && told->integral() != found) {
      problems_.add({"meta/info.json"}, "\"total_tasks\" is ", told->integral(), ", and there are ",
                    found, " tasks");
    }
    check_splits(source.episodes);
    bool has_videos = false;
    for (const Feature& feature : features_of(info_, "meta/info.json")) {
      if (feature.holds == Feature::tensor) features_.push_back(feature);
      has_videos = has_videos || feature.holds == Feature::video;
    }
    if (has_videos) frames_ = std::make_unique<FrameCheck>(problems_.path());
    const Plain* fps = info_.find("fps");
    fps_ = fps != nullptr && fps->is_number() ? fps->number() : 0;
  }

  void episode(const Source& source, std::int64_t number, const TensorDict& rows) override {
    const Spot at{file_of(source, number), number};
    const std::int64_t count = rows.batch_size()[0];
    const auto differs = [&](const char* key, const at::Tensor& wanted, double room,
                             const char* what) {
      const at::Tensor* found = rows.stored({key});
      if (found == nullptr || found->numel() != count) return;
      const at::Tensor all = found->reshape({count}).to(at::kDouble);
      problems_.add_rows(at, (all - wanted).abs().le(room).logical_not(), 0, what);
    };
    const at::Tensor frames = at::arange(count, at::kDouble);
    differs("frame", frames, 0, "\"frame_index\" does not count from 0 on");
    if (fps_ > 0)
      differs("timestamp", frames / fps_, 1e-4, "\"timestamp\" is not frame_index divided by fps");
    differs("index", frames + static_cast<double>(rows_), 0,
            "\"index\" is not the number of the row in the whole set");
    rows_ += count;
    const TensorDict about = source.metadata(number);
    check_tasks(at, about, rows);
    if (frames_) frames_->episode(problems_, number, rows);
    SeenStats seen;
    for (const Feature& feature : features_) {
      const at::Tensor* found = rows.stored(views_of(feature.key));
      if (found != nullptr) seen.add(feature.column, *found);
    }
    const Plain told = metadata_member(about, "stats");
    if (told.is(Plain::object)) seen.compare(problems_, at, told);
    seen_.add(seen);
  }

  std::string file_of(const Source& source, std::int64_t number) const override {
    const Plain* pattern = info_.find("data_path", Plain::text);
    const Plain* chunk = info_.find("chunks_size", Plain::integer);
    if (pattern == nullptr) return "data";
    try {
      const Plain data = metadata_member(source.metadata(number), "data");
      const auto told = [&](const char* name) {
        const Plain* found = data.find(name, Plain::integer);
        return found == nullptr ? 0 : found->integral();
      };
      const std::int64_t episodes =
          chunk == nullptr || chunk->integral() <= 0 ? 1000 : chunk->integral();
      return filled_path(pattern->characters(),
                         {{"chunk_index", told("chunk_index")},
                          {"file_index", told("file_index")},
                          {"episode_chunk", number / episodes},
                          {"episode_index", number}},
                         "data");
    } catch (const Error&) {
      return "data";  // check_info() says what is wrong with it
    }
  }

  void end(const Source&) override {
    if (stats_.is(Plain::object)) seen_.compare(problems_, {"meta/stats.json"}, stats_);
  }

 private:
  // "0:3" is from episode 0 to behind 2.
  void check_splits(std::int64_t episodes) const {
    const Plain* splits = info_.find("splits", Plain::object);
    for (std::size_t i = 0; splits != nullptr && i < splits->items().size(); ++i) {
      const std::string_view range = splits->items()[i].characters();
      const std::size_t colon = range.find(':');
      if (colon == std::string_view::npos) continue;
      const std::int64_t from = number_of(range.substr(0, colon)),
                         to = number_of(range.substr(colon + 1));
      if (from >= 0 && from <= to && to <= episodes) continue;
      problems_.add({"meta/info.json"}, "the split ", quote(splits->name(i)), " is ", quote(range),
                    ", and there are ", episodes, " episodes");
    }
  }

  void check_stats(const SetFolder& folder) {
    const char* const file = "meta/stats.json";
    const Plain* version = info_.find("codebase_version", Plain::text);
    const bool of_episodes = version != nullptr && version->characters() == "v2.1";
    if (folder.has(file)) {
      problems_.attempt({file}, [&] { stats_ = folder.json(file); });
      note_words(problems_, file, stats_, "");
    } else if (!of_episodes) {
      problems_.note({file}, "is missing; training normalizes with it");
    }
  }

  // The texts that the list of episodes has must be those of its rows.
  void check_tasks(const Spot& at, const TensorDict& about, const TensorDict& rows) const {
    const Plain told = metadata_member(about, "tasks");
    if (!told.is(Plain::list) || rows.kind_of({task_key}) != EntryKind::non_tensor) return;
    const std::optional<Value> entry = rows.node()->entry(task_key);
    const Plain texts = non_tensor_lists(*entry->node());
    std::set<std::string> listed, found;
    for (const Plain& one : told.items()) listed.emplace(one.characters());
    for (const Plain& one : texts.items()) found.emplace(one.characters());
    for (const std::string& one : found) {
      if (listed.count(one) == 0)
        problems_.add(at, "its rows have the task ", quote(one),
                      ", which is not in its list of tasks");
    }
    for (const std::string& one : listed) {
      if (found.count(one) == 0)
        problems_.add(at, "its list of tasks has ", quote(one), ", and no row of it");
    }
  }

  Plain info_, stats_;
  std::vector<Feature> features_;
  std::unique_ptr<FrameCheck> frames_;  // of a set with videos
  double fps_ = 0;
  std::int64_t rows_ = 0;
  SeenStats seen_;
};

}  // namespace

std::unique_ptr<Checker> lerobot_checker(Problems& problems) {
  return std::make_unique<LeRobotChecker>(problems);
}

}  // namespace td::datasets
