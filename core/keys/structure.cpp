// The structure of a tree: depth, skeleton, batch sizes, and removal of empty parts.
#include "core/keys/entries.h"
#include "core/keys/filter.h"
#include "core/tensor/assign.h"
#include "core/tree/engine.h"
#include "core/tree/lazy_elements.h"
#include "core/tree/traverse.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

namespace td {

namespace {

// A copy that keeps only entries for which `keep(value)` holds.
TensorDict filtered_copy(const TensorDict& td, c10::function_ref<bool(const Value&)> keep) {
  class Keep final : public Picker {
   public:
    explicit Keep(c10::function_ref<bool(const Value&)> keep) : keep_(keep) {}
    void pick(std::uint32_t level, const DenseNode& source, Picks& picks) const override {
      for (std::size_t i = 0; i < source.size(); ++i) {
        const Value& value = source.value(i);
        if (keep_(value) && !picks.add(source, i, level)) picks.add(source, i, Picks::whole);
      }
      picks.take_names(source);
    }

   private:
    c10::function_ref<bool(const Value&)> keep_;
  };
  require_dict(*td.node());
  return TensorDict(filter(td.node(), Keep(keep), /*inplace=*/false));
}

// Plans to erase the nested dictionaries that hold nothing but such dictionaries.
class RemoveEmpty : public WalkSink<Take::elements> {
 public:
  using Made = bool;  // whether there is content

  Take meet(const Here& here, NodesHere) {
    next_ = here.is_entry() ? Place{&here.holder(), here.index()} : Place{};
    return Take::elements;
  }
  void enter(const Here&, Dicts) { levels_.push_back({next_, false}); }
  void enter_lazy(const Here&, const LazyNode&, NodesHere) { levels_.push_back({next_, false}); }
  void leaf(const Here&, Tensors) { levels_.back().content = true; }
  void value(const Here&, NodesHere) { levels_.back().content = true; }
  bool leave(const Here&, bool) {
    const Level level = levels_.back();
    levels_.pop_back();
    add(level.place, level.content);
    return level.content;
  }
  void again(const Here& here, bool content) {
    add(here.is_entry() ? Place{&here.holder(), here.index()} : Place{}, content);
  }

  void run() { changes_.run(); }

 private:
  struct Place {
    const DenseNode* holder = nullptr;  // nullptr: the root, or an element of a lazy stack
    std::size_t index = 0;
  };
  struct Level {
    Place place;
    bool content;
  };

  void add(const Place& place, bool content) {
    if (content) {
      if (!levels_.empty()) levels_.back().content = true;
    } else if (place.holder != nullptr) {
      require_unlocked(*place.holder);
      changes_.erase(*place.holder, place.index);
    }
  }

  Place next_;
  std::vector<Level> levels_;
  Changes changes_;
};

// All dictionaries of a tree, each once, children before parents.
std::vector<Node*> dicts_of(const NodePtr& root) {
  std::vector<Node*> nodes = nodes_from_below(root);
  const auto is_value = [](const Node* node) { return !is_dict(*node); };
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), is_value), nodes.end());
  return nodes;
}

}  // namespace

TensorDict empty(const TensorDict& td, bool recurse) {
  return filtered_copy(td, [&](const Value& value) { return recurse && is_dict(value); });
}

TensorDict filter_non_tensor(const TensorDict& td) {
  return filtered_copy(td, [](const Value& value) { return !value.is_node() || is_dict(value); });
}

void remove_empty(const TensorDict& td) {
  require_own(*td.node(), "keys of a sub-tensordict cannot be removed in place");
  require_dict(*td.node());
  RemoveEmpty removal;
  walk(td.node(), removal, all_entries());
  removal.run();
}

namespace {

// The length of the longest path below a dictionary.
using Depths = std::unordered_map<const Node*, std::size_t>;

std::size_t depth_below(const Value& value, const Depths& known) {
  if (!is_dict(value)) return 1;
  const auto found = known.find(value.node().get());
  return found == known.end() || found->second == 0 ? 0 : 1 + found->second;
}

// For a name shared by all elements of a lazy stack.
std::size_t depth_below(const LazyNode& lazy, const std::string& name, const Depths& known) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  holds_for_all(lazy, [&](const Node& element) {
    least = std::min(least, depth_below(*element.entry(name), known));
    return least != 0;
  });
  return least;
}

}  // namespace

std::size_t depth(const TensorDict& td) {
  const NodePtr root = part_form(td.node());
  Depths known;
  for (const Node* node : dicts_of(root)) {
    std::size_t& deepest = known[node];
    if (is_lazy_stack(*node)) {
      for (const std::string& name : entry_names(*node))
        deepest = std::max(deepest, depth_below(stack_of(*node), name, known));
    } else {
      for_each_entry(*node, [&](const std::string&, const Value& value) {
        deepest = std::max(deepest, depth_below(value, known));
      });
    }
  }
  const std::size_t deepest = known[root.get()];
  return deepest == 0 ? 0 : deepest - 1;
}

Sizes entry_sizes(const TensorDict& td, Path path) {
  const Value* stored = find_stored(td.node(), path);
  const Value value = stored != nullptr ? *stored : find_entry(td.node(), path);
  const SizesView sizes = value.is_node() ? value.node()->batch() : value.tensor().sizes();
  return Sizes(sizes.begin(), sizes.end());
}

namespace {

// Lazy stacks and what is below them. `nodes`: inner ones first.
std::unordered_set<const Node*> stacks_and_below(const std::vector<Node*>& nodes) {
  std::unordered_set<const Node*> found;
  c10::SmallVector<Node*, 8> held;
  for (std::size_t at = nodes.size(); at-- > 0;) {
    if (holds_entries(*nodes[at]) && found.count(nodes[at]) == 0) continue;
    held.assign(1, nodes[at]);
    nodes[at]->collect(held);
    found.insert(held.begin(), held.end());
  }
  return found;
}

}  // namespace

void auto_batch_size(const TensorDict& td, std::int64_t max_dims, bool keep_compliant) {
  require_entries(*td.node(),
                  "the batch size of a lazy stack or a sub-tensordict follows from its content");
  const std::vector<Node*> nodes = dicts_of(td.node());
  const std::unordered_set<const Node*> kept = stacks_and_below(nodes);
  std::unordered_map<const Node*, Sizes> sizes;  // of nodes that will change
  std::unordered_map<const Node*, bool> empty;
  std::vector<std::vector<const Node*>> without(nodes.size());  // entries without a tensor in them
  const auto limited = [&](SizesView full) {
    const std::size_t n =
        max_dims < 0 ? full.size() : std::min(full.size(), static_cast<std::size_t>(max_dims));
    return Sizes(full.begin(), full.begin() + static_cast<std::ptrdiff_t>(n));
  };
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const Node* node = nodes[at];
    if (kept.count(node) != 0) {
      empty[node] = false;
      continue;  // a lazy stack keeps its batch size, and with it its elements
    }
    std::optional<Sizes> common;
    const auto meet = [&](SizesView entry) {
      if (!common) {
        common = limited(entry);
        return;
      }
      std::size_t n = 0;
      while (n < common->size() && n < entry.size() && (*common)[n] == entry[n]) ++n;
      common->resize(n);
    };
    for_each_entry(*node, [&](const std::string&, const Value& value) {
      const Node* inner = value.node().get();
      if (inner == nullptr) return meet(value.tensor().sizes());
      if (one_value(*inner) != nullptr || (is_dict(value) && empty[inner]))
        return without[at].push_back(inner);
      const auto changed = sizes.find(inner);
      meet(changed != sizes.end() ? SizesView(changed->second) : inner->batch());
    });
    empty[node] = !common;
    const bool compliant = node != td.node().get() && keep_compliant && max_dims >= 0 &&
                           node->batch().size() >= static_cast<std::size_t>(max_dims);
    if (!compliant) sizes[node] = common ? *common : limited(node->batch());
  }
  // A dictionary without tensors takes its parent's batch size.
  Changes changes;
  for (std::size_t at = nodes.size(); at-- > 0;) {
    const Node* node = nodes[at];
    const auto changed = sizes.find(node);
    if (changed != sizes.end()) plan_batch(changes, *node, changed->second);
    const SizesView now = changed != sizes.end() ? SizesView(changed->second) : node->batch();
    const Sizes batch(now.begin(), now.end());
    for (const Node* inner : without[at]) {
      if (one_value(*inner) != nullptr) {
        plan_batch(changes, *inner, batch);
      } else if (!begins_with(sizes[inner], batch)) {
        sizes[inner] = batch;
      }
    }
  }
  changes.run();
}

}  // namespace td
