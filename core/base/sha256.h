// core/base/sha256.h: the SHA-256 checksum of bytes, by which a caller pins a file.
#pragma once

#include <string>
#include <string_view>

namespace td {

// 64 hexadecimal digits, in lower case.
std::string sha256(std::string_view bytes);

}  // namespace td
