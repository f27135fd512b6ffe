// core/arrays/numpy.h: NumPy's .npy files (an array, or an array of records) and .npz files (several in a
// zip archive).
#pragma once

#include "core/arrays/raw_file.h"
#include "core/flat/flat_tree.h"
#include "core/formats/npy_header.h"

namespace td::numpy {

// The header of an array.
std::string array_head(const at::Tensor& tensor, std::string_view name);

// "<f4"; Code::dtype if NumPy lacks it. `name` is for the message.
std::string dtype_text(c10::ScalarType dtype, std::string_view name);

// A single array; Code::wrong_entry for records.
at::Tensor load_array(const FileBytes& file, const FileOptions& options);
void save_array(const at::Tensor& tensor, const std::string& path, const FileOptions& options);

// An array of records becomes a dictionary of fields whose batch size is the array's shape; another array
// becomes the entry "arr_0".
TensorDict load(const FileBytes& file, const FileOptions& options);
// Writes an array of records, aligned as in C, unless "arr_0" is the only entry.
void save(const TensorDict& td, const std::string& path, const FileOptions& options);

TensorDict load_npz(const FileBytes& file, const FileOptions& options);
void save_npz(const TensorDict& td, const std::string& path, const FileOptions& options);

}  // namespace td::numpy
