#include "core/bags/samples.h"

#include "core/bags/cdr.h"

namespace td::bags {

namespace {

template <class From, class To>
void convert_all(const char* from, std::uint64_t count, bool swap, void* to) {
  To* values = static_cast<To*>(to);
  if (sizeof(From) == sizeof(To) && (!swap || sizeof(From) == 1)) {
    if (count > 0) std::memcpy(to, from, count * sizeof(From));
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i, from += sizeof(From))
    values[i] = static_cast<To>(Cdr::read<From>(from, swap));
}

struct Encoding {
  std::string_view name;
  std::int64_t channels;
  Kind kind;
};
constexpr Encoding encodings[] = {{"rgb8", 3, Kind::uint8},
                                  {"bgr8", 3, Kind::uint8},
                                  {"rgba8", 4, Kind::uint8},
                                  {"bgra8", 4, Kind::uint8},
                                  {"mono8", 1, Kind::uint8},
                                  {"rgb16", 3, Kind::uint16},
                                  {"bgr16", 3, Kind::uint16},
                                  {"rgba16", 4, Kind::uint16},
                                  {"bgra16", 4, Kind::uint16},
                                  {"mono16", 1, Kind::uint16},
                                  {"bayer_rggb8", 1, Kind::uint8},
                                  {"bayer_bggr8", 1, Kind::uint8},
                                  {"bayer_gbrg8", 1, Kind::uint8},
                                  {"bayer_grbg8", 1, Kind::uint8},
                                  {"bayer_rggb16", 1, Kind::uint16},
                                  {"bayer_bggr16", 1, Kind::uint16},
                                  {"bayer_gbrg16", 1, Kind::uint16},
                                  {"bayer_grbg16", 1, Kind::uint16},
                                  {"yuv422", 2, Kind::uint8},
                                  {"yuv422_yuy2", 2, Kind::uint8},
                                  {"uyvy", 2, Kind::uint8},
                                  {"yuyv", 2, Kind::uint8},
                                  {"8U", 1, Kind::uint8},
                                  {"8S", 1, Kind::int8},
                                  {"16U", 1, Kind::uint16},
                                  {"16S", 1, Kind::int16},
                                  {"32S", 1, Kind::int32},
                                  {"32F", 1, Kind::float32},
                                  {"64F", 1, Kind::float64}};

}  // namespace

std::size_t item_bytes(Kind kind) noexcept {
  switch (kind) {
    case Kind::int16:
    case Kind::uint16: return 2;
    case Kind::int32:
    case Kind::uint32:
    case Kind::float32: return 4;
    case Kind::int64:
    case Kind::uint64:
    case Kind::float64: return 8;
    default: return 1;
  }
}

c10::ScalarType dtype_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::boolean: return c10::kBool;
    case Kind::int8: return c10::kChar;
    case Kind::int16: return c10::kShort;
    case Kind::uint16:
    case Kind::int32: return c10::kInt;
    case Kind::uint32:
    case Kind::int64:
    case Kind::uint64: return c10::kLong;
    case Kind::float32: return c10::kFloat;
    case Kind::float64: return c10::kDouble;
    default: return c10::kByte;
  }
}

void convert(Kind kind, const char* from, std::uint64_t count, bool swap, void* to) {
  switch (kind) {
    case Kind::boolean:
      for (std::uint64_t i = 0; i < count; ++i) static_cast<bool*>(to)[i] = from[i] != 0;
      return;
    case Kind::int16: return convert_all<std::int16_t, std::int16_t>(from, count, swap, to);
    case Kind::uint16: return convert_all<std::uint16_t, std::int32_t>(from, count, swap, to);
    case Kind::int32: return convert_all<std::int32_t, std::int32_t>(from, count, swap, to);
    case Kind::uint32: return convert_all<std::uint32_t, std::int64_t>(from, count, swap, to);
    case Kind::int64:
    case Kind::uint64: return convert_all<std::int64_t, std::int64_t>(from, count, swap, to);
    case Kind::float32: return convert_all<float, float>(from, count, swap, to);
    case Kind::float64: return convert_all<double, double>(from, count, swap, to);
    default: return convert_all<std::uint8_t, std::uint8_t>(from, count, swap, to);
  }
}

bool samples_of(std::string_view encoding, Kind& kind, std::int64_t& channels) {
  // "8UC3": as OpenCV names its matrices.
  const std::size_t c = encoding.find('C');
  std::int64_t given = 1;
  std::string_view name = encoding;
  if (c != std::string_view::npos && c > 0 && c + 2 == encoding.size()) {
    given = encoding[c + 1] - '0';
    name = encoding.substr(0, c);
    if (given < 1 || given > 9) return false;
  }
  for (const Encoding& one : encodings) {
    if (one.name != name) continue;
    kind = one.kind;
    channels = one.channels * given;
    return true;
  }
  return false;
}

}  // namespace td::bags
