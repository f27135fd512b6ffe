// modules/video/ffmpeg.h: what decoding and encoding share of FFmpeg's libraries.
#pragma once

#include "core/videos/module.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libswscale/swscale.h>
}

#include <cerrno>
#include <cstdio>
#include <memory>

namespace video_module {

struct Free {
  void operator()(AVCodecContext *context) const noexcept { avcodec_free_context(&context); }
  void operator()(AVPacket *packet) const noexcept { av_packet_free(&packet); }
  void operator()(AVFrame *frame) const noexcept { av_frame_free(&frame); }
  void operator()(SwsContext *scaler) const noexcept { sws_freeContext(scaler); }
  void operator()(std::uint8_t *memory) const noexcept { av_free(memory); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

// A codec has a level of its own for what it says, but not for what libavutil finds wrong for it. While one lives, what this
// thread makes the libraries say is dropped.
inline thread_local bool is_called = false;
class Call {
 public:
  Call() noexcept { is_called = true; }
  ~Call() { is_called = false; }
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;
};
// Less than any level shows; eight bits count. The callback is the program's.
inline constexpr int silent = 128;

inline int fail(TdVideoError *error, int code, const char *text) noexcept {
  std::snprintf(error->text, sizeof error->text, "%s", text);
  return code;
}

// An error of the libraries, while `what`.
inline int fail_library(TdVideoError *error, int code, const char *what) noexcept {
  if (code == AVERROR(ENOMEM)) return fail(error, ENOMEM, "no memory");
  char why[AV_ERROR_MAX_STRING_SIZE] = "";
  av_strerror(code, why, sizeof why);
  std::snprintf(error->text, sizeof error->text, "%s: %s", what, why);
  return EINVAL;
}

}  // namespace video_module
