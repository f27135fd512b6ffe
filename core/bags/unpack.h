// core/bags/unpack.h: chunks that are packed by lz4 or zstd.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace td::bags {

// `packing` is "lz4", "zstd", or empty. Code::format unless it is `size` bytes; Code::unsupported for other packings.
std::string unpack(std::string_view bytes, std::string_view packing, std::size_t size,
                   const std::string& where);

}  // namespace td::bags
