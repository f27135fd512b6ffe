// core/formats/crc32.h: the checksum of zip archives, fast enough to compute while writing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace td {

// Continues `crc` over `bytes` more bytes; starts with zero.
std::uint32_t crc32(std::uint32_t crc, const void* data, std::size_t bytes) noexcept;

}  // namespace td
