// Puts a check in front of each recurrent layer. nn.GRU checks its input in Python, and an exported graph holds
// at::gru alone, which crashes on an input of four dimensions.
#include "core/nn/checked_graph.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace td {

namespace {

// Without Python there is no RuntimeError to raise.
constexpr const char* check_source = R"(
def check(x: Tensor, states: List[Tensor], weights: List[Tensor], layers: int, both: bool, first: bool):
    assert x.dim() == 3, "a recurrent layer takes 3 dimensions, its input has {}".format(x.dim())
    width = weights[0].size(1)
    assert x.size(2) == width, "a recurrent layer takes {} values, its input has {}".format(width, x.size(2))
    rows = x.size(0) if first else x.size(1)
    count = layers * 2 if both else layers
    for state in states:
        fits = state.dim() == 3 and state.size(0) == count and state.size(1) == rows
        assert fits, "a recurrent layer takes a state of [{}, {}, any], this is {}".format(count, rows, state.size())
)";

std::shared_ptr<torch::jit::Graph> check_graph() {
  static const auto* const unit = new torch::jit::CompilationUnit(check_source);
  return torch::jit::toGraphFunction(unit->get_function("check")).graph();
}

// gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first), and lstm, whose hx
// is a list. Those of packed sequences have the weights where these have has_biases.
bool is_layer(const torch::jit::Node& node) {
  static const c10::Symbol kinds[] = {
      c10::Symbol::fromQualString("aten::gru"), c10::Symbol::fromQualString("aten::lstm"),
      c10::Symbol::fromQualString("aten::rnn_tanh"), c10::Symbol::fromQualString("aten::rnn_relu")};
  return std::find(std::begin(kinds), std::end(kinds), node.kind()) != std::end(kinds) &&
         node.inputs().size() == 9 && node.input(3)->type()->kind() == c10::TypeKind::BoolType;
}

void collect_layers(torch::jit::Block& block, std::vector<torch::jit::Node*>& found) {
  for (torch::jit::Node* node : block.nodes()) {
    if (is_layer(*node)) found.push_back(node);
    for (torch::jit::Block* inner : node->blocks()) collect_layers(*inner, found);
  }
}

void add_check(torch::jit::Graph& graph, torch::jit::Node& node) {
  const torch::jit::WithInsertPoint here(&node);
  torch::jit::Value* states = node.input(1);
  if (states->type()->kind() == c10::TypeKind::TensorType)
    states = graph.insertNode(graph.createList(c10::TensorType::get(), {states}))->output();
  torch::jit::Value* const inputs[] = {node.input(0), states,        node.input(2),
                                       node.input(4), node.input(7), node.input(8)};
  torch::jit::insertGraph(graph, *check_graph(), inputs);
}

}  // namespace

std::shared_ptr<torch::jit::Graph> with_checks(std::shared_ptr<torch::jit::Graph> graph) {
  std::vector<torch::jit::Node*> found;
  collect_layers(*graph->block(), found);
  if (found.empty()) return graph;
  std::shared_ptr<torch::jit::Graph> changed = graph->copy();
  found.clear();
  collect_layers(*changed->block(), found);
  for (torch::jit::Node* node : found) add_check(*changed, *node);
  return changed;
}

}  // namespace td
