// The tree itself: its depth, its skeleton, its batch sizes, and what can be left out of it.
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

// A copy in which entries are left out: those for which `keep(value)` does not hold.
template <class Keep>
NodePtr filtered_copy(const NodePtr& root, Keep keep) {
  struct Pair {
    const DenseNode* source;
    DenseNode* target;  // held by the result
  };
  Traversal<Pair> walk;
  Memo<NodePtr> memo;
  const auto make = [&](const auto& self, const NodePtr& node) -> NodePtr {
    if (const LazyNode* lazy = as_lazy(node.get()); lazy != nullptr && !lazy->holds_non_tensor()) {
      std::vector<NodePtr> elements;
      for (const NodePtr& element : lazy->elements()) {
        elements.push_back(memo.once(element.get(), [&] { return self(self, element); }));
      }
      auto result = c10::make_intrusive<LazyNode>(std::move(elements), lazy->stack_dim(),
                                                  lazy->batch(), lazy->device());
      copy_tags(*lazy, *result);
      return result;
    }
    const DenseNode* dense = as_dense(node.get());
    if (dense == nullptr) return TensorDict(node).clone(false).node();
    auto target = c10::make_intrusive<DenseNode>(dense->batch(), dense->device());
    copy_tags(*dense, *target);
    walk.add({dense, target.get()});
    return target;
  };
  NodePtr result = make(make, root);
  walk.run([&](const Pair& at) {
    for (std::size_t i = 0; i < at.source->size(); ++i) {
      const Value& value = at.source->value(i);
      if (!keep(value)) continue;
      if (!value.is_node()) {
        at.target->put(at.source->name(i), value);
        continue;
      }
      const NodePtr& node = value.node();
      at.target->put(at.source->name(i), memo.once(node.get(), [&] { return make(make, node); }));
    }
  });
  return result;
}

// All dictionaries of a tree, each once and behind those that it holds.
std::vector<Node*> dicts_of(const NodePtr& root) {
  std::vector<Node*> nodes = nodes_from_below(root);
  const auto is_value = [](const Node* node) { return is_opaque(*node); };
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), is_value), nodes.end());
  return nodes;
}

}  // namespace

TensorDict empty(const TensorDict& td, bool recurse) {
  const NodePtr root =
      td.node()->kind() == NodeKind::sub_tensordict ? dense_form(td.node()) : td.node();
  if (is_opaque(*root)) fail(Code::wrong_entry, "this entry is a value, not a dictionary");
  return TensorDict(
      filtered_copy(root, [&](const Value& value) { return recurse && is_dict(value); }));
}

TensorDict filter_non_tensor(const TensorDict& td) {
  if (is_opaque(*td.node())) fail(Code::wrong_entry, "this entry is a value, not a dictionary");
  const NodePtr root =
      td.node()->kind() == NodeKind::sub_tensordict ? dense_form(td.node()) : td.node();
  return TensorDict(
      filtered_copy(root, [](const Value& value) { return !value.is_node() || is_dict(value); }));
}

void remove_empty(const TensorDict& td) {
  if (td.node()->kind() == NodeKind::sub_tensordict) {
    fail(Code::unsupported, "keys of a sub-tensordict cannot be removed in place");
  }
  if (is_opaque(*td.node())) fail(Code::wrong_entry, "this entry is a value, not a dictionary");
  const std::vector<Node*> nodes = dicts_of(td.node());
  std::unordered_map<const Node*, bool> has_content;
  for (Node* node : nodes) {
    c10::SmallVector<NodePtr, 8> held;
    node->collect(held);
    const DenseNode* dense = as_dense(node);
    bool content = dense != nullptr && dense->size() > held.size();
    for (const NodePtr& inner : held)
      content = content || is_opaque(*inner) || has_content[inner.get()];
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

// How many names the longest path below a dictionary has.
using Depths = std::unordered_map<const Node*, std::size_t>;

std::size_t depth_below(const Value& value, const Depths& known) {
  if (!is_dict(value)) return 1;
  const auto found = known.find(value.node().get());
  return found == known.end() || found->second == 0 ? 0 : 1 + found->second;
}

// Of a name that all elements of a lazy stack have.
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
  const NodePtr root =
      td.node()->kind() == NodeKind::sub_tensordict ? dense_form(td.node()) : td.node();
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
  if (as_dense(td.node().get()) == nullptr) {
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
      } else if (value.node()->kind() == NodeKind::lazy ||
                 value.node()->kind() == NodeKind::nested_tensor) {
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
  // What has no tensors takes the batch size of the dictionary that holds it.
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
      if (inner.kind() == NodeKind::non_tensor) {
        plan_batch(changes, inner, batch);
      } else if (is_dict(value) && empty[&inner] && !begins_with(sizes[&inner], batch)) {
        sizes[&inner] = batch;
      }
    }
  }
  changes.run();
}

}  // namespace td
