// Decodes frames with FFmpeg's libraries (5.1 and newer), on the thread of the caller, without a word on stderr.
#define TD_VIDEO_MODULE
#include "ffmpeg.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <cstdarg>
#include <cstring>
#include <new>

using video_module::Call;
using video_module::fail;
using video_module::fail_library;
using video_module::Owned;

namespace {

void drop_own_words(void *context, int level, const char *format, va_list arguments) {
  if (!video_module::is_called) av_log_default_callback(context, level, format, arguments);
}

// Formats with a range in their name, which the scaler would warn of.
AVPixelFormat without_range(AVPixelFormat format) noexcept {
  switch (format) {
    case AV_PIX_FMT_YUVJ420P: return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P: return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ444P: return AV_PIX_FMT_YUV444P;
    case AV_PIX_FMT_YUVJ440P: return AV_PIX_FMT_YUV440P;
    default: return format;
  }
}

}  // namespace

struct TdVideoDecoder {
  Owned<AVCodecContext> context;
  Owned<AVPacket> packet;
  Owned<AVFrame> frame;
  // From the form of the last frame to red, green and blue.
  Owned<SwsContext> scaler;
  int height = 0, width = 0, format = -1, space = -1, range = -1;
  Owned<std::uint8_t> row_memory;
  int stride = 0;

  int make_scaler(TdVideoError *error) {
    const bool same = scaler && height == frame->height && width == frame->width &&
                      format == frame->format && space == frame->colorspace &&
                      range == frame->color_range;
    if (same) return 0;
    const auto found = static_cast<AVPixelFormat>(frame->format);
    const AVPixelFormat from = without_range(found);
    if (sws_isSupportedInput(from) == 0) {
      const char *name = av_get_pix_fmt_name(found);
      std::snprintf(error->text, sizeof error->text, "its pixels are %s, which cannot be read",
                    name == nullptr ? "unknown" : name);
      return ENOTSUP;
    }
    scaler.reset(sws_getContext(frame->width, frame->height, from, frame->width, frame->height,
                                AV_PIX_FMT_RGB24, SWS_BILINEAR, nullptr, nullptr, nullptr));
    // The scaler writes whole vectors.
    stride = (frame->width * 3 + 63) / 64 * 64 + 64;
    row_memory.reset(static_cast<std::uint8_t *>(
        av_malloc(static_cast<std::size_t>(stride) * static_cast<std::size_t>(frame->height + 1))));
    if (!scaler || !row_memory) return fail(error, ENOMEM, "no memory");
    int *old_table = nullptr, *new_table = nullptr;
    int old_range = 0, new_range = 0, brightness = 0, contrast = 0, saturation = 0;
    sws_getColorspaceDetails(scaler.get(), &old_table, &old_range, &new_table, &new_range,
                             &brightness, &contrast, &saturation);
    const int *table = sws_getCoefficients(frame->colorspace);
    const bool is_full = from != found || frame->color_range == AVCOL_RANGE_JPEG;
    sws_setColorspaceDetails(scaler.get(), table, is_full ? 1 : 0, table, new_range, brightness,
                             contrast, saturation);
    height = frame->height;
    width = frame->width;
    format = frame->format;
    space = frame->colorspace;
    range = frame->color_range;
    return 0;
  }
};

std::int32_t td_video_module_version() { return TD_VIDEO_MODULE_VERSION; }

void td_video_quiet() { av_log_set_callback(drop_own_words); }

int td_video_open(std::int32_t codec, const void *header, std::int64_t bytes,
                  std::int64_t max_pixels, TdVideoDecoder **decoder, TdVideoError *error) {
  const Call call;
  const AVCodecID id = codec == TD_VIDEO_H264   ? AV_CODEC_ID_H264
                       : codec == TD_VIDEO_HEVC ? AV_CODEC_ID_HEVC
                                                : AV_CODEC_ID_AV1;
  const AVCodec *found = avcodec_find_decoder(id);
  // FFmpeg's own decoder of AV1 needs a graphics card.
  if (id == AV_CODEC_ID_AV1 && (found == nullptr || std::strcmp(found->name, "av1") == 0)) {
    found = avcodec_find_decoder_by_name("libdav1d");
    if (found == nullptr) found = avcodec_find_decoder_by_name("libaom-av1");
  }
  if (found == nullptr) {
    std::snprintf(error->text, sizeof error->text, "FFmpeg's libavcodec here has no decoder of %s",
                  id == AV_CODEC_ID_AV1 ? "AV1" : avcodec_get_name(id));
    return ENOTSUP;
  }
  std::unique_ptr<TdVideoDecoder> made(new (std::nothrow) TdVideoDecoder);
  if (!made) return fail(error, ENOMEM, "no memory");
  made->context.reset(avcodec_alloc_context3(found));
  made->packet.reset(av_packet_alloc());
  made->frame.reset(av_frame_alloc());
  if (!made->context || !made->packet || !made->frame) return fail(error, ENOMEM, "no memory");
  AVCodecContext &context = *made->context;
  context.log_level_offset = video_module::silent;
  context.thread_count = 1;
  context.max_pixels = max_pixels;
  if (bytes > 0) {
    context.extradata = static_cast<std::uint8_t *>(
        av_mallocz(static_cast<std::size_t>(bytes) + AV_INPUT_BUFFER_PADDING_SIZE));
    if (context.extradata == nullptr) return fail(error, ENOMEM, "no memory");
    std::memcpy(context.extradata, header, static_cast<std::size_t>(bytes));
    context.extradata_size = static_cast<int>(bytes);
  }
  const int status = avcodec_open2(&context, found, nullptr);
  if (status < 0) return fail_library(error, status, "the decoder does not start");
  *decoder = made.release();
  return 0;
}

void td_video_close(TdVideoDecoder *decoder) {
  const Call call;
  delete decoder;
}

void td_video_reset(TdVideoDecoder *decoder) {
  const Call call;
  avcodec_flush_buffers(decoder->context.get());
}

int td_video_send(TdVideoDecoder *decoder, const void *bytes, std::int64_t count,
                  std::int64_t number, TdVideoError *error) {
  const Call call;
  AVPacket *packet = decoder->packet.get();
  av_packet_unref(packet);
  int status = 0;
  if (bytes != nullptr) {
    status = av_new_packet(packet, static_cast<int>(count));
    if (status < 0) return fail_library(error, status, "a frame is not read");
    std::memcpy(packet->data, bytes, static_cast<std::size_t>(count));
    packet->pts = number;
  }
  status = avcodec_send_packet(decoder->context.get(), bytes == nullptr ? nullptr : packet);
  av_packet_unref(packet);
  if (status < 0 && status != AVERROR_EOF)
    return fail_library(error, status, "the decoder refuses it");
  return 0;
}

int td_video_receive(TdVideoDecoder *decoder, std::int64_t *number, std::int64_t *height,
                     std::int64_t *width, TdVideoError *error) {
  const Call call;
  AVFrame *frame = decoder->frame.get();
  *number = -1;
  for (;;) {
    const int status = avcodec_receive_frame(decoder->context.get(), frame);
    if (status == AVERROR(EAGAIN) || status == AVERROR_EOF) return 0;
    if (status < 0) return fail_library(error, status, "the decoder fails");
    if (frame->pts != AV_NOPTS_VALUE) break;  // else one that the decoder made up
  }
  if ((frame->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame->decode_error_flags != 0)
    return fail(error, EINVAL, "its bytes are damaged");
  *number = frame->pts;
  *height = frame->height;
  *width = frame->width;
  return 0;
}

int td_video_picture(TdVideoDecoder *decoder, std::uint8_t *to, TdVideoError *error) {
  const Call call;
  const int status = decoder->make_scaler(error);
  if (status != 0) {
    decoder->scaler.reset();
    return status;
  }
  const AVFrame *frame = decoder->frame.get();
  std::uint8_t *const planes[] = {decoder->row_memory.get(), nullptr, nullptr, nullptr};
  const int strides[] = {decoder->stride, 0, 0, 0};
  const int rows = sws_scale(decoder->scaler.get(), frame->data, frame->linesize, 0, frame->height,
                             planes, strides);
  if (rows != frame->height) return fail(error, EINVAL, "its colours cannot be computed");
  const auto bytes = static_cast<std::size_t>(frame->width) * 3;
  for (int row = 0; row < frame->height; ++row)
    std::memcpy(to + static_cast<std::size_t>(row) * bytes,
                planes[0] + static_cast<std::size_t>(row) * static_cast<std::size_t>(strides[0]),
                bytes);
  return 0;
}
