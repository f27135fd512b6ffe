// core/videos/video.h: the frames of a video by their time.
#pragma once

#include "core/consolidated/file_bytes.h"
#include "core/videos/library.h"
#include "core/videos/mp4.h"

#include <memory>
#include <optional>

namespace td {

// What a file tells of its frames. Nothing is decoded. Thread-safe.
class Video {
 public:
  explicit Video(FileBytes file);  // fails as videos::read_mp4() does

  const std::string& where() const noexcept { return file_.where(); }
  const videos::VideoIndex& index() const noexcept { return index_; }
  std::int64_t frames() const noexcept { return static_cast<std::int64_t>(index_.frames.size()); }
  std::string_view bytes() const noexcept { return file_.text(); }  // of the file
  std::string_view bytes_of(std::uint32_t frame) const noexcept;
  double seconds_of(std::uint32_t frame) const noexcept;

  // The number of the frame whose time is the nearest; none if that is further away than `most` seconds.
  std::optional<std::uint32_t> frame_at(double seconds, double most) const noexcept;

 private:
  FileBytes file_;
  videos::VideoIndex index_;
};

// Decodes the frames of a video. Those that follow each other are decoded once; for others, decoding begins at the key frame
// before. Not thread-safe.
class VideoReader {
 public:
  // Code::unsupported without the module, or a decoder of the codec.
  explicit VideoReader(std::shared_ptr<const Video> video);
  ~VideoReader();
  VideoReader(const VideoReader&) = delete;
  VideoReader& operator=(const VideoReader&) = delete;

  const std::shared_ptr<const Video>& video() const noexcept { return video_; }
  // How many frames would be decoded for this one.
  std::size_t steps_to(std::uint32_t frame) const noexcept;
  // [height, width, 3] of red, green and blue into `to`, if the frame has this size. Code::format for a damaged one, and for
  // another size; `where` begins the message.
  void read(std::uint32_t frame, std::int64_t height, std::int64_t width, std::uint8_t* to,
            const std::string& where);

 private:
  struct Close {
    TdVideoClose* close;
    void operator()(TdVideoDecoder* decoder) const noexcept { close(decoder); }
  };
  bool continues(std::uint32_t frame) const noexcept;
  void decode(std::uint32_t frame, std::int64_t height, std::int64_t width,
              const std::string& where);
  void require(int status, const TdVideoError& error, const std::string& where) const;

  static constexpr std::uint32_t nothing = UINT32_MAX;
  std::shared_ptr<const Video> video_;
  const videos::Library& library_;
  std::unique_ptr<TdVideoDecoder, Close> decoder_;
  std::uint32_t begun_ = nothing;  // the frame that was sent first
  std::uint32_t next_ = 0;         // the one to send
  std::uint32_t last_ = nothing;   // the one that was received last
  std::int64_t turn_ = 0;          // counts the jumps; some decoders give a frame of before
};

}  // namespace td
