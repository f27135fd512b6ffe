#include "core/hdf5/mend_file.h"

#include "core/base/error.h"
#include "core/io/file_io.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>

namespace td::hdf5 {

namespace {

constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);

std::uint32_t turned(std::uint32_t value, int bits) noexcept {
  return value << bits | value >> (32 - bits);
}

// Bob Jenkins' lookup3, with which newer heads are checked.
std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t sum[3];
  for (std::uint32_t& one : sum) one = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size());
  const auto add = [&] {
    for (std::uint32_t& one : sum) {
      char word[4] = {};
      const std::size_t count = std::min(bytes.size(), sizeof word);
      std::memcpy(word, bytes.data(), count);
      for (int i = 0; i < 4; ++i)
        one += std::uint32_t{static_cast<unsigned char>(word[i])} << 8 * i;
      bytes.remove_prefix(count);
    }
  };
  constexpr int turns[] = {4, 6, 8, 16, 19, 4};
  while (bytes.size() > 12) {
    add();
    for (std::size_t i = 0; i < std::size(turns); ++i) {
      std::uint32_t &x = sum[i % 3], &y = sum[(i + 1) % 3], &z = sum[(i + 2) % 3];
      x = (x - z) ^ turned(z, turns[i]);
      z += y;
    }
  }
  if (bytes.empty()) return sum[2];
  add();
  constexpr int last[] = {14, 11, 25, 16, 4, 14, 24};
  for (std::size_t i = 0; i < std::size(last); ++i) {
    const std::uint32_t from = sum[(i + 1) % 3];
    std::uint32_t& to = sum[(i + 2) % 3];
    to = (to ^ from) - turned(from, last[i]);
  }
  return sum[2];
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return value;
}

// The head ("superblock") of a file, at its begin: how long the file should be.
struct Head {
  std::uint64_t end;
  int version;
  unsigned char flags;  // of newer versions: 1 or 4 while it is open for writing
};
constexpr std::size_t flags_at = 11, newer_bytes = 44;

std::optional<Head> head_of(std::string_view bytes) {
  constexpr std::size_t most = 64;
  if (bytes.size() < most || bytes.substr(0, signature.size()) != signature) return std::nullopt;
  const int version = bytes[8];
  const std::size_t width = version < 2 ? 13 : 9, end = version == 0 ? 40 : version == 1 ? 44 : 28;
  if (version < 0 || version > 3 || bytes[width] != 8) return std::nullopt;
  const std::uint64_t base = number_at(bytes, end - 16);
  if (base != 0) return std::nullopt;
  const bool flagged = version == 3;
  return Head{
      number_at(bytes, end), version,
      flagged ? static_cast<unsigned char>(bytes[flags_at]) : static_cast<unsigned char>(0)};
}

// HDF5 opens files by a name alone.
std::unique_ptr<files::NewFile> copy_beside(const std::string& path) {
  try {
    return std::make_unique<files::NewFile>(path);
  } catch (const Error& failure) {
    if (failure.code() != Code::io) throw;
    const std::string folder = std::filesystem::temp_directory_path().string();
    return std::make_unique<files::NewFile>(files::join(folder, files::last_name(path)));
  }
}

}  // namespace

std::optional<MendedFile> mend_file(const FileBytes& bytes, const std::string& path, bool cut_too) {
  const std::optional<Head> head = head_of(bytes.text());
  const std::uint64_t size = bytes.size();
  // Zeros need no room, but a head that lies may ask for more than any file has.
  constexpr std::uint64_t longest = std::uint64_t{1} << 42;
  if (!head || head->end > longest || (head->end <= size && (head->flags & 5) == 0))
    return std::nullopt;
  if (head->end > size && !cut_too) return std::nullopt;
  MendedFile mended{copy_beside(path), size, head->end > size ? head->end - size : 0,
                    (head->flags & 5) != 0};
  mended.copy->write(bytes.data(), size);
  if (mended.missing > 0) mended.copy->resize(head->end);
  if (mended.was_open) {
    std::string begin(bytes.text().substr(0, newer_bytes));
    begin[flags_at] = static_cast<char>(head->flags & ~5);
    const std::uint32_t sum = checksum(begin);
    for (int i = 0; i < 4; ++i) begin += static_cast<char>(sum >> 8 * i & 255);
    mended.copy->write_at(0, begin.data(), begin.size());
  }
  return mended;
}

}  // namespace td::hdf5
