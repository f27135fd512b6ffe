// core/distributed/leaves.h: the leaves of a dictionary, in the order in which they travel.
#pragma once

#include "core/tree/tensordict.h"

#include <string>
#include <vector>

namespace td::distributed {

struct Leaf {
  std::string path;  // for messages
  at::Tensor tensor;
};

// Depth first. Sorted: the keys of each dictionary by their bytes. The elements of a lazy stack come in
// turn; non-tensor data does not travel. Code::unsupported for nested tensors.
enum class Order { sorted, inserted };
std::vector<Leaf> leaves_of(const NodePtr& root, Order order);

// Writes `values`, one for each leaf of leaves_of(td, order); all or nothing.
void write_leaves(const NodePtr& root, Order order, const std::vector<at::Tensor>& values);

}  // namespace td::distributed
