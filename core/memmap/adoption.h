// core/memmap/adoption.h: a dictionary that becomes the result of a save, without a step that may fail.
#pragma once

#include "core/tree/kinds.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/traverse.h"

#include <string>
#include <utility>
#include <vector>

namespace td {

// Puts the entries of a result into the nodes of a dictionary, which has the same keys. All that may
// fail is done before.
class Adoption {
 public:
  Adoption(const NodePtr& node, const NodePtr& result) {
    pairs_.push_back({node.get(), result.get(), {}});
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      Node* to = pairs_[i].to;
      const Node* from = pairs_[i].from;
      pairs_[i].path = from->saved_path();
      if (!from->saved_path().empty()) to->set_saved_path(to->saved_path());  // makes room for one
      if (const LazyNode* lazy = as_lazy(from); lazy != nullptr && !lazy->holds_non_tensor()) {
        for (std::size_t k = 0; k < lazy->elements().size(); ++k) {
          pairs_.push_back({as_lazy(to)->elements()[k].get(), lazy->elements()[k].get(), {}});
        }
      }
      const DenseNode* target = as_dense(to);
      for (std::size_t k = 0; target != nullptr && k < target->size(); ++k) {
        const Value& value = as_dense(from)->value(k);
        if (value.is_node()) {
          pairs_.push_back({target->value(k).node().get(), value.node().get(), {}});
        }
      }
    }
  }

  void apply() noexcept {
    for (Pair& pair : pairs_) {
      pair.to->set_device(pair.from->device());
      pair.to->set_memmapped(true);
      if (!pair.path.empty()) pair.to->set_saved_path(std::move(pair.path));
      if (NestedTensorNode* nested_tensor = as_nested_tensor(pair.to)) {
        nested_tensor->set_tensors(as_nested_tensor(pair.from)->values(),
                                   as_nested_tensor(pair.from)->sizes());
      }
      DenseNode* target = as_dense(pair.to);
      for (std::size_t i = 0; target != nullptr && i < target->size(); ++i) {
        const Value& value = as_dense(pair.from)->value(i);
        if (!value.is_node()) target->set_value(i, value);
      }
    }
  }

 private:
  struct Pair {
    Node* to;
    const Node* from;
    std::string path;
  };
  std::vector<Pair> pairs_;
};

// Locks a dictionary, and leaves it as it was unless keep() is called.
class LockAhead {
 public:
  explicit LockAhead(const NodePtr& root) : root_(root), was_locked_(root->locked()) {
    if (was_locked_) return;
    visit_nodes(root, [this](Node& node) {
      if (node.locked()) locked_.push_back({retain(node), node.memmapped(), node.shared()});
    });
    lock(root);
  }
  ~LockAhead() {
    if (was_locked_) return;
    try {
      unlock(root_);
      for (const Before& before : locked_) {
        lock(before.node);
        before.node->set_memmapped(before.memmapped);
        before.node->set_shared(before.shared);
      }
    } catch (...) {
      // There is no memory, after another failure; it stays locked.
    }
  }
  LockAhead(const LockAhead&) = delete;
  LockAhead& operator=(const LockAhead&) = delete;
  void keep() noexcept { was_locked_ = true; }

 private:
  struct Before {
    NodePtr node;
    bool memmapped;
    bool shared;
  };
  const NodePtr& root_;
  bool was_locked_;
  std::vector<Before> locked_;
};

}  // namespace td
