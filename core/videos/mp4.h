// core/videos/mp4.h: the table of contents of an MP4 file: where the encoded frames of its video are, and when each is shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace td::videos {

// With the numbers of module.h.
enum class Codec : std::int32_t { h264 = 1, hevc = 2, av1 = 3 };

struct EncodedFrame {
  std::uint64_t offset;  // in the file
  std::uint32_t bytes;
  std::uint32_t key;  // the frame from which on it can be decoded
  std::int64_t time;  // when it is shown, in units
};

struct VideoIndex {
  Codec codec = Codec::h264;
  std::string_view header;  // for the decoder, in the file
  std::int64_t height = 0, width = 0;
  std::int64_t units = 0;            // in a second
  std::vector<EncodedFrame> frames;  // in the order of decoding
  std::vector<std::uint32_t> shown;  // their numbers in the order of time
};

// The first video of a file; nothing else is read, and every frame that is listed lies in the file. Code::format for what is
// damaged; Code::unsupported for files in fragments, edits in the middle and other codecs. `where` begins the messages.
VideoIndex read_mp4(std::string_view file, const std::string& where);

}  // namespace td::videos
