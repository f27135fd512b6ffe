// core/hdf5/mend_file.h: files that the HDF5 library refuses to open, though most of them can be read: those that were cut off, and
// those whose writer was killed.
#pragma once

#include "core/consolidated/file_bytes.h"
#include "core/io/new_file.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace td::hdf5 {

struct MendedFile {
  std::unique_ptr<files::NewFile> copy;  // as long as its head says; it is gone with this
  std::uint64_t there = 0;               // bytes; behind them it has zeros, which are no values
  std::uint64_t missing = 0;             // zeros
  bool was_open = false;                 // its head says that it is open for writing
};

// None if neither is so, or if the file was cut off and `cut_too` is false. Code::io if there is no room for the copy, beside the file or in the folder for temporary files.
std::optional<MendedFile> mend_file(const FileBytes& bytes, const std::string& path, bool cut_too);

}  // namespace td::hdf5
