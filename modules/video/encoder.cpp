// Encodes frames with FFmpeg's libraries (5.1 and newer), on the thread of the caller, without a word on stderr.
#define TD_VIDEO_MODULE
#include "ffmpeg.h"

extern "C" {
#include <libavutil/opt.h>
}

#include <cstring>
#include <new>

using video_module::Call;
using video_module::fail;
using video_module::fail_library;
using video_module::Owned;

namespace {

struct Setting {
  const char *name, *value;
};
// An encoder that starts no thread and writes nothing to stderr, which rules out that of SVT-AV1; nor does one of these hold
// frames back.
struct Known {
  std::int32_t codec;
  const char *name;
  Setting settings[3];
};
constexpr Known encoders[] = {
    {TD_VIDEO_H264, "libx264", {{"preset", "veryfast"}, {"tune", "zerolatency"}, {}}},
    {TD_VIDEO_AV1, "libaom-av1", {{"usage", "realtime"}, {"cpu-used", "8"}, {"row-mt", "0"}}}};

const Known *known_encoder(std::int32_t codec, const AVCodec **found) {
  for (const Known &one : encoders) {
    if (one.codec != codec) continue;
    *found = avcodec_find_encoder_by_name(one.name);
    if (*found != nullptr) return &one;
  }
  return nullptr;
}

}  // namespace

struct TdVideoEncoder {
  Owned<AVCodecContext> context;
  Owned<AVPacket> packet;
  Owned<AVFrame> frame;
  Owned<SwsContext> scaler;    // from red, green and blue
  Owned<std::uint8_t> source;  // a frame of them; the scaler reads whole vectors
  int stride = 0;

  int make(const TdVideoForm &form, TdVideoError *error) {
    const AVCodec *found = nullptr;
    const Known *known = known_encoder(form.codec, &found);
    if (known == nullptr) {
      std::snprintf(error->text, sizeof error->text,
                    "FFmpeg's libavcodec here has no encoder of %s",
                    form.codec == TD_VIDEO_AV1 ? "AV1 (libaom)" : "H.264 (x264)");
      return ENOTSUP;
    }
    context.reset(avcodec_alloc_context3(found));
    packet.reset(av_packet_alloc());
    frame.reset(av_frame_alloc());
    if (!context || !packet || !frame) return fail(error, ENOMEM, "no memory");
    context->log_level_offset = video_module::silent;
    context->thread_count = 1;
    context->height = form.height;
    context->width = form.width;
    context->pix_fmt = AV_PIX_FMT_YUV420P;
    // What readers take where the file says nothing.
    context->colorspace = AVCOL_SPC_SMPTE170M;
    context->color_range = AVCOL_RANGE_MPEG;
    context->time_base = {1, form.units};
    context->gop_size = form.key_every;
    context->max_b_frames = 0;
    context->bit_rate = 0;
    context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    char quality[16];
    std::snprintf(quality, sizeof quality, "%d", static_cast<int>(form.quality));
    int status = av_opt_set(context->priv_data, "crf", quality, 0);
    if (form.codec == TD_VIDEO_AV1 && status >= 0)
      status = av_opt_set(context->priv_data, "lag-in-frames", "0", 0);
    for (const Setting &one : known->settings) {
      if (one.name != nullptr && status >= 0)
        status = av_opt_set(context->priv_data, one.name, one.value, 0);
    }
    if (status >= 0) status = avcodec_open2(context.get(), found, nullptr);
    if (status < 0) return fail_library(error, status, "the encoder does not start");
    return make_frame(error);
  }

 private:
  int make_frame(TdVideoError *error) {
    frame->format = context->pix_fmt;
    frame->height = context->height;
    frame->width = context->width;
    frame->colorspace = context->colorspace;
    frame->color_range = context->color_range;
    const int status = av_frame_get_buffer(frame.get(), 0);
    if (status < 0) return fail_library(error, status, "a frame has no memory");
    scaler.reset(sws_getContext(context->width, context->height, AV_PIX_FMT_RGB24, context->width,
                                context->height, AV_PIX_FMT_YUV420P,
                                SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, nullptr,
                                nullptr, nullptr));
    if (!scaler) return fail(error, EINVAL, "its colours cannot be computed");
    stride = (context->width * 3 + 63) / 64 * 64 + 64;
    source.reset(static_cast<std::uint8_t *>(av_mallocz(
        static_cast<std::size_t>(stride) * static_cast<std::size_t>(context->height + 1))));
    return source ? 0 : fail(error, ENOMEM, "no memory");
  }
};

int td_video_encode(const TdVideoForm *form, TdVideoEncoder **encoder, TdVideoError *error) {
  const Call call;
  std::unique_ptr<TdVideoEncoder> made(new (std::nothrow) TdVideoEncoder);
  if (!made) return fail(error, ENOMEM, "no memory");
  const int status = made->make(*form, error);
  if (status == 0) *encoder = made.release();
  return status;
}

void td_video_encode_close(TdVideoEncoder *encoder) {
  const Call call;
  delete encoder;
}

void td_video_encode_header(const TdVideoEncoder *encoder, const void **bytes,
                            std::int64_t *count) {
  *bytes = encoder->context->extradata;
  *count = encoder->context->extradata_size;
}

int td_video_encode_send(TdVideoEncoder *encoder, const std::uint8_t *frame, std::int64_t time,
                         TdVideoError *error) {
  const Call call;
  AVCodecContext &context = *encoder->context;
  AVFrame &to = *encoder->frame;
  if (frame != nullptr) {
    int status = av_frame_make_writable(&to);
    if (status < 0) return fail_library(error, status, "a frame has no memory");
    const auto bytes = static_cast<std::size_t>(context.width) * 3;
    for (int row = 0; row < context.height; ++row)
      std::memcpy(encoder->source.get() + static_cast<std::ptrdiff_t>(row) * encoder->stride,
                  frame + static_cast<std::size_t>(row) * bytes, bytes);
    const std::uint8_t *const planes[] = {encoder->source.get(), nullptr, nullptr, nullptr};
    const int strides[] = {encoder->stride, 0, 0, 0};
    const int rows =
        sws_scale(encoder->scaler.get(), planes, strides, 0, context.height, to.data, to.linesize);
    if (rows != context.height) return fail(error, EINVAL, "its colours cannot be computed");
    to.pts = time;
  }
  const int status = avcodec_send_frame(&context, frame == nullptr ? nullptr : &to);
  return status < 0 ? fail_library(error, status, "the encoder refuses it") : 0;
}

int td_video_encode_receive(TdVideoEncoder *encoder, const void **bytes, std::int64_t *count,
                            std::int32_t *is_key, TdVideoError *error) {
  const Call call;
  AVPacket *packet = encoder->packet.get();
  *bytes = nullptr;
  const int status = avcodec_receive_packet(encoder->context.get(), packet);
  if (status == AVERROR(EAGAIN) || status == AVERROR_EOF) return 0;
  if (status < 0) return fail_library(error, status, "the encoder fails");
  *bytes = packet->data;
  *count = packet->size;
  *is_key = (packet->flags & AV_PKT_FLAG_KEY) != 0 ? 1 : 0;
  return 0;
}
