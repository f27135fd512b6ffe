// core/memmap/verify.h: finds damage in a saved folder.
#pragma once

#include "core/base/error.h"
#include "core/formats/checksums.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace td {

enum class Damage : std::int32_t {
  missing = 1,      // a file or folder does not exist
  too_short = 2,    // a file has fewer bytes than needed
  changed = 3,      // the bytes do not match the checksum
  not_covered = 4,  // the file, or its end, has no checksum although the folder has some
  format = 5,       // the content is invalid
  refused = 6,      // a link, a pipe or the like
  unreadable = 7,   // the system cannot read it
};

struct Finding {
  Damage damage;
  std::string path;  // relative to the folder
  std::uint64_t expected = 0;
  std::uint64_t found = 0;  // bytes, for too_short and not_covered
  std::string message;
};

// Reports progress in bytes. An exception stops the work.
using BytesFn = std::function<void(std::size_t done, std::size_t total)>;

// Checks what a load would check, and all bytes that have checksums. Finds all damage, sorted by path. Throws
// Code::io if the folder does not exist, Code::busy if it keeps being replaced.
std::vector<Finding> verify_memmap(const std::string& dir, int num_threads,
                                   const BytesFn& progress);

// The checksums of a folder's content; `root` is absolute. Throws Code::format if it is damaged.
std::vector<Checksum> checksums_of(const std::string& root, int num_threads,
                                   const BytesFn& progress);

// Writes checksums for a folder. Throws Code::busy while another writer works there.
void checksum_memmap(const std::string& dir, int num_threads, const BytesFn& progress);

}  // namespace td
