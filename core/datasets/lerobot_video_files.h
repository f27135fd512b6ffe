// core/datasets/lerobot_video_files.h: the videos of a set of LeRobot that is written: those of other sets, copied as they are, and
// those that are encoded. An episode is a part of a file.
#pragma once

#include "core/arrow/made.h"
#include "core/datasets/lerobot_stats.h"
#include "core/datasets/set_target.h"
#include "core/datasets/source.h"
#include "core/videos/video.h"
#include "core/videos/video_writer.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace td::datasets {

class VideoFiles {
 public:
  // How many files a column has already, in a set that grows.
  void go_on(const std::string& column, std::int64_t files);
  // Copies the files of an episode's videos that are not there yet.
  void add(SetTarget& target, const std::vector<HeldVideo>& videos, double fps);
  // Copies the file of each of an episode's videos, which has no other frames: version 2.1. Code::unsupported if it has.
  static void add_alone(SetTarget& target, const std::vector<HeldVideo>& videos,
                        std::int64_t episode);
  // Encodes an episode behind those before it since finish(). `alone`: with the name of version 2.1. `frame(i)` is uint8
  // [height, width, 3], which lives until the next call.
  void encode(SetTarget& target, const std::string& column, const VideoForm& form,
              std::int64_t count, const std::function<at::Tensor(std::int64_t i)>& frame,
              bool alone);
  void finish();  // files that are being encoded

  // Of some frames, which are decoded. Code::unsupported without the module.
  FeatureStats stats_of_video(const HeldVideo& video);
  // What the table of episodes has of those that were added since the last call.
  std::vector<arrow::Column> take_columns();

 private:
  struct Column {
    std::string name;
    std::int64_t count = 0;  // files
    std::map<std::string, std::int64_t> numbers =
        {};  // of those that are copied, by where they were
    std::vector<std::int64_t> chunks = {}, files = {};  // of each episode
    std::vector<double> from = {}, to = {};
    std::unique_ptr<VideoWriter> writer = {};  // of the last file
  };
  Column& column_named(const std::string& name);

  std::vector<Column> columns_;
  std::unique_ptr<VideoReader> reader_;  // the last one
};

}  // namespace td::datasets
