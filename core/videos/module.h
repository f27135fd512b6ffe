// core/videos/module.h: the interface of the module built on FFmpeg's libraries. It is compiled separately, links nothing of
// this library, opens no file, and is loaded when the first frame is decoded (docs/design/files.md).
#pragma once

#include <cstdint>

// Increase with each change here: a module of another version is not used.
#define TD_VIDEO_MODULE_VERSION 1

#define TD_VIDEO_H264 1
#define TD_VIDEO_HEVC 2
#define TD_VIDEO_AV1 3

// The text of a failed call, which returned an errno: EINVAL for what is damaged, ENOTSUP for what the libraries here
// cannot do, ENOMEM.
struct TdVideoError {
  char text[256];
};

// One stream of frames. Not thread-safe.
struct TdVideoDecoder;

extern "C" {

using TdVideoVersion = std::int32_t();
// From now on the libraries drop what they would write to stderr in calls of the module. This is a setting of the whole process:
// for programs that do not use them.
using TdVideoQuiet = void();
// `header` is what the file keeps beside the frames; it is copied. `max_pixels`: of a frame.
using TdVideoOpen = int(std::int32_t codec, const void* header, std::int64_t bytes,
                        std::int64_t max_pixels, TdVideoDecoder** decoder, TdVideoError* error);
using TdVideoClose = void(TdVideoDecoder* decoder);
// Forgets all frames: a key frame comes next.
using TdVideoReset = void(TdVideoDecoder* decoder);
// Takes the next encoded frame, with a number of the caller's; without bytes: there are no more. What is decoded must be
// received first.
using TdVideoSend = int(TdVideoDecoder* decoder, const void* bytes, std::int64_t count,
                        std::int64_t number, TdVideoError* error);
// The next frame in the order of time: its number, or -1 if more must be sent first.
using TdVideoReceive = int(TdVideoDecoder* decoder, std::int64_t* number, std::int64_t* height,
                           std::int64_t* width, TdVideoError* error);
// The frame that was received last as red, green and blue: height * width * 3 bytes.
using TdVideoPicture = int(TdVideoDecoder* decoder, std::uint8_t* to, TdVideoError* error);

#ifdef TD_VIDEO_MODULE
#define TD_VIDEO_MODULE_API __attribute__((visibility("default")))
TD_VIDEO_MODULE_API TdVideoVersion td_video_module_version;
TD_VIDEO_MODULE_API TdVideoQuiet td_video_quiet;
TD_VIDEO_MODULE_API TdVideoOpen td_video_open;
TD_VIDEO_MODULE_API TdVideoClose td_video_close;
TD_VIDEO_MODULE_API TdVideoReset td_video_reset;
TD_VIDEO_MODULE_API TdVideoSend td_video_send;
TD_VIDEO_MODULE_API TdVideoReceive td_video_receive;
TD_VIDEO_MODULE_API TdVideoPicture td_video_picture;
#endif
}
