// core/formats/row_count.h: rows of a folder beyond those in its meta.json files.
// Several meta.json files cannot change in one cheap step. So a writer counts its rows in a small file beside
// the root's meta.json, and updates the meta.json files from time to time. This library reads the count;
// others see only the meta.json files. See docs/design/disk.md.
#pragma once

#include "core/formats/checksums.h"
#include "core/formats/format.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace td::format {

// No key has this name: escape() never writes "%r", files of values end with ".memmap", and nested
// dictionaries are folders. The dot hides it from other programs.
inline constexpr std::string_view count_file = ".%rows";

struct RowCount {
  std::int64_t base = 0;       // rows in the meta.json files
  std::int64_t rows = 0;       // rows that exist: at least `base`; 0 if that is 0
  std::uint64_t sequence = 0;  // the larger one of two counts is newer
  Digest meta = {};            // of the meta.json to which the count belongs; invalid with another
};

// The file holds two counts, written alternately: if a write is in progress or was interrupted, a reader
// finds the other one.
inline constexpr std::size_t count_bytes = 64;
inline constexpr std::size_t max_count_file = 4096;  // longer files are not read
std::string count_text(const RowCount& count);
inline std::uint64_t count_offset(const RowCount& count) noexcept {
  return count.sequence % 2 * count_bytes;
}

// The newest valid count for this meta.json; nullopt if there is no such count. Untrusted: the caller must
// check the files of values.
std::optional<RowCount> read_count(std::string_view content, const Digest& meta) noexcept;

// Applies the count to a dictionary and its tensors. One with fewer rows than `base` does not match and stays
// unchanged.
void count_rows(NodeText& node, const RowCount& count);

}  // namespace td::format
