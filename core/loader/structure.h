// core/loader/structure.h: keys, dtypes and shapes of a row: what batches that a function makes must share.
#pragma once

#include "core/tree/tensordict.h"

#include <string>
#include <vector>

namespace td {

// Knows the first batch; compares the others with it.
class Structure {
 public:
  // Throws Code::shape and names the first entry that differs.
  void require(const TensorDict& batch);

 private:
  std::vector<std::string> lines_;
  bool known_ = false;
};

// One line for each entry: its path, its dtype, and its sizes behind the first one.
std::vector<std::string> structure_of(const TensorDict& td);

}  // namespace td
