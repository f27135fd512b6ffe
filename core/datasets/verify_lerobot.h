// core/datasets/verify_lerobot.h: the files of a data set of LeRobot, and its videos.
#pragma once

#include "core/datasets/lerobot_videos.h"
#include "core/datasets/set_folder.h"
#include "core/datasets/verify_problems.h"
#include "core/formats/plain.h"

namespace td::datasets {

// What info.json tells; null if it cannot be read.
Plain check_info(Problems& problems, const SetFolder& folder);
void check_features(Problems& problems, const Plain& info);
// Tables that are whole, tasks with their index.
void check_tables(Problems& problems, const SetFolder& folder, const Plain& info);
void check_video_files(Problems& problems, const SetFolder& folder, const Plain& info);

// That each row has its frame, by what the files tell; nothing is decoded.
class FrameCheck {
 public:
  explicit FrameCheck(const std::string& path);
  void episode(Problems& problems, std::int64_t number, const TensorDict& rows) const;

 private:
  LeRobotMeta meta_;
  LeRobotVideos videos_;
};

}  // namespace td::datasets
