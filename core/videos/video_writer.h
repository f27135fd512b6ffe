// core/videos/video_writer.h: frames encoded into a file of MP4, each with its time.
#pragma once

#include "core/io/new_file.h"
#include "core/videos/library.h"
#include "core/videos/mp4_write.h"

#include <memory>
#include <optional>
#include <string>

namespace td {

struct VideoForm {
  videos::Codec codec = videos::Codec::h264;  // or AV1
  std::int64_t height = 0, width = 0;
  double rate = 1;           // frames in a second
  std::int32_t quality = 0;  // "crf", less is better; 0: that of the codec (23, AV1 30)
};

// A video that grows by frames. Frame i is shown at i / rate. Without finish() no file is there. Not thread-safe.
class VideoWriter {
 public:
  // `path` is absolute, in a folder that is being built. Code::unsupported without the module or an encoder, and for sizes that
  // the codec cannot hold; `where` begins the messages.
  VideoWriter(const std::string& path, const VideoForm& form, std::string where);
  ~VideoWriter();
  VideoWriter(const VideoWriter&) = delete;
  VideoWriter& operator=(const VideoWriter&) = delete;

  // [height, width, 3] of red, green and blue.
  void add(const std::uint8_t* frame);
  std::int64_t frames() const noexcept { return frames_; }
  std::uint64_t bytes() const noexcept { return bytes_; }  // of those that are encoded

  void finish();

 private:
  struct Close {
    TdVideoEncodeClose* close;
    void operator()(TdVideoEncoder* encoder) const noexcept { close(encoder); }
  };
  std::int64_t time_of(std::int64_t frame) const noexcept;
  void write_encoded();
  void note_header(std::string_view first);
  void require(int status, const TdVideoError& error) const;

  std::string where_;
  double rate_;
  const videos::Library& library_;
  files::NewFile file_;
  videos::WrittenVideo video_;
  std::unique_ptr<TdVideoEncoder, Close> encoder_;
  std::int64_t frames_ = 0;  // that were given
  std::uint64_t bytes_ = 0;
};

}  // namespace td
