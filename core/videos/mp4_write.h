// core/videos/mp4_write.h: the parts of an MP4 file with one video, whose frames follow each other in the order of time.
#pragma once

#include "core/videos/mp4.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace td::videos {

// A number, most significant byte first.
void put_big(std::string& to, std::uint64_t value, int bytes);

struct WrittenFrame {
  std::uint32_t bytes;
  bool is_key;
  std::int64_t time;  // when it is shown, in units; those before are earlier
};

struct WrittenVideo {
  Codec codec = Codec::h264;
  std::string header;  // for the decoder
  std::int32_t height = 0, width = 0, units = 1;
  std::int64_t end = 0;  // when the last one ends
  std::vector<WrittenFrame> frames;
};

// What is in front of the frames, which end the file but for mp4_tables(). `bytes`: of all frames; write it once more when they are
// known, in the same length.
std::string mp4_front(std::uint64_t bytes);
// What is behind them.
std::string mp4_tables(const WrittenVideo& video);

}  // namespace td::videos
