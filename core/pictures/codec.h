// core/pictures/codec.h: what the libraries of PNG and JPEG do for decode.h.
#pragma once

#include "core/base/error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace td::pictures {

struct Form {
  std::int64_t height = 0, width = 0, channels = 1;
  int bytes = 1;  // of a sample
  bool operator==(const Form& other) const noexcept {
    return height == other.height && width == other.width && channels == other.channels &&
           bytes == other.bytes;
  }
  // 0 if a number cannot count them.
  std::uint64_t size() const noexcept {
    std::int64_t all = height;
    const bool is_large = __builtin_mul_overflow(all, width, &all) ||
                          __builtin_mul_overflow(all, channels * bytes, &all);
    return is_large ? 0 : static_cast<std::uint64_t>(all);
  }
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  Form form;
  virtual void decode(
      void* to) = 0;  // form.size() bytes, samples of two in the order of the machine
};

bool is_png(std::string_view bytes) noexcept;
bool is_jpeg(std::string_view bytes) noexcept;
// Each reads the header. It keeps `bytes`.
class PngDecoder final : public Decoder {
 public:
  PngDecoder(std::string_view bytes, const std::string& where);
  ~PngDecoder() override;
  void decode(void* to) override;

 private:
  void require(int status, const char* what) const;
  const std::string& where_;
  void* context_;
  int as_ = 0;
};

class JpegDecoder final : public Decoder {
 public:
  JpegDecoder(std::string_view bytes, const std::string& where);
  ~JpegDecoder() override;
  void decode(void* to) override;

 private:
  [[noreturn]] void fail_library(const char* what) const;
  std::string_view bytes_;
  const std::string& where_;
  void* context_;
};

std::string png_of(const void* samples, const Form& form);

}  // namespace td::pictures
