// A random operation in two forms: on dictionaries, and on one leaf of each by libtorch alone.
#pragma once

#include "random_tree.h"

namespace td::test {

using Leaves = std::vector<at::Tensor>;

struct Operation {
  std::string name;
  std::vector<TensorDict> sources;
  std::function<std::vector<TensorDict>(const std::vector<TensorDict>&)> on_trees;
  std::function<Leaves(const Leaves&)> on_leaves;
  bool writes = false;   // the sources' values change; there is no result
  bool gathers = false;  // the result is new memory whose layout libtorch leaves open
};

Operation random_operation(Random& random);

}  // namespace td::test
