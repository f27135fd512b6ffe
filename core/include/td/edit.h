// td/edit.h: changing several dictionaries of a tree at once. What they will hold is built aside; then
// all of it takes effect, and nothing of it can fail.
#pragma once

#include "td/paths.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace td {

class Edit {
 public:
  // A node that will hold the entries of `node`. Throws Code::locked, unless told to ignore locks.
  DenseNode* replace(DenseNode& node, bool ignore_lock = false) {
    if (!ignore_lock) require_unlocked(node);
    auto made = c10::make_intrusive<DenseNode>(node.batch(), node.device());
    DenseNode* result = made.get();
    changes_.emplace_back(borrow(node), std::move(made));
    return result;
  }

  void commit() {
    for (auto& [node, made] : changes_) {
      DenseNode& target = *as_dense(node.get());
      const std::size_t room = std::max(target.size(), made->size());
      target.reserve(room);
      made->reserve(room);
    }
    for (auto& [node, made] : changes_) as_dense(node.get())->swap_entries(*made);
  }

 private:
  std::vector<std::pair<NodePtr, c10::intrusive_ptr<DenseNode>>> changes_;
};

}  // namespace td
