// The structure of a tree: depth, skeleton, batch sizes, and removal of empty parts.
#include "core/keys/entries.h"
#include "core/tensor/assign.h"
#include "core/tree/batch_op.h"
#include "core/tree/lazy_elements.h"
#include "core/tree/traverse.h"
#include "core/tree/walk.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace td {

namespace {

// A copy that keeps only entries for which `keep(value)` holds.
template <class Keep>
class FilteredCopy : public WalkSink<Take::elements> {
 public:
  using Made = NodePtr;
  explicit FilteredCopy(Keep keep) : keep_(std::move(keep)) {}

  Take meet(const Here& here, NodesHere) {
    return here.is_entry() && !keep_(here.value()) ? Take::nothing : Take::elements;
  }
  void enter(const Here&, Dicts dicts) {
    auto made = c10::make_intrusive<DenseNode>(dicts[0]->batch(), dicts[0]->device());
    copy_tags(*dicts[0], *made);
    levels_.push_back({std::move(made), {}});
  }
  void enter_lazy(const Here&, const LazyNode&, NodesHere) { levels_.emplace_back(); }
  void leaf(const Here& here, Tensors) {
    if (keep_(here.value())) put(here, here.value());
  }
  void value(const Here& here, NodesHere nodes) {
    if (keep_(here.value())) put(here, TensorDict(retain(*nodes[0])).clone(false).node());
  }
  NodePtr leave(const Here& here, bool) {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    NodePtr made = std::move(level.dense);
    if (!made.defined()) {
      const auto& lazy = static_cast<const LazyNode&>(here.node());
      made = c10::make_intrusive<LazyNode>(std::move(level.elements), lazy.stack_dim(),
                                           lazy.batch(), lazy.device());
      copy_tags(lazy, *made);
    }
    put(here, made);
    return made;
  }
  void again(const Here& here, const NodePtr& made) {
    if (!here.is_entry() || keep_(here.value())) put(here, made);
  }

  NodePtr take() { return std::move(result_); }

 private:
  struct Level {
    c10::intrusive_ptr<DenseNode> dense;
    std::vector<NodePtr> elements;  // of a lazy stack
  };

  void put(const Here& here, Value value) {
    if (levels_.empty()) {
      result_ = value.take_node();
    } else if (levels_.back().dense.defined()) {
      levels_.back().dense->put(here.name(), std::move(value));
    } else {
      levels_.back().elements.push_back(value.take_node());
    }
  }

  Keep keep_;
  std::vector<Level> levels_;
  NodePtr result_;
};

template <class Keep>
TensorDict filtered_copy(const TensorDict& td, Keep keep) {
  if (!is_dict(*td.node())) fail(Code::wrong_entry, "this entry is a value, not a dictionary");
  FilteredCopy<Keep> copy(std::move(keep));
  walk(td.node(), copy, all_entries());
  return TensorDict(copy.take());
}

// All dictionaries of a tree, each once and behind those that it holds.
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
  if (is_part(*td.node())) {
    fail(Code::unsupported, "keys of a sub-tensordict cannot be removed in place");
  }
  if (!is_dict(*td.node())) fail(Code::wrong_entry, "this entry is a value, not a dictionary");
  const std::vector<Node*> nodes = dicts_of(td.node());
  std::unordered_map<const Node*, bool> has_content;
  for (Node* node : nodes) {
    c10::SmallVector<Node*, 8> held;
    node->collect(held);
    const DenseNode* dense = as_dense(node);
    bool content = dense != nullptr && dense->size() > held.size();
    for (const Node* inner : held) content = content || !is_dict(*inner) || has_content[inner];
    has_content[node] = content;
  }
  const auto stays = [&](const Value& value) {
    return !is_dict(value) || has_content[value.node().get()];
  };
  Changes changes;
  for (const Node* node : nodes) {
    const DenseNode* dense = as_dense(node);
    if (dense == nullptr) continue;
    bool all = true;
    for (std::size_t i = 0; i < dense->size(); ++i) all = all && stays(dense->value(i));
    if (all) continue;
    require_unlocked(*dense);
    DenseNode& kept = changes.replace(*dense);
    for (std::size_t i = 0; i < dense->size(); ++i) {
      if (stays(dense->value(i))) kept.put(dense->name(i), dense->value(i));
    }
  }
  changes.run();
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
    const Value* value = static_cast<const DenseNode&>(element).find(name);
    least = std::min(least, depth_below(*value, known));
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
    if (const DenseNode* dense = as_dense(node)) {
      for (std::size_t i = 0; i < dense->size(); ++i) {
        deepest = std::max(deepest, depth_below(dense->value(i), known));
      }
    } else {
      for (const std::string& name : entry_names(*node)) {
        deepest = std::max(deepest, depth_below(static_cast<const LazyNode&>(*node), name, known));
      }
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

void auto_batch_size(const TensorDict& td, std::int64_t max_dims, bool keep_compliant) {
  if (!holds_entries(*td.node())) {
    fail(Code::unsupported,
         "the batch size of a lazy stack or a sub-tensordict follows from its content");
  }
  const std::vector<Node*> nodes = dicts_of(td.node());
  std::unordered_map<const Node*, Sizes> sizes;  // of nodes that will change
  std::unordered_map<const Node*, bool> empty;
  const auto limited = [&](SizesView full) {
    const std::size_t n =
        max_dims < 0 ? full.size() : std::min(full.size(), static_cast<std::size_t>(max_dims));
    return Sizes(full.begin(), full.begin() + static_cast<std::ptrdiff_t>(n));
  };
  for (const Node* each : nodes) {
    const DenseNode* node = as_dense(each);
    if (node == nullptr) {
      empty[each] = false;
      continue;  // a lazy stack keeps its batch size
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
    for (std::size_t i = 0; i < node->size(); ++i) {
      const Value& value = node->value(i);
      if (!value.is_node()) {
        meet(value.tensor().sizes());
      } else if (as_lazy(value.node().get()) != nullptr || is_nested_tensor(*value.node())) {
        meet(value.node()->batch());
      } else if (is_dict(value) && !empty[value.node().get()]) {
        const auto changed = sizes.find(value.node().get());
        meet(changed != sizes.end() ? SizesView(changed->second) : value.node()->batch());
      }
    }
    empty[node] = !common;
    const bool compliant = node != td.node().get() && keep_compliant && max_dims >= 0 &&
                           node->batch().size() >= static_cast<std::size_t>(max_dims);
    if (!compliant) sizes[node] = common ? *common : limited(node->batch());
  }
  // A dictionary without tensors takes its parent's batch size.
  Changes changes;
  for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
    const Node* node = *at;
    const auto changed = sizes.find(node);
    if (changed != sizes.end()) plan_batch(changes, *node, changed->second);
    const SizesView now = changed != sizes.end() ? SizesView(changed->second) : node->batch();
    const Sizes batch(now.begin(), now.end());
    const DenseNode* dense = as_dense(node);
    for (std::size_t i = 0; dense != nullptr && i < dense->size(); ++i) {
      const Value& value = dense->value(i);
      if (!value.is_node()) continue;
      const Node& inner = *value.node();
      if (one_value(inner) != nullptr) {
        plan_batch(changes, inner, batch);
      } else if (is_dict(value) && empty[&inner] && !begins_with(sizes[&inner], batch)) {
        sizes[&inner] = batch;
      }
    }
  }
  changes.run();
}

}  // namespace td
