#include "core/tree/lock.h"

#include "core/tree/traverse.h"

#include <algorithm>
#include <unordered_set>

namespace td {

namespace {

// Every node below and including `root`, each once.
std::vector<NodePtr> reachable(const NodePtr& root) {
  std::vector<NodePtr> nodes;
  visit_nodes(root, [&](Node& node) { nodes.push_back(retain(node)); });
  return nodes;
}

// Parents that are gone still take memory. They are let go when the list would grow, so that a node
// that is locked below one short-lived parent after the other keeps few of them.
void add_parent(std::vector<WeakNodePtr>& parents, const WeakNodePtr& parent) {
  if (parents.size() == parents.capacity()) {
    const auto gone = [](const WeakNodePtr& one) { return one.expired(); };
    parents.erase(std::remove_if(parents.begin(), parents.end(), gone), parents.end());
    if (2 * parents.size() > parents.capacity()) parents.reserve(2 * parents.capacity());
  }
  parents.push_back(parent);
}

}  // namespace

void lock(const NodePtr& root) {
  c10::SmallVector<NodePtr, 8> held;
  if (root->locked()) {
    // Files that have come to a mapped dictionary may have brought it nodes.
    root->collect(held);
    const auto is_new = [](const NodePtr& child) { return !child->locked(); };
    if (std::none_of(held.begin(), held.end(), is_new)) return;
  }
  const std::vector<NodePtr> nodes = reachable(root);
  std::vector<std::pair<Node*, WeakNodePtr>> edges;  // child, the locked node that holds it
  for (const NodePtr& node : nodes) {
    held.clear();
    node->collect(held);
    for (const NodePtr& child : held) {
      // Between two that are locked it is there already.
      if (!node->locked() || !child->locked()) edges.emplace_back(child.get(), node);
    }
  }
  // An edge too many says nothing false while its parent is unlocked, so a failure here is harmless.
  for (const auto& [child, parent] : edges) add_parent(child->extras().lock_parents, parent);
  for (const NodePtr& node : nodes) node->locked_ = true;
}

void unlock(const NodePtr& root) {
  // A lazy stack that was read out of a locked one is locked by its elements alone.
  if (!is_locked(*root)) return;
  const std::vector<NodePtr> nodes = reachable(root);
  std::unordered_set<const Node*> inside;
  for (const NodePtr& node : nodes) inside.insert(node.get());
  for (const NodePtr& node : nodes) {
    if (!node->extras_) continue;
    for (const WeakNodePtr& weak : node->extras_->lock_parents) {
      const NodePtr parent = weak.lock();
      if (parent.defined() && parent->locked() && inside.count(parent.get()) == 0) {
        fail(
            Code::locked,
            "cannot unlock a dictionary that is part of a locked graph: unlock the dictionary that "
            "holds it instead");
      }
    }
  }
  for (const NodePtr& node : nodes) {
    node->locked_ = false;
    node->memmapped_ = false;
    node->shared_ = false;
    if (node->extras_) node->extras_->lock_parents.clear();
  }
}

}  // namespace td
