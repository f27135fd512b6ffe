// core/videos/module.h: the interface of the module built on FFmpeg's libraries. It is compiled separately, links nothing of
// this library, opens no file, and is loaded with the first frame that is decoded or encoded (docs/design/files.md).
#pragma once

#include <cstdint>

// Increase with each change here: a module of another version is not used.
#define TD_VIDEO_MODULE_VERSION 2

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
struct TdVideoEncoder;

// What is encoded: 8 bits, a colour for each 2 x 2 pixels (yuv420p), no frame that needs a later one.
struct TdVideoForm {
  std::int32_t codec;
  std::int32_t height, width;
  std::int32_t units;      // of time, in a second
  std::int32_t quality;    // the codec's "crf": less is better
  std::int32_t key_every;  // frames
};

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

using TdVideoEncode = int(const TdVideoForm* form, TdVideoEncoder** encoder, TdVideoError* error);
using TdVideoEncodeClose = void(TdVideoEncoder* encoder);
// What the encoder has for a file beside the frames, as the codec writes it into a stream. It lives as long as the encoder.
using TdVideoEncodeHeader = void(const TdVideoEncoder* encoder, const void** bytes,
                                 std::int64_t* count);
// Takes height * width * 3 bytes of red, green and blue, and when they are shown, in units; without a frame: there are no
// more. What is encoded must be received first.
using TdVideoEncodeSend = int(TdVideoEncoder* encoder, const std::uint8_t* frame, std::int64_t time,
                              TdVideoError* error);
// The next encoded frame, in the order of time; without bytes: more must be sent first. It lives until the next call.
using TdVideoEncodeReceive = int(TdVideoEncoder* encoder, const void** bytes, std::int64_t* count,
                                 std::int32_t* is_key, TdVideoError* error);

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
TD_VIDEO_MODULE_API TdVideoEncode td_video_encode;
TD_VIDEO_MODULE_API TdVideoEncodeClose td_video_encode_close;
TD_VIDEO_MODULE_API TdVideoEncodeHeader td_video_encode_header;
TD_VIDEO_MODULE_API TdVideoEncodeSend td_video_encode_send;
TD_VIDEO_MODULE_API TdVideoEncodeReceive td_video_encode_receive;
#endif
}
