#include "core/tree/traverse.h"

#include "core/base/error.h"

namespace td {

std::vector<Node*> nodes_from_below(const NodePtr& root) {
  struct Level {
    Node* node;
    c10::SmallVector<Node*, 4> held;
  };
  std::vector<Node*> nodes;
  Seen seen;
  Traversal<Level> walk;
  const auto enter = [&](Node* node) {
    Level level{node, {}};
    node->collect(level.held);
    walk.add(std::move(level));
  };
  enter(root.get());
  walk.run_in_order(
      [&](Level& level) {
        if (level.held.empty()) return false;
        Node* const next = level.held.pop_back_val();
        if (seen.first(next)) enter(next);
        return true;
      },
      [&](Level& level) { nodes.push_back(level.node); });
  return nodes;
}

namespace {

constexpr std::size_t max_paths = std::size_t{1} << 22;

}  // namespace

std::size_t count_paths(const NodePtr& root) {
  return sum_of_paths(root, [](const Node&) { return std::size_t{1}; });
}

void PathLimit::check() {
  checked_ = true;
  if (count_paths(retain(root_)) <= max_paths) return;
  fail(Code::unsupported, "nested dictionaries that are held several times have more than ",
       max_paths, " paths, too many to go through one by one");
}

}  // namespace td
