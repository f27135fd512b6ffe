// PNG, by libspng.
#include "core/io/loaded_library.h"
#include "core/pictures/codec.h"

#include <cstdlib>
#include <memory>

namespace td::pictures {

namespace {

// As the library declares them, in all its versions.
struct Header {
  std::uint32_t width, height;
  std::uint8_t depth, colour, compression, filter, interlace;
};
enum : int { gray = 0, palette = 3 };
enum : int { as_rgb8 = 4, as_gray8 = 64, as_stored = 256 };
enum : int { encoder = 2, to_buffer = 12, finalize = 2 };

struct Spng {
  void* (*context_new)(int);
  void (*context_free)(void*);
  const char* (*text_of)(int);
  int (*set_bytes)(void*, const void*, std::size_t);
  int (*set_limits)(void*, std::size_t, std::size_t);
  int (*header)(void*, Header*);
  int (*size)(void*, int, std::size_t*);
  int (*decode)(void*, void*, std::size_t, int, int);
  int (*set_header)(void*, Header*);
  int (*set_option)(void*, int, int);
  int (*encode)(void*, const void*, std::size_t, int, int);
  void* (*take)(void*, std::size_t*, int*);

  Spng() {
    const LoadedLibrary library("libspng.so.0", "libspng0", "PNG pictures");
    library.find(context_new, "spng_ctx_new");
    library.find(context_free, "spng_ctx_free");
    library.find(text_of, "spng_strerror");
    library.find(set_bytes, "spng_set_png_buffer");
    library.find(set_limits, "spng_set_chunk_limits");
    library.find(header, "spng_get_ihdr");
    library.find(size, "spng_decoded_image_size");
    library.find(decode, "spng_decode_image");
    library.find(set_header, "spng_set_ihdr");
    library.find(set_option, "spng_set_option");
    library.find(encode, "spng_encode_image");
    library.find(take, "spng_get_png_buffer");
  }
};

const Spng& spng() { return loaded<Spng>(); }

void* new_context(int flags) {
  void* context = spng().context_new(flags);
  if (context == nullptr) fail(Code::out_of_memory, "no memory for a PNG picture");
  return context;
}

constexpr int channels_of[] = {1, 0, 3, 3, 2, 0, 4};

}  // namespace

bool is_png(std::string_view bytes) noexcept {
  return bytes.substr(0, 8) == std::string_view("\x89PNG\r\n\x1a\n", 8);
}

void PngDecoder::require(int status, const char* what) const {
  if (status != 0)
    fail(Code::format, where_, ": the PNG picture ", what, ": ", spng().text_of(status));
}

PngDecoder::PngDecoder(std::string_view bytes, const std::string& where)
    : where_(where), context_(new_context(0)) {
  try {
    Header header{};
    require(spng().set_bytes(context_, bytes.data(), bytes.size()), "cannot be read");
    // Texts and profiles are not needed: they may not take much memory.
    require(spng().set_limits(context_, std::size_t{1} << 20, std::size_t{1} << 20),
            "cannot be read");
    require(spng().header(context_, &header), "is damaged");
    form.height = header.height;
    form.width = header.width;
    form.channels = channels_of[header.colour];
    form.bytes = header.depth == 16 ? 2 : 1;
    as_ = header.colour == palette                    ? as_rgb8
          : header.colour == gray && header.depth < 8 ? as_gray8
                                                      : as_stored;
    std::size_t size = 0;
    require(spng().size(context_, as_, &size), "is damaged");
    if (size != form.size()) fail(Code::format, where_, ": the PNG picture has an unknown form");
  } catch (...) {
    spng().context_free(context_);
    throw;
  }
}

PngDecoder::~PngDecoder() { spng().context_free(context_); }

void PngDecoder::decode(void* to) {
  require(spng().decode(context_, to, form.size(), as_, 0), "is damaged");
}

std::string png_of(const void* samples, const Form& form) {
  constexpr std::uint8_t colours[] = {0, gray, 4, 2, 6};
  const std::unique_ptr<void, void (*)(void*)> context(new_context(encoder), spng().context_free);
  Header header{static_cast<std::uint32_t>(form.width),
                static_cast<std::uint32_t>(form.height),
                8,
                colours[form.channels],
                0,
                0,
                0};
  int status = spng().set_option(context.get(), to_buffer, 1);
  if (status == 0) status = spng().set_header(context.get(), &header);
  if (status == 0) status = spng().encode(context.get(), samples, form.size(), as_stored, finalize);
  std::size_t size = 0;
  const std::unique_ptr<void, void (*)(void*)> bytes(
      status == 0 ? spng().take(context.get(), &size, &status) : nullptr, std::free);
  if (bytes == nullptr)
    fail(Code::shape, "a picture cannot be written as PNG: ", spng().text_of(status));
  return {static_cast<const char*>(bytes.get()), size};
}

}  // namespace td::pictures
