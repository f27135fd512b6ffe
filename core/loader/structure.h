// core/loader/structure.h: keys, dtypes and shapes of a row, which a callback's batches must share.
#pragma once

#include "core/tree/tensordict.h"

#include <string>
#include <vector>

namespace td {

// Records the first batch and compares the others with it.
class Structure {
 public:
  // Throws Code::shape, naming the first entry that differs.
  void require(const TensorDict& batch);

 private:
  std::vector<std::string> lines_;
  bool known_ = false;
};

// A line for each entry: path, dtype, and sizes without the first.
std::vector<std::string> structure_of(const TensorDict& td);

}  // namespace td
