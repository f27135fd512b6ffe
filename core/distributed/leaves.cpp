#include "core/distributed/leaves.h"

#include "core/tensor/writes.h"
#include "core/tree/kinds.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/sub_node.h"
#include "core/tree/traverse.h"

#include <algorithm>
#include <numeric>

namespace td::distributed {

namespace {

// A dictionary or lazy stack that is gone through.
struct Level {
  NodePtr node;
  std::vector<std::size_t> order;  // of the entries; empty for a lazy stack
  std::size_t next;
  std::string path;
};

Level level_of(const NodePtr& node, Order order, std::string path) {
  Level level{
      node->kind() == NodeKind::sub_tensordict ? dense_form(node) : node, {}, 0, std::move(path)};
  if (const DenseNode* dense = as_dense(level.node.get())) {
    level.order.resize(dense->size());
    std::iota(level.order.begin(), level.order.end(), std::size_t{0});
    if (order == Order::sorted) {
      std::sort(level.order.begin(), level.order.end(),
                [&](std::size_t a, std::size_t b) { return dense->name(a) < dense->name(b); });
    }
  }
  return level;
}

std::string below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

}  // namespace

std::vector<Leaf> leaves_of(const NodePtr& root, Order order) {
  std::vector<Leaf> leaves;
  std::vector<Level> open;
  open.push_back(level_of(root, order, ""));
  PathLimit limit(*open.back().node);
  const auto enter = [&](const NodePtr& node, std::string path) {
    if (node->kind() == NodeKind::non_tensor) return;
    if (as_nested_tensor(node.get()) != nullptr) {
      fail(Code::unsupported, "\"", path,
           "\" is a nested tensor, which cannot be sent leaf by leaf; "
           "send a message");
    }
    limit.enter(*node);
    open.push_back(level_of(node, order, std::move(path)));
  };
  while (!open.empty()) {
    Level& level = open.back();
    if (const DenseNode* dense = as_dense(level.node.get())) {
      if (level.next == level.order.size()) {
        open.pop_back();
        continue;
      }
      const std::size_t i = level.order[level.next++];
      const Value& value = dense->value(i);
      std::string path = below(level.path, dense->name(i));
      if (value.is_node()) {
        enter(value.node(), std::move(path));  // `level` is no longer valid
      } else {
        leaves.push_back({std::move(path), value.tensor()});
      }
    } else if (const LazyNode* lazy = as_lazy(level.node.get())) {
      if (level.next == lazy->elements().size()) {
        open.pop_back();
        continue;
      }
      const std::size_t i = level.next++;
      const NodePtr element = lazy->elements()[i];
      enter(element, below(level.path, std::to_string(i)));
    } else {
      open.pop_back();
    }
  }
  return leaves;
}

void write_leaves(const NodePtr& root, Order order, const std::vector<at::Tensor>& values) {
  Writes writes(Writes::Hold::owns);
  InPlace work(root);
  const std::vector<Leaf> leaves = leaves_of(work.node(), order);
  if (leaves.size() != values.size()) {
    fail(Code::key_not_found, "the dictionary has ", leaves.size(), " leaves now, ", values.size(),
         " were received for it");
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const at::Tensor& target = leaves[i].tensor;
    if (target.sizes() != values[i].sizes() || target.scalar_type() != values[i].scalar_type()) {
      fail(Code::shape, "\"", leaves[i].path, "\" is another tensor than when the call began");
    }
    const std::string_view name = leaves[i].path;
    writes.set(Path(&name, 1), target, values[i]);
  }
  writes.run();
  work.commit();
}

}  // namespace td::distributed
