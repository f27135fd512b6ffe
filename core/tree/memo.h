// core/tree/memo.h: graphs in which one node stands in several places are walked by nodes, not by paths: of
// those there may be more than can be counted. Trees pay one look at a count for each nested node.
#pragma once

#include "core/tree/node.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace td {

// What has been made of nodes that more than one pointer leads to.
template <class T>
class Memo {
 public:
  // Whether a node is worth a look: nobody else holds it, it will not be met again.
  static bool concerns(const NodePtr& node) noexcept { return node.use_count() > 1; }

  const T* find(const Node* node) const noexcept {
    if (!many_.empty()) {
      const auto found = many_.find(node);
      return found == many_.end() ? nullptr : &found->second;
    }
    for (const auto& [known, made] : few_) {
      if (known == node) return &made;
    }
    return nullptr;
  }

  void add(const Node* node, T made) {
    if (many_.empty() && few_.size() < limit) {
      few_.emplace_back(node, std::move(made));
      return;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    many_.emplace(node, std::move(made));
  }

 private:
  static constexpr std::size_t limit = 8;  // above it a table is quicker than a scan
  c10::SmallVector<std::pair<const Node*, T>, 4> few_;
  std::unordered_map<const Node*, T> many_;
};

// Calls `f(Node&)` for the root and every node below it, of any kind, each once.
template <class F>
void visit_nodes(const NodePtr& root, F&& f) {
  c10::SmallVector<NodePtr, 8> pending{root};
  std::unordered_set<const Node*> seen;
  while (!pending.empty()) {
    const NodePtr node = pending.pop_back_val();
    // One reference is ours.
    if (node.use_count() > 2 && !seen.insert(node.get()).second) continue;
    f(*node);
    node->collect(pending);
  }
}

}  // namespace td
