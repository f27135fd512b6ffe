#include "core/tree/kinds.h"

#include "core/tree/dense_copy.h"
#include "core/tree/lazy_index.h"
#include "core/tree/traverse.h"

namespace td {

bool is_sole(const Node& root) {
  if (holders_of(root) > 1) return false;
  return !visit_nodes(retain(root), [&](const Node& node) -> bool {
    return holders_of(node) > (&node == &root ? 2 : 1);  // the walk holds the root, too
  });
}

bool has_lazy(const NodePtr& root) {
  return visit_nodes(root, [](const Node& node) -> bool { return is_lazy_stack(node); });
}

NodePtr picked_form(const NodePtr& node) {
  const SubTensorDictNode* part = as_sub_tensordict(node.get());
  return part == nullptr ? node : read_at(part->parent(), part->items());
}

const NodePtr& whole_of(const NodePtr& node) noexcept {
  const NodePtr* whole = &node;
  while (const SubTensorDictNode* part = as_sub_tensordict(whole->get())) whole = &part->parent();
  return *whole;
}

std::vector<NodePtr> elements_or_self(const NodePtr& node) {
  const LazyNode* lazy = as_lazy(node.get());
  return lazy == nullptr ? std::vector<NodePtr>{node} : lazy->elements();
}

NodePtr all_dense(const NodePtr& root) {
  return copy_dense(root, dense_form, [](const Node&) { return std::optional<at::Tensor>(); });
}

}  // namespace td
