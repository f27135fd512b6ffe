// core/distributed/leaves.h: the leaves of a dictionary in the order in which they are sent.
#pragma once

#include "core/tree/tensordict.h"

#include <string>
#include <vector>

namespace td::distributed {

struct Leaf {
  std::string path;  // for messages
  at::Tensor tensor;
};

// Depth first; `sorted` sorts each dictionary's keys bytewise. Lists the elements of a lazy stack
// in order; skips non-tensor data. Code::unsupported for nested tensors.
enum class Order { sorted, inserted };
std::vector<Leaf> leaves_of(const NodePtr& root, Order order);

// Writes one value to each leaf of leaves_of(td, order); all or nothing.
void write_leaves(const NodePtr& root, Order order, const std::vector<at::Tensor>& values);

}  // namespace td::distributed
