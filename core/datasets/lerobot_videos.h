// core/datasets/lerobot_videos.h: the frames of LeRobot's videos.
#pragma once

#include "core/datasets/lerobot_meta.h"
#include "core/videos/video.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace td::datasets {

// The time of a row in its episode.
struct FrameTime {
  std::int64_t episode, row;
  double seconds;
};

// Thread-safe. Keeps some videos open, and what decodes them, for the rows that follow.
class LeRobotVideos {
 public:
  LeRobotVideos(const LeRobotMeta& meta, std::uint64_t max_bytes)
      : meta_(meta), max_bytes_(max_bytes) {}

  // The frames of rows, uint8 [rows, height, width, 3]. Code::format, with the file, the episode and the row, for frames that are
  // missing, damaged, or of another size than info.json tells.
  at::Tensor read(const Feature& feature, const std::vector<FrameTime>& rows) const;

  // The frame of a row, as LeRobot finds it; none if the video has no frame at its time.
  struct Found {
    std::shared_ptr<const Video> video;
    std::optional<std::uint32_t> frame;
  };
  Found find(const Feature& feature, const FrameTime& time) const;
  // What is wrong with the size of a video's frames; empty if info.json tells of this one.
  static std::string wrong_size(const Feature& feature, const Video& video);
  // Code::format without one.
  static std::uint32_t require(const Feature& feature, const FrameTime& time, const Found& found);

 private:
  using Reader = std::unique_ptr<VideoReader>;
  std::shared_ptr<const Video> open(const std::string& file) const;
  Reader take(const Found& wanted) const;
  void give_back(Reader reader) const;

  const LeRobotMeta& meta_;
  std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<std::string, std::shared_ptr<const Video>>> open_;
  mutable std::vector<Reader> idle_;
};

}  // namespace td::datasets
