// core/interop/numpy.h: NumPy's .npy files: one array, or an array of records; and .npz, several in a zip archive.
#pragma once

#include "core/formats/npy_header.h"
#include "core/interop/flat_tree.h"
#include "core/interop/raw_file.h"

namespace td::numpy {

// The text before the values of an array.
std::string array_head(const at::Tensor& tensor, std::string_view name);

// "<f4"; Code::dtype when NumPy has none. `name` is for the message.
std::string dtype_text(c10::ScalarType dtype, std::string_view name);

// An array; Code::wrong_entry when the file holds records.
at::Tensor load_array(const FileBytes& file, const FileOptions& options);
void save_array(const at::Tensor& tensor, const std::string& path, const FileOptions& options);

// An array of records is a dictionary of its fields, with the shape of the array as batch size; another
// array is the entry "arr_0".
TensorDict load(const FileBytes& file, const FileOptions& options);
// The opposite: an array of records, aligned as in C, unless "arr_0" is all there is.
void save(const TensorDict& td, const std::string& path, const FileOptions& options);

TensorDict load_npz(const FileBytes& file, const FileOptions& options);
void save_npz(const TensorDict& td, const std::string& path, const FileOptions& options);

}  // namespace td::numpy
