// core/formats/npy_header.h: the header of a .npy file: a dictionary as Python prints it.
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

// A field of an array of records; an empty path is the whole array.
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
  std::size_t item_bytes = 0;  // of an element or record
  bool fortran_order = false;
  Shape sizes;
  std::size_t start = 0;  // offset of the values, in bytes
};

// Parses formats 1.0, 2.0 and 3.0 from the beginning of a file. `where` begins the messages. Throws
// Code::format; Code::dtype for a dtype that no libtorch has.
Header read_header(std::string_view file, const std::string& where, std::size_t max_entries);

// A header padded so that values start at a multiple of 64. `descr` is NumPy's name of the dtype.
std::string head_of(std::string_view descr, ShapeView sizes);

// "<f4"; empty if NumPy lacks it.
std::string dtype_text(DType dtype);
// The comment of an .npz archive says that names were joined, and by what; NumPy ignores it. Without it, and in the
// archives of others, a name is a name.
std::string npz_comment(std::string_view separator);
std::string npz_separator(std::string_view comment);

// A text as a Python literal.
std::string literal(std::string_view text);

}  // namespace td::numpy
