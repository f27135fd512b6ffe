// core/nn/checked_graph.h: checks in a network's graph, in front of what libtorch does not check.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>

namespace td {

// The graph, in which recurrent layers refuse inputs and states of other sizes than they were made for: libtorch
// would read beyond their memory. Without such layers it is the same one.
std::shared_ptr<torch::jit::Graph> with_checks(std::shared_ptr<torch::jit::Graph> graph);

}  // namespace td
