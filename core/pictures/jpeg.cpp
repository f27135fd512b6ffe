// JPEG, by libjpeg-turbo.
#include "core/io/loaded_library.h"
#include "core/pictures/codec.h"

#include <cstring>

namespace td::pictures {

namespace {

// As the library declares them, in all its versions.
enum : int { of_gray = 2, of_cmyk = 3, of_ycck = 4 };  // colours in the file
enum : int { as_rgb = 0, as_gray = 6 };
enum : int { a_warning = 0 };

struct Turbo {
  void* (*init)();
  int (*destroy)(void*);
  int (*header)(void*, const unsigned char*, unsigned long, int*, int*, int*, int*);
  int (*decode)(void*, const unsigned char*, unsigned long, unsigned char*, int, int, int, int,
                int);
  char* (*text_of)(void*);
  int (*kind_of)(void*);

  Turbo() {
    const LoadedLibrary library("libturbojpeg.so.0", "libturbojpeg0", "JPEG pictures");
    library.find(init, "tjInitDecompress");
    library.find(destroy, "tjDestroy");
    library.find(header, "tjDecompressHeader3");
    library.find(decode, "tjDecompress2");
    library.find(text_of, "tjGetErrorStr2");
    library.find(kind_of, "tjGetErrorCode");
  }
};

const Turbo& turbo() { return loaded<Turbo>(); }

const unsigned char* start_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

bool is_jpeg(std::string_view bytes) noexcept { return bytes.substr(0, 3) == "\xff\xd8\xff"; }

void JpegDecoder::fail_library(const char* what) const {
  fail(Code::format, where_, ": the JPEG picture ", what, ": ", turbo().text_of(context_));
}

JpegDecoder::JpegDecoder(std::string_view bytes, const std::string& where)
    : bytes_(bytes), where_(where), context_(turbo().init()) {
  if (context_ == nullptr) fail(Code::out_of_memory, "no memory for a JPEG picture");
  try {
    int width = 0, height = 0, sampling = 0, colours = 0;
    if (turbo().header(context_, start_of(bytes), bytes.size(), &width, &height, &sampling,
                       &colours) != 0 &&
        turbo().kind_of(context_) != a_warning)
      fail_library("is damaged");
    if (width < 1 || height < 1) fail_library("has no size");
    if (colours == of_cmyk || colours == of_ycck)
      fail(Code::unsupported, where_, ": the JPEG picture has four colours (CMYK), no RGB");
    form = {height, width, colours == of_gray ? 1 : 3, 1};
  } catch (...) {
    turbo().destroy(context_);
    throw;
  }
}

JpegDecoder::~JpegDecoder() { turbo().destroy(context_); }

void JpegDecoder::decode(void* to) {
  const int as = form.channels == 1 ? as_gray : as_rgb;
  if (turbo().decode(context_, start_of(bytes_), bytes_.size(), static_cast<unsigned char*>(to),
                     static_cast<int>(form.width), 0, static_cast<int>(form.height), as, 0) == 0)
    return;
  // Cameras write bytes too many, which do no harm. After all other warnings pixels are made up.
  const bool harmless = turbo().kind_of(context_) == a_warning &&
                        std::strstr(turbo().text_of(context_), "extraneous") != nullptr;
  if (!harmless) fail_library("is damaged");
}

}  // namespace td::pictures
