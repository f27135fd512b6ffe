#include "core/tree/set_and_read.h"

#include "core/base/recursion_guard.h"
#include "core/tree/changes.h"
#include "core/tree/dense_node.h"
#include "core/tree/kinds.h"
#include "core/tree/lazy_node.h"
#include "core/tree/lock.h"
#include "core/tree/paths.h"
#include "core/tree/sub_node.h"
#include "core/tree/sub_tensordict.h"

namespace td {

namespace {

// Whether nothing on the path is read from elsewhere: an entry that is set there is read without memory.
bool stored_along(const Node* node, Path path) {
  for (const std::string_view name : path) {
    const DenseNode* dense = as_dense(node);
    if (dense == nullptr) return false;
    const Value* inner = dense->find(name);
    if (inner == nullptr || !inner->is_node()) return true;
    node = inner->node().get();
  }
  return true;
}

// Plans to put the entry that `copy` has at `path` into `node`, which else has the same entries.
void plan_copied(Changes& changes, const Node& node, const Node& copy, Path path) {
  require_unlocked(node);
  if (const LazyNode* lazy = as_lazy(&node)) {
    const RecursionGuard guard;
    const std::vector<NodePtr>& copies = as_lazy(&copy)->elements();
    for (std::size_t k = 0; k < copies.size(); ++k)
      plan_copied(changes, *lazy->elements()[k], *copies[k], path);
    return;
  }
  const DenseNode& dense = *as_dense(&node);
  const Value *mine = dense.find(path[0]), *made = as_dense(&copy)->find(path[0]);
  if (made == nullptr) return;  // of an element that a part leaves out
  if (mine == nullptr || path.size() == 1) return changes.set(dense, path[0], *made);
  plan_copied(changes, *mine->node(), *made->node(), path.slice(1));
}

}  // namespace

at::Tensor set_and_read(const TensorDict& td, Path path, const at::Tensor& value) {
  const SubTensorDictNode* part = as_sub_tensordict(td.node().get());
  const NodePtr& whole = part == nullptr ? td.node() : part->parent();
  if ((part == nullptr && stored_along(whole.get(), path)) || as_sub_tensordict(whole.get())) {
    TensorDict target = td;
    target.set(path, value);
    return td.get(path);
  }
  // Reading the entry takes memory: set and read it in a copy of the dictionaries first.
  const TensorDict copy = TensorDict(whole).clone(/*recurse=*/false);
  TensorDict target = part == nullptr ? copy : same_part(td, copy);
  target.set(path, value);
  at::Tensor result = target.get(path);
  Changes changes;
  plan_copied(changes, *whole, *copy.node(), path);
  changes.run();
  return result;
}

}  // namespace td
