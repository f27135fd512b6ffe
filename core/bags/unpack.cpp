#include "core/bags/unpack.h"

#include "core/base/quote.h"
#include "core/io/loaded_library.h"

#include <memory>

namespace td::bags {

namespace {

struct Zstd {
  std::size_t (*unpack)(void*, std::size_t, const void*, std::size_t);
  unsigned (*is_error)(std::size_t);

  Zstd() {
    const LoadedLibrary library("libzstd.so.1", "libzstd1", "bags packed by zstd");
    library.find(unpack, "ZSTD_decompress");
    library.find(is_error, "ZSTD_isError");
  }
};

struct Lz4 {
  std::size_t (*open)(void**, unsigned);
  std::size_t (*close)(void*);
  std::size_t (*unpack)(void*, void*, std::size_t*, const void*, std::size_t*, const void*);
  unsigned (*is_error)(std::size_t);

  Lz4() {
    const LoadedLibrary library("liblz4.so.1", "liblz4-1", "bags packed by lz4");
    library.find(open, "LZ4F_createDecompressionContext");
    library.find(close, "LZ4F_freeDecompressionContext");
    library.find(unpack, "LZ4F_decompress");
    library.find(is_error, "LZ4F_isError");
  }
};

constexpr unsigned lz4_version = 100;

bool unpack_zstd(std::string_view bytes, std::string& to) {
  const auto& zstd = loaded<Zstd>();
  const std::size_t size = zstd.unpack(to.data(), to.size(), bytes.data(), bytes.size());
  return zstd.is_error(size) == 0 && size == to.size();
}

// One frame or several.
bool unpack_lz4(std::string_view bytes, std::string& to) {
  const auto& lz4 = loaded<Lz4>();
  void* context = nullptr;
  if (lz4.is_error(lz4.open(&context, lz4_version)) != 0)
    fail(Code::out_of_memory, "no memory to unpack lz4");
  const std::unique_ptr<void, std::size_t (*)(void*)> owner(context, lz4.close);
  std::size_t done = 0, left = 1;
  while (!bytes.empty()) {
    std::size_t made = to.size() - done, used = bytes.size();
    left = lz4.unpack(context, to.data() + done, &made, bytes.data(), &used, nullptr);
    if (lz4.is_error(left) != 0 || (made == 0 && used == 0)) return false;
    done += made;
    bytes.remove_prefix(used);
  }
  return left == 0 && done == to.size();
}

}  // namespace

std::string unpack(std::string_view bytes, std::string_view packing, std::size_t size,
                   const std::string& where) {
  if (packing.empty()) {
    if (bytes.size() != size) {
      fail(Code::format, where, " should have ", size, " bytes, and has ", bytes.size());
    }
    return std::string(bytes);
  }
  const bool is_zstd = packing == "zstd";
  if (!is_zstd && packing != "lz4")
    fail(Code::unsupported, where, " is packed by ", quote(packing), ", which is not read");
  std::string to(size, '\0');
  // An empty text needs no library.
  if (size == 0 && bytes.empty()) return to;
  if (!(is_zstd ? unpack_zstd(bytes, to) : unpack_lz4(bytes, to)))
    fail(Code::format, where, " is damaged: it does not unpack into ", size, " bytes");
  return to;
}

}  // namespace td::bags
