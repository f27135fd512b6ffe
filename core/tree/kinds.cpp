#include "core/tree/kinds.h"

#include <ATen/ATen.h>
#include <algorithm>
#include "core/base/recursion_guard.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/join_tensors.h"
#include "core/tree/batch_op.h"
#include "core/tree/dense_copy.h"
#include "core/tree/lazy_index.h"
#include "core/tree/names.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/tensorclass.h"
#include "core/tree/tensordict.h"

namespace td {

int dict_kind(const Node& node) noexcept {
  if (node.kind() == NodeKind::nested_tensor) return 5;
  if (is_opaque(node)) return 4;
  return node.kind() == NodeKind::dense ? 1 : node.kind() == NodeKind::lazy ? 2 : 3;
}

bool is_sole(const Node& root) {
  // The second reference is the one that is asked with.
  if (retain(root).use_count() > 2) return false;
  std::vector<NodePtr> pending{retain(root)};
  c10::SmallVector<NodePtr, 8> held;
  while (!pending.empty()) {
    const NodePtr node = std::move(pending.back());
    pending.pop_back();
    held.clear();
    node->collect(held);
    for (NodePtr& inner : held) {
      if (inner.use_count() > 2) return false;
      pending.push_back(std::move(inner));
    }
  }
  return true;
}

NodePtr all_dense(const NodePtr& root) {
  return copy_dense(root, dense_form, [](const Node&) { return std::optional<at::Tensor>(); });
}

}  // namespace td
