// core/formats/checksums.h: XXH3 of files, and the file of checksums: lines in the format of xxh128sum, each
// after a comment with the number of bytes hashed.
#pragma once

#include "core/io/file_io.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace td {

inline constexpr std::string_view checksums_file = "checksums";

// The file's name in a folder, given what is named "checksums" there: next to a nested dictionary of that
// name, a name that no key can have.
inline std::string checksums_name(files::Found there) {
  return there == files::Found::folder ? "%checksums" : std::string(checksums_file);
}
std::string checksums_name(int folder);  // of an open folder

struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const Digest& other) const noexcept {
    return high == other.high && low == other.low;
  }
};

// XXH3 with 128 bits, fed piece by piece.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void reset() noexcept;
  void add(const void* data, std::size_t bytes) noexcept;
  Digest digest() const noexcept;

 private:
  void* state_;
};

Digest digest_of(const void* data, std::size_t bytes) noexcept;

// The checksum of a file's first `bytes` bytes.
struct Checksum {
  std::string path;  // relative to the folder
  std::uint64_t bytes = 0;
  Digest digest = {};
};

std::string checksums_text(const std::vector<Checksum>& checksums);

inline constexpr std::size_t max_checksums_bytes = std::size_t{1} << 28;

// Throws Code::format for an invalid text, for a file outside the folder, or one listed twice. `where` begins
// the message.
std::vector<Checksum> read_checksums(std::string_view text, const std::string& where);

}  // namespace td
