#include "core/videos/video_writer.h"

#include "core/base/error.h"
#include "core/videos/stream_forms.h"

#include <cerrno>
#include <cmath>

namespace td {

namespace {

constexpr std::int32_t h264_quality = 23, av1_quality = 30, worst_h264 = 51, worst_av1 = 63;
// As LeRobot does it: a frame that is drawn at random is decoded of two.
constexpr std::int32_t key_every = 2;
// A frame's time in the file is a whole number of 32 bits of a microsecond and more.
constexpr double slowest = 0.001, fastest = 100000;

// Such that a frame of a whole rate lasts whole units.
std::int32_t units_of(double rate) noexcept {
  constexpr double fine = 10000, microseconds = 1e6;
  if (rate < 1) return static_cast<std::int32_t>(fine);
  if (rate != std::floor(rate) || rate > fine) return static_cast<std::int32_t>(microseconds);
  double units = rate;
  while (units < fine) units *= 2;
  return static_cast<std::int32_t>(units);
}

}  // namespace

VideoWriter::VideoWriter(const std::string& path, const VideoForm& form, std::string where)
    : where_(std::move(where)),
      rate_(form.rate),
      library_(videos::library(where_)),
      file_(path, /*in_new=*/true) {
  const bool is_h264 = form.codec == videos::Codec::h264;
  if (form.height < 1 || form.width < 1 || form.height > UINT16_MAX || form.width > UINT16_MAX ||
      (is_h264 && (form.height % 2 != 0 || form.width % 2 != 0))) {
    fail(Code::unsupported, where_, ": a video of ", is_h264 ? "H.264" : "AV1",
         " cannot have frames of ", form.height, " by ", form.width,
         is_h264 ? "; both must be even" : "");
  }
  if (!(form.rate >= slowest && form.rate <= fastest)) {
    fail(Code::unsupported, where_, ": a video has ", slowest, " to ", fastest,
         " frames in a second, not ", form.rate);
  }
  const std::int32_t worst = is_h264 ? worst_h264 : worst_av1;
  if (form.quality < 0 || form.quality > worst) {
    fail(Code::invalid_argument, where_, ": the quality of ", is_h264 ? "H.264" : "AV1",
         " is 1 to ", worst, ", or 0; not ", form.quality);
  }
  video_.codec = form.codec;
  video_.height = static_cast<std::int32_t>(form.height);
  video_.width = static_cast<std::int32_t>(form.width);
  video_.units = units_of(rate_);
  const std::int32_t quality = form.quality != 0 ? form.quality
                               : is_h264         ? h264_quality
                                                 : av1_quality;
  const TdVideoForm told{static_cast<std::int32_t>(form.codec),
                         video_.height,
                         video_.width,
                         video_.units,
                         quality,
                         key_every};
  TdVideoEncoder* encoder = nullptr;
  TdVideoError error;
  require(library_.encode(&told, &encoder, &error), error);
  encoder_ = {encoder, Close{library_.encode_close}};
  const std::string front = videos::mp4_front(0);
  file_.write(front.data(), front.size());
}

VideoWriter::~VideoWriter() = default;

void VideoWriter::require(int status, const TdVideoError& error) const {
  if (status == 0) return;
  fail(status == ENOMEM ? Code::out_of_memory : Code::unsupported, where_, ": ", error.text);
}

std::int64_t VideoWriter::time_of(std::int64_t frame) const noexcept {
  return std::llround(static_cast<double>(frame) / rate_ * video_.units);
}

void VideoWriter::add(const std::uint8_t* frame) {
  TdVideoError error;
  require(library_.encode_send(encoder_.get(), frame, time_of(frames_), &error), error);
  ++frames_;
  write_encoded();
}

void VideoWriter::write_encoded() {
  for (;;) {
    const void* bytes = nullptr;
    std::int64_t count = 0;
    std::int32_t is_key = 0;
    TdVideoError error;
    require(library_.encode_receive(encoder_.get(), &bytes, &count, &is_key, &error), error);
    if (bytes == nullptr) return;
    const std::string_view stream(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
    const std::string frame = videos::file_frame(video_.codec, stream, where_);
    const auto number = static_cast<std::int64_t>(video_.frames.size());
    if (number == 0) note_header(stream);
    file_.write(frame.data(), frame.size());
    video_.frames.push_back(
        {static_cast<std::uint32_t>(frame.size()), is_key != 0, time_of(number)});
    bytes_ += frame.size();
  }
}

// Some encoders have it in the first frame alone.
void VideoWriter::note_header(std::string_view first) {
  const void* header = nullptr;
  std::int64_t count = 0;
  library_.encode_header(encoder_.get(), &header, &count);
  const std::string_view told(static_cast<const char*>(header), static_cast<std::size_t>(count));
  video_.header = videos::file_header(video_.codec, told.empty() ? first : told, where_);
}

void VideoWriter::finish() {
  TdVideoError error;
  require(library_.encode_send(encoder_.get(), nullptr, 0, &error), error);
  write_encoded();
  if (static_cast<std::int64_t>(video_.frames.size()) != frames_)
    fail(Code::unsupported, where_, ": the encoder left out frames");
  video_.end = time_of(frames_);
  const std::string tables = videos::mp4_tables(video_), front = videos::mp4_front(bytes_);
  file_.write(tables.data(), tables.size());
  file_.write_at(0, front.data(), front.size());
  file_.commit();
}

}  // namespace td
