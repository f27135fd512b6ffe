// core/tree/lock.h: the lock graph (docs/design/ownership.md, "Locks").
#pragma once

#include "core/tree/node.h"

namespace td {

// Locks a node and all below it. Throws before anything has changed.
void lock(const NodePtr& root);

// Unlocks a node and all below it. Code::locked when a locked node outside of them holds one of them;
// then nothing has changed.
void unlock(const NodePtr& root);

// Whether structural change is forbidden: a lazy stack is also locked when all its elements are, a
// sub-tensordict when its parent is.
inline bool is_locked(const Node& node) noexcept {
  return node.locked() || node.locked_by_others();
}

}  // namespace td
