// core/tree/edit.h: changing several dictionaries of a tree at once. What they will hold is built aside; then
// all of it takes effect, and nothing of it can fail.
#pragma once

#include "core/tree/paths.h"

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
    changes_.emplace_back(retain(node), std::move(made));
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

// Entries put one by one into dictionaries of a tree. Unless keep() is called all is taken back.
class PutLog {
 public:
  explicit PutLog(std::size_t puts) { undo_.reserve(puts); }
  ~PutLog() {
    for (auto at = undo_.rbegin(); at != undo_.rend(); ++at) {
      if (at->added) {
        at->holder->erase(at->position);
      } else {
        at->holder->set_value(at->position, std::move(at->before));
      }
    }
  }
  PutLog(const PutLog&) = delete;
  PutLog& operator=(const PutLog&) = delete;

  void put(DenseNode& holder, std::string_view name, Value value) {
    const std::size_t i = holder.schema()->find(name);
    if (i != Schema::npos) {
      undo_.push_back({&holder, i, holder.value(i), false});
      holder.set_value(i, std::move(value));
    } else {
      holder.put(name, std::move(value));
      undo_.push_back({&holder, holder.size() - 1, {}, true});
    }
  }
  void keep() noexcept { undo_.clear(); }

 private:
  struct Undo {
    DenseNode* holder;  // held by the tree
    std::size_t position;
    Value before;
    bool added;  // else another value stood there
  };
  std::vector<Undo> undo_;  // has room for all: noting one down cannot fail
};

}  // namespace td
