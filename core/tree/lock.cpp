#include "core/tree/lock.h"

#include "core/tree/traverse.h"

#include <algorithm>
#include <unordered_set>

namespace td {

namespace {

// All nodes from `root` on, each once.
std::vector<NodePtr> reachable(const NodePtr& root) {
  std::vector<NodePtr> nodes;
  visit_nodes(root, [&](Node& node) { nodes.push_back(retain(node)); });
  return nodes;
}

// Makes room for n more parents. First drops expired ones, so that a node which is locked below many
// short-lived parents keeps few of them.
void make_room(std::vector<WeakNodePtr>& parents, std::size_t n) {
  if (parents.size() + n <= parents.capacity()) return;
  const auto gone = [](const WeakNodePtr& one) { return one.expired(); };
  parents.erase(std::remove_if(parents.begin(), parents.end(), gone), parents.end());
  if (2 * (parents.size() + n) > parents.capacity()) parents.reserve(2 * (parents.size() + n));
}

}  // namespace

void Locking::add(const NodePtr& root, const NodePtr& holder) {
  if (holder.defined()) edges_.emplace_back(root.get(), holder);
  c10::SmallVector<Node*, 8> held;
  if (root->locked()) {
    // A refreshed mapped dictionary may hold new, unlocked nodes.
    root->collect(held);
    const auto is_new = [](const Node* child) { return !child->locked(); };
    if (std::none_of(held.begin(), held.end(), is_new)) return;
  }
  const std::size_t before = nodes_.size();
  visit_nodes(root, [&](Node& node) { nodes_.push_back(retain(node)); });
  for (std::size_t i = before; i < nodes_.size(); ++i) {
    const NodePtr& node = nodes_[i];
    held.clear();
    node->collect(held);
    for (Node* child : held) {
      // The edge between two locked nodes already exists.
      if (!node->locked() || !child->locked()) edges_.emplace_back(child, node);
    }
  }
}

void Locking::prepare() {
  std::sort(edges_.begin(), edges_.end(),
            [](const Edge& a, const Edge& b) { return a.first < b.first; });
  for (auto first = edges_.begin(); first != edges_.end();) {
    Node* const child = first->first;
    const auto end =
        std::find_if(first, edges_.end(), [&](const Edge& edge) { return edge.first != child; });
    make_room(child->extras().lock_parents, static_cast<std::size_t>(end - first));
    first = end;
  }
}

void Locking::commit() noexcept {
  for (Edge& edge : edges_) edge.first->extras_->lock_parents.push_back(std::move(edge.second));
  for (const NodePtr& node : nodes_) node->locked_ = true;
}

bool Locking::has(const Node& node) const noexcept {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const NodePtr& one) { return one.get() == &node; });
}

void lock(const NodePtr& root) {
  Locking locking;
  locking.add(root);
  locking.prepare();
  locking.commit();
}

void unlock(const NodePtr& root) {
  // A lazy stack read from a locked one is locked only through its elements.
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
