// core/memmap/verify.h: whether a folder holds what was saved to it, and what is damaged.
#pragma once

#include "core/base/error.h"
#include "core/formats/checksums.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace td {

enum class Damage : std::int32_t {
  missing = 1,      // a file or folder that is named is not there
  too_short = 2,    // a file holds fewer bytes than it must
  changed = 3,      // the bytes are not those that the checksum was taken of
  not_covered = 4,  // there are checksums, and none of this file, or of its beginning only
  format = 5,       // it says what cannot be
  refused = 6,      // a link, a pipe or the like in the place of a file or folder
  unreadable = 7,   // the system cannot read it
};

struct Finding {
  Damage damage;
  std::string path;  // relative to the folder
  std::uint64_t expected = 0;
  std::uint64_t found = 0;  // bytes, of too_short and not_covered
  std::string message;
};

// How far the work has come, in bytes. What it throws ends the work.
using BytesFn = std::function<void(std::size_t done, std::size_t total)>;

// Checks what a load would check and, where the folder has checksums, every byte that they cover. Finds
// all that is damaged, not the first only; sorted by path. Throws Code::io when there is no such folder,
// and Code::busy when it is replaced again and again.
std::vector<Finding> verify_memmap(const std::string& dir, int num_threads,
                                   const BytesFn& progress);

// The checksums of what a folder holds now; `root` is absolute. Throws Code::format when it is damaged.
std::vector<Checksum> checksums_of(const std::string& root, int num_threads,
                                   const BytesFn& progress);

// Gives them to the folder. Throws Code::busy while another one writes there.
void checksum_memmap(const std::string& dir, int num_threads, const BytesFn& progress);

}  // namespace td
