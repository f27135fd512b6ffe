#include "core/keys/filter.h"

#include "core/tree/changes.h"
#include "core/tree/engine.h"
#include "core/tree/paths.h"
#include "core/tree/tensordict.h"

namespace td {

namespace {

class Filter : public WalkSink<Take::elements> {
 public:
  struct Made {
    NodePtr node;
    const DenseNode* entries = nullptr;  // for a dictionary: its future content
    bool emptied = false;
  };
  static constexpr bool picks = true;

  Filter(const Picker& which, bool inplace) : which_(which), inplace_(inplace) {}

  NodePtr run(const NodePtr& root) {
    walk(root, *this, all_entries());
    changes_.run();
    return std::move(result_);
  }

  std::uintptr_t scope(const Here&) const noexcept { return below(); }
  Take meet(const Here& here, NodesHere) {
    if (below() != Picks::whole) return Take::elements;
    put(whole(here.value()));
    return Take::nothing;
  }
  void pick(const Here&, const DenseNode& source, c10::SmallVectorImpl<std::size_t>& order) {
    Picks picks{order};
    which_.pick(below(), source, picks);
    auto made = c10::make_intrusive<DenseNode>(picks.names, source.batch(), source.device());
    made->reserve(order.size());
    Level level;
    level.entries = made.get();
    level.below = std::move(picks.below);
    if (inplace_) {
      require_unlocked(source);
      level.node = retain(source);
      changes_.replace(source, std::move(made));
    } else {
      copy_tags(source, *made);
      level.node = std::move(made);
    }
    levels_.push_back(std::move(level));
  }
  void enter_lazy(const Here&, const LazyNode&, NodesHere) {
    Level level;
    level.below.push_back(below());
    levels_.push_back(std::move(level));
  }
  void leaf(const Here& here, Tensors) { put(here.value()); }
  void value(const Here& here, NodesHere) { put(whole(here.value())); }
  Made leave(const Here& here, bool) {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    Made made{std::move(level.node), level.entries};
    if (level.entries != nullptr) {
      for (; !level.emptied.empty(); level.emptied.pop_back())
        level.entries->erase(level.emptied.back());
      made.emptied = level.entries->size() == 0 && here.holder().size() != 0;
    } else {
      const LazyNode& lazy = stack_of(here.node());
      made.node = inplace_ ? retain(lazy) : NodePtr(lazy.with_elements(std::move(level.elements)));
    }
    again(here, made);
    return made;
  }
  void again(const Here&, const Made& made) {
    if (made.emptied && which_.drops_emptied() && !levels_.empty() &&
        levels_.back().entries != nullptr)
      levels_.back().emptied.push_back(levels_.back().done);
    put(made.node);
  }

 private:
  struct Level {
    NodePtr node;
    DenseNode* entries = nullptr;  // for a dictionary; held by the result or the changes
    c10::SmallVector<std::uint32_t, 8> below;  // for each entry; for a lazy stack one for all
    std::size_t done = 0;
    std::vector<std::size_t> emptied;
    std::vector<NodePtr> elements;  // of a lazy stack
  };

  // The level of keys for the current node.
  std::uint32_t below() const noexcept {
    return levels_.empty() ? 0 : levels_.back().below[levels_.back().done];
  }

  // Keeps an entry unchanged. A copy gets its own dictionaries.
  Value whole(const Value& value) {
    if (!value.is_node() || inplace_) return value;
    return copies_.once(value.node().get(),
                        [&] { return TensorDict(value.node()).clone(false).node(); });
  }

  void put(Value value) {
    if (levels_.empty()) {
      result_ = value.take_node();
    } else if (Level& level = levels_.back(); level.entries != nullptr) {
      level.entries->push_value(std::move(value));
      ++level.done;
    } else {
      level.elements.push_back(value.take_node());
    }
  }

  const Picker& which_;
  const bool inplace_;
  c10::SmallVector<Level, 2> levels_;
  Memo<NodePtr> copies_;
  Changes changes_;
  NodePtr result_;
};

}  // namespace

NodePtr filter(const NodePtr& root, const Picker& picker, bool inplace) {
  return Filter(picker, inplace).run(root);
}

}  // namespace td
