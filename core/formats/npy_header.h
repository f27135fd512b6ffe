// core/formats/npy_header.h: the text before the values of a .npy file: a dictionary as Python prints it.
#pragma once

#include "core/base/owned_path.h"
#include "core/base/sizes.h"
#include "core/formats/dtypes.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace td::numpy {

inline constexpr std::string_view magic{"\x93NUMPY", 6};

// A field of an array of records, or the whole array when the path is empty.
struct Column {
  OwnedPath path;
  DType dtype = DType::other;
  Shape sizes;  // of one record
  std::size_t offset = 0;
  bool swapped = false;
};

struct Header {
  std::vector<Column> columns;
  bool records = false;        // a structured dtype
  std::size_t item_bytes = 0;  // of an element, or of a record
  bool fortran_order = false;
  Shape sizes;
  std::size_t start = 0;  // of the values
};

// Of a file, or as much of it as is known, of format 1.0, 2.0 or 3.0. `where` begins the messages. Throws
// Code::format; Code::dtype for a dtype that libtorch lacks in every version.
Header read_header(std::string_view file, const std::string& where, std::size_t max_entries);

// The opposite, padded so that the values begin at a multiple of 64. `descr` is a dtype as NumPy writes it.
std::string head_of(std::string_view descr, ShapeView sizes);

// "<f4"; empty when NumPy has none.
std::string dtype_text(DType dtype);
// A text as Python writes it.
std::string quote(std::string_view text);

}  // namespace td::numpy
