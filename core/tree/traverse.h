// core/tree/traverse.h: graphs of nodes, gone through without recursion. The walk through entries
// (core/tree/engine.h) stands on it, and so do questions about a graph: locks, counts of paths, cycles.
//
// A node may stand in several places, and a graph of some dozen nodes may so have more paths than can be
// walked. A walk does its work once for each combination of nodes that it meets, and remembers those that
// it can meet again: where one of the nodes has a single holder it cannot. So a tree pays one look at a
// count for each nested node, and nothing is allocated. What is by nature a list of paths (keys, folders,
// a function that is told the path) asks a PathLimit.
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

// The nodes of a place, one for each tree; nullptr where a tree has none.
using NodesHere = c10::ArrayRef<const Node*>;

// How many pointers lead to a node.
inline std::size_t holders_of(const Node& node) noexcept {
  NodePtr pointer = NodePtr::reclaim(const_cast<Node*>(&node));
  const std::size_t n = pointer.use_count();
  pointer.release();
  return n;
}

// What a walk has made of the nodes that it can meet again.
template <class T>
class Memo {
 public:
  static bool concerns(NodesHere nodes) noexcept {
    return std::all_of(nodes.begin(), nodes.end(),
                       [](const Node* node) { return node == nullptr || holders_of(*node) > 1; });
  }

  // What `make()` makes of these nodes, once. `with` tells apart what else the result depends on. `make`
  // may ask for other nodes.
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
  static constexpr std::size_t scan_limit = 8;  // above it a table is quicker than a scan
  using Index = std::unordered_multimap<std::size_t, std::size_t>;

  struct Entry {
    c10::SmallVector<NodePtr, 2> nodes;  // kept alive, for their addresses
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
  std::unique_ptr<Index> index_;  // of hashes
};

// Which combinations of nodes a walk has met.
class Seen {
 public:
  // False for one that was met before.
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

// What is still to be gone through. Each combination of nodes is taken up once.
template <class Item>
class Traversal {
 public:
  // Goes through `item` later.
  void add(Item item) { pending_.push_back(std::move(item)); }

  // The same, unless these nodes were met before.
  void add_once(NodesHere nodes, Item item, std::uintptr_t with = 0) {
    if (seen_.first(nodes, with)) add(std::move(item));
  }

  // Calls `step(Item&)` until nothing is left; it adds what it finds. What was added last comes first.
  template <class Step>
  void run(Step&& step) {
    while (!pending_.empty()) {
      Item item = pending_.pop_back_val();
      step(item);
    }
  }

  // Depth first, in the order of the entries. `step(Item&)` goes on with the item that was added last: it
  // handles the next entry, or adds what lies below it, and returns false when there is no further one.
  // Then `leave(Item&)` is called, when all below the item is done.
  template <class Step, class Leave>
  void run_in_order(Step&& step, Leave&& leave) {
    while (!pending_.empty()) {
      if (step(pending_.back())) continue;
      Item item = pending_.pop_back_val();
      leave(item);
    }
  }

  // The item that holds the one which is gone through, while run_in_order() runs.
  bool outermost() const noexcept { return pending_.size() == 1; }

 private:
  c10::SmallVector<Item, 8> pending_;
  Seen seen_;
};

// Whether a walk goes on: below a node, past it, or not at all.
enum class Go : std::uint8_t { on, past, end };

// Calls `f(Node&)` for the root and every node below it, of any kind, each once, a node before those that
// it holds. `f` may return a Go, or a bool: true ends the walk. Returns whether it was ended.
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

// The root and all nodes below it, each once, behind those that it holds: what is known of a node can be
// worked out in this order.
std::vector<Node*> nodes_from_below(const NodePtr& root);

// The sum of what `f(const Node&)` gives over all paths: a node that stands in several places counts in
// each, and is looked at once. A sum that is too large is the largest number there is.
template <class F>
std::size_t sum_of_paths(const NodePtr& root, F&& f) {
  using Held = c10::SmallVector<Node*, 4>;
  struct Level {
    const Node* node;
    Held held;
  };
  c10::SmallVector<std::size_t, 8> sums;  // of the levels, from the root on
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

// How many paths lead to the root and the nodes below it.
std::size_t count_paths(const NodePtr& root);

// Whether a walk along all paths can be made. When it comes to a node again for the first time, paths are
// counted; Code::unsupported where there are more than a few million.
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

// The names from the root to a place, kept as links: each place costs one, however deep it lies.
class Trail {
 public:
  using Place = std::size_t;
  static constexpr Place root = static_cast<Place>(-1);

  // The place of a name below another place. The name must live as long as the walk.
  Place below(Place above, std::string_view name) {
    steps_.push_back({above, name});
    return steps_.size() - 1;
  }

  // The path to a place, and to a name below it.
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
