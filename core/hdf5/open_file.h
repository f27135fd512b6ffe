// core/hdf5/open_file.h: a file, and its datasets, opened as all readers open them. Call these in a Session.
#pragma once

#include "core/hdf5/library.h"

#include <cstdint>
#include <string>

struct stat;

namespace td::hdf5 {

// The most that deflate can pack into a file of that size, plus an allowance for unwritten data.
std::uint64_t default_limit(std::uint64_t file_bytes) noexcept;

// The file of a path that was looked at before: Code::busy if it is another one by now.
Id open_path(const std::string& name, const struct stat& looked, const std::string& where);
// A copy of the bytes.
Id open_image(const FileBytes& image, const std::string& where);

// The cache holds at least one chunk, so that runs of rows in a chunk unpack it once.
Id open_dataset(hid_t file, const std::string& place, const std::string& where);

// Selects rows of a dataset along its first dimension, and makes the space of that many rows in memory.
Id select_rows(hid_t space, std::int64_t start, std::int64_t step, std::int64_t count,
               const std::string& where);

}  // namespace td::hdf5
