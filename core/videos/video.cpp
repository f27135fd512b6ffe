#include "core/videos/video.h"

#include "core/base/error.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace td {

Video::Video(FileBytes file)
    : file_(std::move(file)), index_(videos::read_mp4(file_.text(), file_.where())) {}

std::string_view Video::bytes_of(std::uint32_t frame) const noexcept {
  const videos::EncodedFrame& one = index_.frames[frame];
  return {file_.data() + one.offset, one.bytes};
}

double Video::seconds_of(std::uint32_t frame) const noexcept {
  return static_cast<double>(index_.frames[frame].time) / static_cast<double>(index_.units);
}

std::optional<std::uint32_t> Video::frame_at(double seconds, double most) const noexcept {
  const auto after = std::lower_bound(
      index_.shown.begin(), index_.shown.end(), seconds,
      [&](std::uint32_t frame, double wanted) { return seconds_of(frame) < wanted; });
  std::optional<std::uint32_t> found;
  double nearest = most;
  for (auto one = after == index_.shown.begin() ? after : after - 1;
       one != index_.shown.end() && one <= after; ++one) {
    const double distance = std::abs(seconds_of(*one) - seconds);
    if (!(distance <= nearest)) continue;  // NaN is no time
    nearest = distance;
    found = *one;
  }
  return found;
}

VideoReader::VideoReader(std::shared_ptr<const Video> video)
    : video_(std::move(video)), library_(videos::library(video_->where() + ", a video,")) {
  const videos::VideoIndex& index = video_->index();
  // A decoder works with whole blocks.
  const std::int64_t pixels = (index.height + 128) * (index.width + 128);
  TdVideoDecoder* decoder = nullptr;
  TdVideoError error;
  require(library_.open(static_cast<std::int32_t>(index.codec), index.header.data(),
                        static_cast<std::int64_t>(index.header.size()), pixels, &decoder, &error),
          error, video_->where());
  decoder_ = {decoder, Close{library_.close}};
}

VideoReader::~VideoReader() = default;

void VideoReader::require(int status, const TdVideoError& error, const std::string& where) const {
  if (status == 0) return;
  const Code code = status == ENOMEM    ? Code::out_of_memory
                    : status == ENOTSUP ? Code::unsupported
                                        : Code::format;
  fail(code, where, ": ", error.text);
}

// Whether it comes without a jump: it is still to be received, and no key frame in between saves work.
bool VideoReader::continues(std::uint32_t frame) const noexcept {
  const std::vector<videos::EncodedFrame>& frames = video_->index().frames;
  if (begun_ == nothing || frames[frame].key < begun_ || frames[frame].key > next_) return false;
  return last_ == nothing || frames[frame].time > frames[last_].time;
}

std::size_t VideoReader::steps_to(std::uint32_t frame) const noexcept {
  if (frame == last_) return 0;
  const std::uint32_t from =
      continues(frame) ? std::min(next_, frame) : video_->index().frames[frame].key;
  return frame - from + 1;
}

void VideoReader::read(std::uint32_t frame, std::int64_t height, std::int64_t width,
                       std::uint8_t* to, const std::string& where) {
  TdVideoError error;
  if (frame != last_) {
    try {
      decode(frame, height, width, where);
    } catch (...) {
      begun_ = last_ = nothing;
      throw;
    }
  }
  require(library_.picture(decoder_.get(), to, &error), error, where);
}

void VideoReader::decode(std::uint32_t frame, std::int64_t height, std::int64_t width,
                         const std::string& where) {
  const std::vector<videos::EncodedFrame>& frames = video_->index().frames;
  TdVideoError error;
  if (!continues(frame)) {
    library_.reset(decoder_.get());
    begun_ = next_ = frames[frame].key;
    last_ = nothing;
    ++turn_;
  }
  for (bool ended = false;;) {
    std::int64_t number = -1, found_height = 0, found_width = 0;
    require(library_.receive(decoder_.get(), &number, &found_height, &found_width, &error), error,
            where);
    if (number >= 0) {
      if (number >> 32 != turn_) continue;
      last_ = static_cast<std::uint32_t>(number);
      if (last_ == frame) {
        if (found_height == height && found_width == width) return;
        fail(Code::format, where, ": the frame is ", found_height, " by ", found_width, ", where ",
             height, " by ", width, " should be");
      }
      if (frames[last_].time <= frames[frame].time) continue;
      fail(Code::format, where, ": the decoder left the frame out: its bytes are damaged");
    }
    if (ended) fail(Code::format, where, ": the video has no such frame: its bytes are damaged");
    ended = next_ == frames.size();
    const std::string_view bytes = ended ? std::string_view() : video_->bytes_of(next_);
    require(library_.send(decoder_.get(), ended ? nullptr : bytes.data(),
                          static_cast<std::int64_t>(bytes.size()), turn_ << 32 | next_, &error),
            error, where);
    next_ += ended ? 0 : 1;
  }
}

}  // namespace td
