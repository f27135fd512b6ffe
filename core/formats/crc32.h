// core/formats/crc32.h: the checksum of zip archives, fast enough to be taken while a file is written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace td {

// That of `bytes` more bytes, after those whose checksum is `crc`; zero in the beginning.
std::uint32_t crc32(std::uint32_t crc, const void* data, std::size_t bytes) noexcept;

}  // namespace td
