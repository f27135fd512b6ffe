// core/datasets/lerobot_info.h: meta/info.json of LeRobot, as it is written.
#pragma once

#include "core/datasets/lerobot_plan.h"

namespace td::datasets {

inline constexpr const char* lerobot_data_path =
    "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet";
inline constexpr const char* lerobot_episodes_path =
    "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet";
inline constexpr const char* lerobot_video_path =
    "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4";
inline constexpr std::int64_t lerobot_chunks_size = 1000, lerobot_file_megabytes = 100,
                              lerobot_video_megabytes = 200;

// In version 2.1, which has a file for each episode.
inline constexpr const char* lerobot_v21_data_path =
    "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet";
inline constexpr const char* lerobot_v21_video_path =
    "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4";

// `metadata` is that of the set that is written, also of another kind.
Plain lerobot_info(const LeRobotPlan& plan, const TensorDict& metadata,
                   const DatasetSaveOptions& options);

}  // namespace td::datasets
