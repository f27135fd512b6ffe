// core/tree/lock.h: the lock graph (docs/design/ownership.md, "Locks").
#pragma once

#include "core/tree/node.h"

#include <utility>
#include <vector>

namespace td {

// Locks a node and all below it. Throws before the first change.
void lock(const NodePtr& root);

// Nodes to be locked. Nothing can fail after prepare().
class Locking {
 public:
  // Adds a node and all below it. `holder`: a locked node that will hold it.
  void add(const NodePtr& root, const NodePtr& holder = {});
  void prepare();
  void commit() noexcept;
  bool has(const Node& node) const noexcept;

 private:
  using Edge = std::pair<Node*, WeakNodePtr>;  // a node, and a locked holder of it

  std::vector<NodePtr> nodes_;
  std::vector<Edge> edges_;
};

// Unlocks a node and all below it. Code::locked, without a change, if a locked node outside holds one of
// them.
void unlock(const NodePtr& root);

// Whether structural changes are forbidden: also for a lazy stack whose elements are all locked, and a
// sub-tensordict whose parent is.
inline bool is_locked(const Node& node) noexcept {
  return node.locked() || node.locked_by_others();
}

}  // namespace td
