// core/formats/deflater.h: compresses a stream of bytes.
#pragma once

#include "core/base/error.h"

#include <zlib.h>
#include <algorithm>
#include <cstddef>

namespace td::zip_file {

class Deflater {
 public:
  Deflater() {
    if (::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                       Z_DEFAULT_STRATEGY) != Z_OK) {
      fail(Code::out_of_memory, "no memory to deflate");
    }
  }
  ~Deflater() { ::deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // Calls `f(data, bytes)` for the output.
  template <class F>
  void put(const char* data, std::size_t bytes, bool last, const F& f) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data));
    do {
      const std::size_t piece = std::min(bytes, std::size_t{1} << 30);
      stream_.avail_in = static_cast<uInt>(piece);
      bytes -= piece;
      const bool end = last && bytes == 0;
      do {
        char out[1 << 15];
        stream_.next_out = reinterpret_cast<Bytef*>(out);
        stream_.avail_out = sizeof out;
        ::deflate(&stream_, end ? Z_FINISH : Z_NO_FLUSH);
        f(out, sizeof out - stream_.avail_out);
      } while (stream_.avail_out == 0);
    } while (bytes != 0);
  }

 private:
  z_stream stream_{};
};

}  // namespace td::zip_file
