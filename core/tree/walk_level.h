// core/tree/walk_level.h: the state of a walk (core/tree/engine.h) in one dictionary.
#pragma once

#include "core/tree/dense_node.h"

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace td::detail {

// An array with one item for each tree.
template <class T, std::size_t n>
class Few {
 public:
  Few() = default;
  explicit Few(std::size_t trees, T value = {}) { assign(trees, value); }
  void assign(std::size_t /*trees*/, T value) { std::fill_n(values_, n, value); }
  T& operator[](std::size_t k) noexcept { return values_[k]; }
  const T& operator[](std::size_t k) const noexcept { return values_[k]; }
  T* begin() noexcept { return values_; }
  T* end() noexcept { return values_ + n; }
  operator c10::ArrayRef<T>() const noexcept { return c10::ArrayRef<T>(values_, n); }

 private:
  T values_[n] = {};
};

// One item for each tree; `trees` is 0 if the number is known at run time.
template <class T, std::size_t trees>
using Row = std::conditional_t<trees == 0, c10::SmallVector<T, 8>, Few<T, trees>>;

template <std::size_t trees>
struct WalkLevel {
  using Elements = std::vector<NodePtr>;

  // Rarely needed parts of a level.
  struct Aside {
    Row<const Elements*, trees> lists;           // elements of a lazy stack, and their counterparts
    c10::SmallVector<NodePtr, 1> read;           // nodes held only by the walk
    std::vector<std::unique_ptr<Elements>> cut;  // lists held only by the walk
    std::vector<std::string> names;              // for Take::looks
    c10::SmallVector<std::size_t, 8> order;      // of the visited entries, if not the dictionary's
  };

  explicit WalkLevel(std::size_t n) : nodes(n, nullptr), dicts(n, nullptr) {}
  Aside& more() {
    if (aside == nullptr) aside = std::make_unique<Aside>();
    return *aside;
  }

  Row<const Node*, trees> nodes;       // as met
  Row<const DenseNode*, trees> dicts;  // as read; nullptr: missing
  std::unique_ptr<Aside> aside;
  const Node* lead = nullptr;  // of the first tree that has a node
  std::size_t tree = 0;        // the tree whose names are walked
  std::size_t next = 0;
  std::uintptr_t scope = 0;
  bool lazy = false;
  bool looks = false;
  bool named = false;
  bool numbered = false;
  bool again = false;
};

}  // namespace td::detail
