#include "core/tree/kinds.h"

#include "core/tree/dense_copy.h"
#include "core/tree/traverse.h"

namespace td {

int dict_kind(const Node& node) noexcept {
  if (node.kind() == NodeKind::nested_tensor) return 5;
  if (is_opaque(node)) return 4;
  return node.kind() == NodeKind::dense ? 1 : node.kind() == NodeKind::lazy ? 2 : 3;
}

bool is_sole(const Node& root) {
  if (holders_of(root) > 1) return false;
  return !visit_nodes(retain(root), [&](const Node& node) -> bool {
    return holders_of(node) > (&node == &root ? 2 : 1);  // the root is held by the walk as well
  });
}

bool has_lazy(const NodePtr& root) {
  return visit_nodes(root, [](const Node& node) -> bool {
    return node.kind() == NodeKind::lazy && !is_opaque(node);
  });
}

NodePtr all_dense(const NodePtr& root) {
  return copy_dense(root, dense_form, [](const Node&) { return std::optional<at::Tensor>(); });
}

}  // namespace td
