// core/tree/lock.h: the lock graph (docs/design/ownership.md, "Locks").
#pragma once

#include "core/tree/node.h"

#include <utility>
#include <vector>

namespace td {

// Locks a node and all below it. Throws before anything has changed.
void lock(const NodePtr& root);

// Nodes that are about to be locked. After prepare() nothing can fail.
class Locking {
 public:
  // A node and all below it; with `holder`, which is locked, as one that it will hold.
  void add(const NodePtr& root, const NodePtr& holder = {});
  void prepare();
  void commit() noexcept;
  bool has(const Node& node) const noexcept;

 private:
  using Edge = std::pair<Node*, WeakNodePtr>;  // a node, and a locked one that holds it

  std::vector<NodePtr> nodes_;
  std::vector<Edge> edges_;
};

// Unlocks a node and all below it. Code::locked when a locked node outside of them holds one of them;
// then nothing has changed.
void unlock(const NodePtr& root);

// Whether structural change is forbidden: a lazy stack is also locked when all its elements are, a
// sub-tensordict when its parent is.
inline bool is_locked(const Node& node) noexcept {
  return node.locked() || node.locked_by_others();
}

}  // namespace td
