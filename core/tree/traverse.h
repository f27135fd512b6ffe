// core/tree/traverse.h: walks graphs of nodes without recursion. The basis of the walk through entries
// (core/tree/engine.h), and of questions about a graph: locks, numbers of paths, cycles.
// Nodes may be shared, and a graph of a few dozen nodes may have more paths than can be walked. A walk works
// once for each combination of nodes, and remembers those that it may meet again; a node with a single holder
// is never met again. So for a tree it reads one count for each nested node, and allocates nothing. Work that
// lists paths by nature (keys, folders, callbacks with paths) uses a PathLimit.
#pragma once

#include "core/base/key.h"
#include "core/tree/node.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace td {

// The nodes at a position, one for each tree; nullptr if a tree lacks it.
using NodesHere = c10::ArrayRef<const Node*>;

// The number of pointers to a node.
inline std::size_t holders_of(const Node& node) noexcept {
  NodePtr pointer = NodePtr::reclaim(const_cast<Node*>(&node));
  const std::size_t n = pointer.use_count();
  pointer.release();
  return n;
}

// A walk's results for nodes that it may meet again.
template <class T>
class Memo {
 public:
  static bool concerns(NodesHere nodes) noexcept {
    return std::all_of(nodes.begin(), nodes.end(),
                       [](const Node* node) { return node == nullptr || holders_of(*node) > 1; });
  }

  // Returns `make()` for these nodes, called once. `with` is what the result also depends on. `make` may
  // recurse for other nodes.
  template <class Make>
  T once(NodesHere nodes, Make&& make, std::uintptr_t with = 0) {
    if (!concerns(nodes)) return make();
    if (const T* known = find(nodes, with)) return *known;
    T made = make();
    add(nodes, with, made);
    return made;
  }

  const T* find(NodesHere nodes, std::uintptr_t with = 0) const noexcept {
    if (index_ == nullptr) {
      for (const Entry& entry : entries_) {
        if (entry.is(nodes, with)) return &entry.made;
      }
      return nullptr;
    }
    const auto [first, last] = index_->equal_range(hash(nodes, with));
    for (auto at = first; at != last; ++at) {
      if (entries_[at->second].is(nodes, with)) return &entries_[at->second].made;
    }
    return nullptr;
  }

  void add(NodesHere nodes, std::uintptr_t with, T made) {
    Entry entry{{}, with, std::move(made)};
    for (const Node* node : nodes)
      entry.nodes.push_back(node == nullptr ? NodePtr() : retain(*node));
    entries_.push_back(std::move(entry));
    if (entries_.size() <= scan_limit) return;
    const std::size_t first = index_ == nullptr ? 0 : entries_.size() - 1;
    if (index_ == nullptr) index_ = std::make_unique<Index>();
    for (std::size_t i = first; i < entries_.size(); ++i) {
      c10::SmallVector<const Node*, 3> key;
      for (const NodePtr& node : entries_[i].nodes) key.push_back(node.get());
      index_->emplace(hash(key, entries_[i].with), i);
    }
  }

 private:
  static constexpr std::size_t scan_limit = 8;  // above it a table is faster than a scan
  using Index = std::unordered_multimap<std::size_t, std::size_t>;

  struct Entry {
    c10::SmallVector<NodePtr, 2> nodes;  // kept alive, so that their addresses stay unique
    std::uintptr_t with;
    T made;

    bool is(NodesHere others, std::uintptr_t other) const noexcept {
      if (with != other || nodes.size() != others.size()) return false;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].get() != others[i]) return false;
      }
      return true;
    }
  };

  static std::size_t hash(NodesHere nodes, std::uintptr_t with) noexcept {
    std::uint64_t hash = with;
    for (const Node* node : nodes) {
      hash = detail::mix(hash, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(node)));
    }
    return static_cast<std::size_t>(hash);
  }

  std::vector<Entry> entries_;
  std::unique_ptr<Index> index_;  // by hash
};

// Combinations of nodes that a walk has met.
class Seen {
 public:
  // False if these were met before.
  bool first(NodesHere nodes, std::uintptr_t with = 0) {
    bool met = true;
    memo_.once(
        nodes, [&] { return Met{met = false}; }, with);
    return !met;
  }

 private:
  struct Met {
    bool met;
  };
  Memo<Met> memo_;
};

// Pending work. Each combination of nodes is handled once.
template <class Item>
class Traversal {
 public:
  // Goes through `item` later.
  void add(Item item) { pending_.push_back(std::move(item)); }

  // Adds the item unless these nodes were met before.
  void add_once(NodesHere nodes, Item item, std::uintptr_t with = 0) {
    if (seen_.first(nodes, with)) add(std::move(item));
  }

  // Calls `step(Item&)`, which may add items, until none is left; last in, first out.
  template <class Step>
  void run(Step&& step) {
    while (!pending_.empty()) {
      Item item = pending_.pop_back_val();
      step(item);
    }
  }

  // Depth first, in entry order. `step(Item&)` continues the last item: it handles the next entry or adds its
  // content, and returns false at the end. Then `leave(Item&)` is called.
  template <class Step, class Leave>
  void run_in_order(Step&& step, Leave&& leave) {
    while (!pending_.empty()) {
      if (step(pending_.back())) continue;
      Item item = pending_.pop_back_val();
      leave(item);
    }
  }

  // Whether the current item is the first one, during run_in_order().
  bool outermost() const noexcept { return pending_.size() == 1; }

 private:
  c10::SmallVector<Item, 8> pending_;
  Seen seen_;
};

// How a walk continues: below a node, past it, or not at all.
enum class Go : std::uint8_t { on, past, end };

// Calls `f(Node&)` once for each node, parents before children. `f` may return a Go, or a bool: true ends the
// walk. Returns whether it was ended.
template <class F>
bool visit_nodes(const NodePtr& root, F&& f) {
  Traversal<Node*> walk;
  c10::SmallVector<Node*, 8> held;
  bool ended = false;
  walk.add(root.get());
  walk.run([&](Node* node) {
    if (ended) return;
    using Result = decltype(f(*node));
    if constexpr (std::is_same_v<Result, Go>) {
      const Go go = f(*node);
      ended = go == Go::end;
      if (go != Go::on) return;
    } else if constexpr (std::is_same_v<Result, bool>) {
      ended = f(*node);
      if (ended) return;
    } else {
      f(*node);
    }
    held.clear();
    node->collect(held);
    for (Node* inner : held) walk.add_once(inner, inner);
  });
  return ended;
}

// All nodes, each once, children before parents: for results that depend on the content.
std::vector<Node*> nodes_from_below(const NodePtr& root);

// Sums `f(const Node&)` over all paths: a shared node counts for each path, but is visited once. Saturates at
// the largest number.
template <class F>
std::size_t sum_of_paths(const NodePtr& root, F&& f) {
  using Held = c10::SmallVector<Node*, 4>;
  struct Level {
    const Node* node;
    Held held;
  };
  c10::SmallVector<std::size_t, 8> sums;  // by level, from the root on
  const auto add = [&](std::size_t n) {
    if (__builtin_add_overflow(sums.back(), n, &sums.back())) {
      sums.back() = std::numeric_limits<std::size_t>::max();
    }
  };
  Memo<std::size_t> memo;
  Traversal<Level> walk;
  const auto enter = [&](const Node* node) {
    Level level{node, {}};
    node->collect(level.held);
    sums.push_back(f(*node));
    walk.add(std::move(level));
  };
  enter(root.get());
  walk.run_in_order(
      [&](Level& level) {
        if (level.held.empty()) return false;
        const Node* const next = level.held.pop_back_val();
        if (const std::size_t* known = memo.find(next)) {
          add(*known);
        } else {
          enter(next);
        }
        return true;
      },
      [&](Level& level) {
        if (sums.size() == 1) return;
        const std::size_t sum = sums.pop_back_val();
        if (memo.concerns(level.node)) memo.add(level.node, 0, sum);
        add(sum);
      });
  return sums.back();
}

std::size_t count_paths(const NodePtr& root);

// Bounds walks along all paths. Counts them when a node is met again for the first time; Code::unsupported
// above a few million.
class PathLimit {
 public:
  explicit PathLimit(const Node& root) noexcept : root_(root) {}
  void enter(const Node& node) {
    if (!checked_ && holders_of(node) > 1 && !seen_.first(&node)) check();
  }

 private:
  void check();

  const Node& root_;
  Seen seen_;
  bool checked_ = false;
};

// Paths as linked names: each position costs one link, however deep it is.
class Trail {
 public:
  using Place = std::size_t;
  static constexpr Place root = static_cast<Place>(-1);

  // Adds a name below a position. The name must outlive the walk.
  Place below(Place above, std::string_view name) {
    steps_.push_back({above, name});
    return steps_.size() - 1;
  }

  // The path of a position, and of a name below it.
  PathBuffer path(Place place) const {
    PathBuffer names;
    for (; place != root; place = steps_[place].above) names.push_back(steps_[place].name);
    std::reverse(names.begin(), names.end());
    return names;
  }
  PathBuffer path(Place place, std::string_view name) const {
    PathBuffer names = path(place);
    names.push_back(name);
    return names;
  }

 private:
  struct Step {
    Place above;
    std::string_view name;
  };
  c10::SmallVector<Step, 4> steps_;
};

}  // namespace td
