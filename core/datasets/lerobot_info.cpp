#include "core/datasets/lerobot_info.h"

#include "core/datasets/lerobot_columns.h"
#include "core/datasets/source.h"
#include "core/tree/walk.h"

#include <algorithm>
#include <iterator>

namespace td::datasets {

namespace {

// A member of "features" for pictures that became a video.
Plain video_plain(const PlannedColumn& column, const Plain& fps, VideoChoice choice) {
  const Sizes& shape = column.feature.shape;
  const Plain about =
      object_of({{"video.height", Plain::of_integer(shape[0])},
                 {"video.width", Plain::of_integer(shape[1])},
                 {"video.codec", Plain::of_text(choice == VideoChoice::av1 ? "av1" : "h264")},
                 {"video.pix_fmt", Plain::of_text("yuv420p")},
                 {"video.is_depth_map", Plain::of_truth(false)},
                 {"video.fps", fps},
                 {"video.channels", Plain::of_integer(3)},
                 {"has_audio", Plain::of_truth(false)}});
  return object_of({{"dtype", Plain::of_text("video")},
                    {"shape", list_of({shape[0], shape[1], 3})},
                    {"names", column.names},
                    {"info", about}});
}

// What other kinds, or we do not know, stays.
void add_others(const TensorDict& metadata, std::vector<std::pair<std::string, Plain>>& members) {
  static constexpr std::string_view ours[] = {"total_videos",
                                              "total_chunks",
                                              "stats",
                                              "tasks",
                                              "subtasks",
                                              "videos",
                                              scalars_mark,
                                              "data_files_size_in_mb",
                                              "video_files_size_in_mb"};
  std::vector<std::pair<std::string, Plain>> others;
  visit_paths(*metadata.node(), [&](Path path, const Value& value) {
    const Plain* plain = value.is_node() ? one_value(*value.node()) : nullptr;
    if (plain == nullptr || is_branch(value)) return;
    const bool known = std::find(std::begin(ours), std::end(ours), path[0]) != std::end(ours) ||
                       std::any_of(members.begin(), members.end(),
                                   [&](const auto& one) { return one.first == path[0]; });
    if (known) return;
    std::string name;
    for (const std::string_view part : path) name += (name.empty() ? "" : "/") + std::string(part);
    others.emplace_back(name, *plain);
  });
  const Plain nested = nested_members(object_of(others));
  for (std::size_t i = 0; i < nested.items().size(); ++i)
    members.emplace_back(nested.name(i), nested.items()[i]);
}

}  // namespace

Plain lerobot_info(const LeRobotPlan& plan, const TensorDict& metadata,
                   const DatasetSaveOptions& options) {
  const bool v21 = options.lerobot_v21;
  auto videos = static_cast<std::int64_t>(plan.videos.size());
  const std::int64_t count = plan.episodes;
  std::vector<std::pair<std::string, Plain>> features;
  std::vector<Plain> alone;
  for (const PlannedColumn& column : plan.columns) {
    const Feature& feature = column.feature;
    videos += column.is_video ? 1 : 0;
    features.emplace_back(feature.column,
                          column.is_video
                              ? video_plain(column, plan.fps, options.video)
                              : feature_plain(dtype_text(feature), feature.shape, column.names));
    if (column.is_alone) alone.push_back(Plain::of_text(feature.column));
  }
  for (const auto& video : plan.videos) features.push_back(video);
  for (const auto& name : made_columns)
    features.emplace_back(name.first, feature_plain(name.second, {1}, Plain()));
  const Plain robot = metadata_member(metadata, "robot_type");
  const Plain splits = metadata_member(metadata, "splits");
  const Plain before = metadata_member(metadata, "total_episodes");
  const bool same = splits.is(Plain::object) && before == Plain::of_integer(count);
  const auto path = [&](const char* v2, const char* v3) { return Plain::of_text(v21 ? v2 : v3); };
  std::vector<std::pair<std::string, Plain>> members{
      {"codebase_version", Plain::of_text(v21 ? "v2.1" : "v3.0")},
      {"robot_type", robot},
      {"total_episodes", Plain::of_integer(count)},
      {"total_frames", Plain::of_integer(plan.frames)},
      {"total_tasks", Plain::of_integer(static_cast<std::int64_t>(plan.tasks.texts().size()))},
      {"chunks_size", Plain::of_integer(lerobot_chunks_size)},
      {v21 ? "total_videos" : "data_files_size_in_mb",
       Plain::of_integer(v21 ? count * videos : lerobot_file_megabytes)},
      {v21 ? "total_chunks" : "video_files_size_in_mb",
       Plain::of_integer(v21 ? (count + lerobot_chunks_size - 1) / lerobot_chunks_size
                             : lerobot_video_megabytes)},
      {"fps", plan.fps},
      {"splits",
       same ? splits : object_of({{"train", Plain::of_text("0:" + std::to_string(count))}})},
      {"data_path", path(lerobot_v21_data_path, lerobot_data_path)},
      {"video_path", videos == 0 ? Plain() : path(lerobot_v21_video_path, lerobot_video_path)},
      {"features", object_of(features)}};
  if (!alone.empty()) members.emplace_back(scalars_mark, Plain::of_list(std::move(alone)));
  add_others(metadata, members);
  return object_of(members);
}

}  // namespace td::datasets
