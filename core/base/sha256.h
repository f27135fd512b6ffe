// core/base/sha256.h: SHA-256, by which callers pin a file.
#pragma once

#include <string>
#include <string_view>

namespace td {

// 64 hexadecimal digits, lower case.
std::string sha256(std::string_view bytes);

}  // namespace td
