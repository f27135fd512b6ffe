// core/interop/numpy.h: NumPy's .npy files: one array, or an array of records; and .npz, several in a zip archive.
#pragma once

#include "core/interop/flat_tree.h"
#include "core/interop/raw_file.h"

namespace td::numpy {

inline constexpr std::string_view magic{"\x93NUMPY", 6};

// A field of an array of records, or the whole array when the path is empty.
struct Column {
  OwnedPath path;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  Sizes sizes;  // of one record
  std::size_t offset = 0;
  bool swapped = false;
};

struct Header {
  std::vector<Column> columns;
  bool records = false;        // a structured dtype
  std::size_t item_bytes = 0;  // of an element, or of a record
  bool fortran_order = false;
  Sizes sizes;
  std::size_t start = 0;  // of the values
};

// Reads the text before the values, of format 1.0, 2.0 or 3.0. Throws Code::format; Code::dtype for a
// dtype that libtorch has not.
Header read_header(const FileBytes& file, std::size_t max_entries);

// The opposite, padded so that the values begin at a multiple of 64. An array of `dtype`, or one of
// records when `records` is a structured dtype as NumPy writes it.
std::string array_head(const at::Tensor& tensor, std::string_view name);
std::string head_of(std::string_view descr, SizesView sizes);

// "<f4"; Code::dtype when NumPy has none. `name` is for the message.
std::string dtype_text(c10::ScalarType dtype, std::string_view name);
// A text as Python writes it.
std::string quote(std::string_view text);

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
