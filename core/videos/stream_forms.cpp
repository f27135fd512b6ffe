#include "core/videos/stream_forms.h"

#include "core/base/error.h"
#include "core/videos/mp4_write.h"

#include <vector>

namespace td::videos {

namespace {

[[noreturn]] void fail_form(const std::string& where) {
  fail(Code::unsupported, where, ": the encoder gives what has no place in a file of MP4");
}

// The units of H.264 (its Annex B): each begins behind 0 0 1.
std::vector<std::string_view> units_of(std::string_view stream) {
  constexpr std::string_view mark("\0\0\1", 3);
  std::vector<std::string_view> units;
  for (std::size_t at = stream.find(mark); at != std::string_view::npos;) {
    const std::size_t begin = at + mark.size();
    at = stream.find(mark, begin);
    std::string_view unit = stream.substr(begin, at == std::string_view::npos ? at : at - begin);
    while (!unit.empty() && unit.back() == '\0') unit.remove_suffix(1);
    if (!unit.empty()) units.push_back(unit);
  }
  return units;
}

std::string avc_header(std::string_view stream, const std::string& where) {
  constexpr int sequence = 7, picture = 8;
  std::vector<std::string_view> sequences, pictures;
  for (const std::string_view unit : units_of(stream)) {
    const int type = unit[0] & 31;
    if (type == sequence && unit.size() >= 4) sequences.push_back(unit);
    if (type == picture) pictures.push_back(unit);
  }
  if (sequences.size() != 1 || pictures.size() != 1) fail_form(where);
  std::string header("\1", 1);
  header += sequences[0].substr(1, 3);  // profile and level
  header += "\xff\xe1";                 // lengths of 4 bytes; one sequence
  put_big(header, sequences[0].size(), 2);
  header += sequences[0];
  header += '\1';
  put_big(header, pictures[0].size(), 2);
  return header.append(pictures[0]);
}

// A part of AV1's stream: its type, all of it, and its content.
struct Obu {
  int type;
  std::string_view whole, content;
};
enum : int { obu_sequence = 1, obu_delimiter = 2, obu_padding = 15 };

std::vector<Obu> obus_of(std::string_view stream, const std::string& where) {
  std::vector<Obu> obus;
  while (!stream.empty()) {
    const auto head = static_cast<unsigned char>(stream[0]);
    std::size_t at = (head & 4) != 0 ? 2 : 1, bytes = 0;
    int shift = 0;
    for (bool more = (head & 2) != 0; more; shift += 7) {
      if (at >= stream.size() || shift > 28) fail_form(where);
      const auto one = static_cast<unsigned char>(stream[at++]);
      bytes |= static_cast<std::size_t>(one & 127) << shift;
      more = (one & 128) != 0;
    }
    if ((head & 2) == 0 || at > stream.size() || bytes > stream.size() - at) fail_form(where);
    obus.push_back({head >> 3 & 15, stream.substr(0, at + bytes), stream.substr(at, bytes)});
    stream.remove_prefix(at + bytes);
  }
  return obus;
}

class Bits {
 public:
  explicit Bits(std::string_view bytes) : bytes_(bytes) {}
  std::uint32_t take(int count) {
    std::uint32_t value = 0;
    for (; count > 0; --count, ++at_) {
      const std::size_t byte = at_ / 8;
      const int one = byte < bytes_.size() ? bytes_[byte] >> (7 - at_ % 8) & 1 : 0;
      value = value << 1 | static_cast<std::uint32_t>(one);
    }
    return value;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

std::string av1_header(std::string_view stream, const std::string& where) {
  for (const Obu& obu : obus_of(stream, where)) {
    if (obu.type != obu_sequence) continue;
    Bits bits(obu.content);
    const std::uint32_t profile = bits.take(3);
    bits.take(1);  // a picture alone
    std::uint32_t level = 0, tier = 0;
    if (bits.take(1) != 0) {
      level = bits.take(5);
    } else {
      if (bits.take(1) != 0) fail_form(where);  // times, which our encoder does not write
      bits.take(1 + 5 + 12);                    // delays, operating points, the first of them
      level = bits.take(5);
      if (level > 7) tier = bits.take(1);
    }
    std::string header("\x81", 1);
    header += static_cast<char>(profile << 5 | level);
    header += static_cast<char>(tier << 7 | 0xc);  // a colour for each 2 x 2 pixels, of 8 bits
    header += '\0';
    return header.append(obu.whole);
  }
  fail_form(where);
}

}  // namespace

std::string file_header(Codec codec, std::string_view stream, const std::string& where) {
  return codec == Codec::av1 ? av1_header(stream, where) : avc_header(stream, where);
}

std::string file_frame(Codec codec, std::string_view stream, const std::string& where) {
  std::string frame;
  if (codec == Codec::av1) {
    for (const Obu& obu : obus_of(stream, where)) {
      if (obu.type != obu_delimiter && obu.type != obu_padding) frame += obu.whole;
    }
  } else {
    for (const std::string_view unit : units_of(stream)) {
      put_big(frame, unit.size(), 4);
      frame += unit;
    }
  }
  if (frame.empty()) fail_form(where);
  return frame;
}

}  // namespace td::videos
