#include "core/videos/library.h"

#include "core/io/own_module.h"

#include <link.h>
#include <cstring>

namespace td::videos {

namespace {

// Whether this program has FFmpeg of its own, and perhaps a callback for what it says.
bool has_ffmpeg() noexcept {
  const auto look = [](dl_phdr_info* info, std::size_t, void*) {
    return std::strstr(info->dlpi_name, "libavutil.so") != nullptr ? 1 : 0;
  };
  return ::dl_iterate_phdr(look, nullptr) != 0;
}

}  // namespace

Library::Library(const std::string& where) {
  const bool is_shared = has_ffmpeg();
  const OwnModule module(
      where, "tensordict-video.so",
      "install tensordict-video, or libavcodec-dev and libswscale-dev, and build "
      "this library with -Dvideo=enabled",
      "td_video_module_version", TD_VIDEO_MODULE_VERSION);
  module.find(open, "td_video_open");
  module.find(close, "td_video_close");
  module.find(reset, "td_video_reset");
  module.find(send, "td_video_send");
  module.find(receive, "td_video_receive");
  module.find(picture, "td_video_picture");
  module.find(encode, "td_video_encode");
  module.find(encode_close, "td_video_encode_close");
  module.find(encode_header, "td_video_encode_header");
  module.find(encode_send, "td_video_encode_send");
  module.find(encode_receive, "td_video_encode_receive");
  TdVideoQuiet* quiet = nullptr;
  module.find(quiet, "td_video_quiet");
  if (!is_shared) quiet();
}

}  // namespace td::videos
