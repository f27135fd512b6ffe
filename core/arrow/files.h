// core/arrow/files.h: files of Parquet and Arrow, through a separate module. Without the module each
// function throws Code::unsupported.
#pragma once

#include "core/flat/file_options.h"

#include <string>

namespace td::arrow {

// Reads all rows with td::arrow::Reader. `options.format` is parquet or arrow.
TensorDict load_file(const FileBytes& file, const FileOptions& options);

// Writes a file aside, then renames it.
void save_file(const TensorDict& td, const std::string& path, const FileOptions& options);

}  // namespace td::arrow
