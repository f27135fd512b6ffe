// NumPy's files.
#ifndef TDTOOL_LIGHT_NUMPY_H
#define TDTOOL_LIGHT_NUMPY_H

#include <functional>

#include "light_flat.h"
#include "light_zip.h"

namespace light {

struct Array {
  struct Column {
    Path path;  // none: the whole array
    Dtype dtype;
    Sizes sizes;  // of one record
  };
  std::vector<Column> columns;
  bool records = false;
  Sizes sizes;
};

// The first bytes of a file of so many, at most as many as asked for; light_numpy_header.cpp.
using Head = std::function<std::string(std::size_t bytes)>;
Array read_array(const Head &head, std::uint64_t bytes);

void read_npy(const File &file, Lines &to);
void read_npz(const Archive &archive, Lines &to);

}  // namespace light

#endif
