// Pictures in messages: sensor_msgs/Image, and the files of CompressedImage.
#include "core/bags/cdr.h"
#include "core/bags/samples.h"
#include "core/bags/topic_decoder.h"
#include "core/base/quote.h"

#include <ATen/ATen.h>

namespace td::bags {

// The fields at the top of a message that tell of its picture.
TopicDecoder::Raw TopicDecoder::raw_of(std::string_view message) const {
  Raw raw;
  Cdr cdr(message, where_);
  for (const std::size_t child : nodes_[0].children) {
    const Node& node = nodes_[child];
    const std::string& name = node.field.name;
    if (name == "data") {
      const auto count = cdr.number<std::uint32_t>();
      raw.data = {cdr.take(count, 1), count};
    } else if (node.field.kind == Kind::uint32 && !node.is_list()) {
      const auto number = cdr.number<std::uint32_t>();
      if (name == "height") raw.height = number;
      if (name == "width") raw.width = number;
      if (name == "step") raw.step = number;
    } else if (name == "is_bigendian" && node.field.kind == Kind::uint8 && !node.is_list()) {
      raw.big_endian = cdr.number<std::uint8_t>();
    } else if (name == "encoding" && node.field.kind == Kind::text && !node.is_list()) {
      raw.encoding = cdr.text();
    } else {
      PlainBuilder skipped;
      value(child, cdr, skipped);
    }
  }
  return raw;
}

// Pictures of an unknown encoding, or whose sizes do not fit their bytes, stay bytes.
void TopicDecoder::settle_image() {
  if (first_message_.empty()) return;
  Raw raw = raw_of(first_message_);
  std::int64_t channels = 1;
  if (!samples_of(raw.encoding, sample_, channels)) return;
  item_ = static_cast<int>(item_bytes(sample_));
  const std::uint64_t line = raw.width * static_cast<std::uint64_t>(channels * item_);
  if (raw.height == 0 || raw.width == 0 || raw.step < line ||
      raw.data.size() / raw.step < raw.height)
    return;
  raw.data = {};
  first_ = std::move(raw);
  Sizes sizes{static_cast<std::int64_t>(first_.height), static_cast<std::int64_t>(first_.width)};
  if (channels > 1) sizes.push_back(channels);
  picture_ = 0;
  nodes_[child("data")].column = 0;
  columns_.push_back({{"data"}, true, false, dtype_of(sample_), sizes});
}

void TopicDecoder::fill_image(std::string_view message, const at::Tensor& to) const {
  const Raw raw = raw_of(message);
  if (raw.height != first_.height || raw.width != first_.width || raw.encoding != first_.encoding) {
    fail(Code::format, where_, ": a picture is ", raw.height, " x ", raw.width, " of ",
         quote(raw.encoding), ", the first one is ", first_.height, " x ", first_.width, " of ",
         quote(first_.encoding));
  }
  const std::uint64_t samples = static_cast<std::uint64_t>(to.numel()) / raw.height;
  if (raw.step < samples * static_cast<std::uint64_t>(item_) ||
      raw.data.size() / raw.step < raw.height) {
    fail(Code::format, where_, ": a picture of ", raw.height, " lines of ", raw.step, " bytes has ",
         raw.data.size(), " bytes");
  }
  const bool swap = (raw.big_endian == 0) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  char* at = static_cast<char*>(to.data_ptr());
  for (std::uint64_t line = 0; line < raw.height; ++line) {
    convert(sample_, raw.data.data() + line * raw.step, samples, swap, at);
    at += samples * to.element_size();
  }
}

}  // namespace td::bags
