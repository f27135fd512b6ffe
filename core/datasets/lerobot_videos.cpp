#include "core/datasets/lerobot_videos.h"

#include "core/base/quote.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace td::datasets {

namespace {

constexpr std::size_t most_videos = 16, most_readers = 8;
// What LeRobot allows between a row and its frame, and what rounding to float32 takes from the time of a row.
constexpr double tolerance = 1e-4, float_error = 6e-8;
// A still picture takes a few bytes of a video.
constexpr std::uint64_t most_growth = 20'000, always_allowed = std::uint64_t{64} << 20;

// The newest stays the longest.
template <class T>
void keep_newest(std::vector<T>& kept, T one, std::size_t most) {
  if (kept.size() == most) kept.erase(kept.begin());
  kept.push_back(std::move(one));
}

}  // namespace

std::shared_ptr<const Video> LeRobotVideos::open(const std::string& file) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& one : open_) {
      if (one.first == file) return one.second;
    }
  }
  auto opened = std::make_shared<const Video>(meta_.folder().bytes(file));
  const std::lock_guard<std::mutex> lock(mutex_);
  keep_newest(open_, {file, opened}, most_videos);
  return opened;
}

LeRobotVideos::Found LeRobotVideos::find(const Feature& feature, const FrameTime& time) const {
  const VideoPlace place = meta_.video_of(feature, time.episode);
  Found found{open(place.file), std::nullopt};
  const double most = tolerance + std::abs(time.seconds) * float_error;
  found.frame = found.video->frame_at(place.from + time.seconds, most);
  return found;
}

std::uint32_t LeRobotVideos::require(const Feature& feature, const FrameTime& time,
                                     const Found& found) {
  if (found.frame) return *found.frame;
  fail(Code::format, found.video->where(), ", episode ", time.episode, ", row ", time.row, ": ",
       quote(feature.column), " has no frame at ", time.seconds, " seconds of the episode");
}

std::string LeRobotVideos::wrong_size(const Feature& feature, const Video& video) {
  const videos::VideoIndex& index = video.index();
  if (index.height == feature.shape[0] && index.width == feature.shape[1]) return {};
  return text_of("the frames are ", index.height, " by ", index.width, ", and info.json tells of ",
                 feature.shape[0], " by ", feature.shape[1]);
}

// One that has the frame before, if there is any.
LeRobotVideos::Reader LeRobotVideos::take(const Found& wanted) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto best = idle_.end();
    std::size_t steps = 0;
    for (auto one = idle_.begin(); one != idle_.end(); ++one) {
      if ((*one)->video() != wanted.video) continue;
      const std::size_t here = (*one)->steps_to(*wanted.frame);
      if (best != idle_.end() && here >= steps) continue;
      best = one;
      steps = here;
    }
    if (best != idle_.end()) {
      Reader taken = std::move(*best);
      idle_.erase(best);
      return taken;
    }
  }
  return std::make_unique<VideoReader>(wanted.video);
}

void LeRobotVideos::give_back(Reader reader) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  keep_newest(idle_, std::move(reader), most_readers);
}

at::Tensor LeRobotVideos::read(const Feature& feature, const std::vector<FrameTime>& rows) const {
  std::vector<Found> found;
  std::uint64_t encoded = 0;
  const auto where = [&](std::size_t i) {
    return text_of(found[i].video->where(), ", episode ", rows[i].episode, ", row ", rows[i].row);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found.push_back(find(feature, rows[i]));
    require(feature, rows[i], found[i]);
    encoded += found[i].video->bytes_of(*found[i].frame).size();
  }
  const std::int64_t height = feature.shape[0], width = feature.shape[1];
  const auto count = static_cast<std::int64_t>(rows.size());
  if (count != 0) {
    const std::string wrong = wrong_size(feature, *found[0].video);
    if (!wrong.empty()) fail(Code::format, where(0), ": ", wrong);
  }
  const std::uint64_t most = max_bytes_ != 0 ? max_bytes_ : most_growth * encoded + always_allowed;
  std::int64_t bytes = 0;  // height and width are below 2^16
  if (__builtin_mul_overflow(count, height * width * 3, &bytes) ||
      static_cast<std::uint64_t>(bytes) > most) {
    fail(Code::format, where(0), ": ", count, " frames of ", height, " by ", width,
         " would take more than the limit of ", most, " bytes");
  }
  at::Tensor frames = at::empty({count, height, width, 3}, at::kByte);
  Reader reader;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (reader && reader->video() != found[i].video) give_back(std::move(reader));
    if (!reader) reader = take(found[i]);
    reader->read(
        *found[i].frame, height, width,
        frames.data_ptr<std::uint8_t>() + static_cast<std::int64_t>(i) * height * width * 3,
        where(i));
  }
  if (reader) give_back(std::move(reader));
  return frames;
}

}  // namespace td::datasets
