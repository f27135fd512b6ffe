// core/interop/arrow_files.h: files of Parquet and Arrow, through a separate module. Without the module each
// function throws Code::unsupported.
#pragma once

#include "core/interop/other_files.h"

#include <string>

namespace td::arrow {

// All rows, as td::arrow::Reader makes a dictionary of them.
TensorDict load_parquet(const FileBytes& file, const FileOptions& options);
TensorDict load_ipc(const FileBytes& file, const FileOptions& options);

// Writes a file beside its place and renames it.
void save_parquet(const TensorDict& td, const std::string& path, const FileOptions& options);
void save_ipc(const TensorDict& td, const std::string& path, const FileOptions& options);

}  // namespace td::arrow
