// core/files/other_files.h: dictionaries in file formats of other programs.
#pragma once

#include "core/flat/file_options.h"
#include "core/tree/tensordict.h"

#include <string>

namespace td {

// Reads a file of any format with can_load, detected by content, then by suffix. The file is not trusted.
// Tensors are views of the mapped file if aligned. A tensor without a name is called "arr_0".
TensorDict load_file(const std::string& path, const FileOptions& options);
TensorDict load_file(const FileBytes& file, const FileOptions& options);

// Writes a file aside, then renames it.
void save_file(const TensorDict& td, const std::string& path, const FileOptions& options);

// A file with a single tensor.
at::Tensor load_tensor(const std::string& path, const FileOptions& options);
at::Tensor load_tensor(const FileBytes& file, const FileOptions& options);
void save_tensor(const at::Tensor& tensor, const std::string& path, const FileOptions& options);

// The metadata of a file: a JSON object of texts.
std::string file_metadata(const std::string& path, const FileOptions& options);

}  // namespace td
