// core/formats/row_count.h: rows that a folder has beyond those that its meta.json files say.
//
// Several meta.json files cannot change in one cheap step. So a writer counts its rows in a small file beside
// the outermost of them, and brings them up to date from time to time. Readers of this library go by the
// file; others go by the meta.json files and are behind. See docs/design/disk.md.
#pragma once

#include "core/formats/checksums.h"
#include "core/formats/format.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace td::format {

// No key has this name: escape() writes "%r" nowhere, a file of values ends with ".memmap", and the folder
// of a nested dictionary is no file. For other programs it begins with a point.
inline constexpr std::string_view count_file = ".%rows";

struct RowCount {
  std::int64_t base = 0;       // the rows that the meta.json files say
  std::int64_t rows = 0;       // those that are there: at least `base`, and 0 where that is 0
  std::uint64_t sequence = 0;  // of two counts the later one is larger
  Digest meta = {};  // of the meta.json that it goes with: with any other it means nothing
};

// The file has room for two counts, which are written in turn: whoever reads while one of them is being
// written, or after its writer has died there, finds the other.
inline constexpr std::size_t count_bytes = 64;
inline constexpr std::size_t max_count_file = 4096;  // a longer one is not read
std::string count_text(const RowCount& count);
inline std::uint64_t count_offset(const RowCount& count) noexcept {
  return count.sequence % 2 * count_bytes;
}

// The later one of those in the content of a file that go with a meta.json; nothing where there is none.
// It may come from anybody. What it says of the files of values is for the caller to check.
std::optional<RowCount> read_count(std::string_view content, const Digest& meta) noexcept;

// Gives a dictionary, and its tensors, the rows that are counted. One with fewer rows than the count goes out
// from stays as it is: it does not fit, whatever is counted.
void count_rows(NodeText& node, const RowCount& count);

}  // namespace td::format
