// core/tree/engine.h: walks the entries of one or several trees in parallel, without recursion. map(), zip()
// and the visitors are sinks of it, as are joins, comparisons, prints, packing and saving.
// The walk knows the kinds of nodes; sinks need not. It calls the sink for each dictionary and entry, depth
// first, in key order. The sink's meet() chooses how to enter a node: as it reads, by the elements of a lazy
// stack, or not at all. By elements, the walk meets keys that only some elements have; as it reads, a stack
// has the keys shared by all.
// A shared combination of nodes is entered once, and the sink receives its earlier result again;
// WalkRules::each_path follows every path instead, within a PathLimit.
#pragma once

#include "core/tree/sink.h"
#include "core/tree/walk_level.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace td {

namespace detail {

[[noreturn]] void fail_missing(const WalkRules& rules, Path path, std::size_t tree);
void refuse_nested_tensor(const WalkRules& rules, Path path, NodesHere nodes);
[[noreturn]] void fail_mixed(const WalkRules& rules, Path path);

// The counterparts of a lazy stack's elements in a node of another kind.
std::vector<NodePtr> parts_beside(const WalkRules& rules, Path path, const LazyNode& lazy,
                                  const Node& other);

const NestedTensorNode& nested_tensor_of(const Node& node) noexcept;

template <class Sink, class = void>
constexpr bool tells_nested_tensors = false;
template <class Sink>
constexpr bool tells_nested_tensors<
    Sink,
    std::void_t<decltype(std::declval<Sink&>().nested_tensor(
        std::declval<const Here&>(), std::declval<const NestedTensorNode&>(), NodesHere()))>> =
    true;

}  // namespace detail

// `Trees` is 1 or 2, or 0 for any number of them.
template <class Sink, std::size_t Trees>
class Walk : private Here {
 public:
  using Made = typename Sink::Made;

  // `memo`: results for nodes, shared by several walks.
  Walk(const WalkRules& rules, Sink& sink, Memo<Made>* memo = nullptr)
      : rules_(rules), sink_(sink), memo_(memo == nullptr ? own_memo_ : *memo) {}

  void run(c10::ArrayRef<NodePtr> roots) {
    trees_ = roots.size();
    detail::Row<const Node*, Trees> nodes(trees());
    for (std::size_t k = 0; k < trees(); ++k) nodes[k] = roots[k].get();
    start(std::move(nodes));
  }

  // The same. The caller holds the roots.
  void start(detail::Row<const Node*, Trees> nodes) {
    bool opaque = false;
    for (std::size_t k = 0; k < trees(); ++k) {
      opaque = opaque || is_value(*nodes[k]);
      if (rules_.each_path) limits_.emplace_back(*nodes[k]);
    }
    node_ = nodes[0];
    if (opaque) {
      if (!is_value(*node_)) return mixed();
      for (std::size_t k = 0; k < trees(); ++k) nodes[k] = is_value(*nodes[k]) ? nodes[k] : nullptr;
      detail::refuse_nested_tensor(rules_, {}, nodes);
      return tell(nodes);
    }
    begin(nodes);
    while (!levels_.empty() && !sink_.done()) {
      if (!go_on(levels_.back()) && !sink_.done()) leave();
    }
  }

 private:
  template <class T>
  using Row = detail::Row<T, Trees>;
  using Level = detail::WalkLevel<Trees>;
  using Elements = typename Level::Elements;

  std::size_t trees() const noexcept { return Trees == 0 ? trees_ : Trees; }

  // Whether levels list the entries to visit.
  bool in_order() const noexcept { return Sink::picks || rules_.sorted; }

  bool is_value(const Node& node) const noexcept {
    return is_opaque(node) && !(Sink::opens_values && node.kind() == NodeKind::value_stack);
  }

  // Returns true when a level has begun, false when this one is finished.
  bool go_on(Level& level) {
    node_ = level.lead;
    is_entry_ = !level.lazy && !level.looks;
    name_ = nullptr;
    if (level.lazy) return next_element(level);
    if (level.looks) return next_name(level);
    for (;;) {
      node_ = level.dicts[level.tree];
      const std::size_t n =
          in_order() ? level.aside->order.size() : level.dicts[level.tree]->size();
      while (level.next < n && !sink_.done()) {
        if (next_entry(level)) return true;
      }
      if (sink_.done() || !next_tree(level)) return false;
    }
  }

  // Moves to names that only later trees have.
  bool next_tree(Level& level) {
    if (Trees == 1 || rules_.missing != WalkRules::Missing::fill || rules_.ignore_extra)
      return false;
    do {
      ++level.tree;
    } while (level.tree < trees() && level.dicts[level.tree] == nullptr);
    if (level.tree == trees()) return false;
    level.next = 0;
    return true;
  }

  bool next_entry(Level& level) {
    if constexpr (Sink::leaps) {
      level.next = sink_.leap(level.next);
      if (level.next == level.dicts[0]->size()) return false;
    }
    std::size_t i = level.next++;
    if (in_order()) i = level.aside->order[i];
    index_ = i;
    if constexpr (Trees == 1) {
      const Value& value = level.dicts[0]->value(i);
      if (!value.is_node()) {
        sink_.leaf(*this, Row<const at::Tensor*>(1, &value.tensor()));
        return false;
      }
      const Row<const Node*> node(1, value.node().get());
      if (!is_value(*node[0])) return begin(node);
      detail::refuse_nested_tensor(rules_, nested_tensor_path(), node);
      tell(node);
      return false;
    } else {
      return next_row(level, i);
    }
  }

  bool next_row(Level& level, std::size_t i) {
    const DenseNode& from = *level.dicts[level.tree];
    nodes_.assign(trees(), nullptr);
    tensors_.assign(trees(), nullptr);
    std::size_t nodes = 0, opaque = 0, missing = 0;
    std::size_t lead = trees();
    for (std::size_t k = 0; k < trees(); ++k) {
      const DenseNode* dict = level.dicts[k];
      const std::size_t at = dict == nullptr   ? Schema::npos
                             : k == level.tree ? i
                                               : KeyMatch(from, *dict)(i);
      if (at == Schema::npos) {
        ++missing;
        continue;
      }
      if (k < level.tree) return false;  // already walked
      lead = std::min(lead, k);
      const Value& value = dict->value(at);
      if (!value.is_node()) {
        tensors_[k] = &value.tensor();
        continue;
      }
      ++nodes;
      nodes_[k] = value.node().get();
      opaque += is_value(*nodes_[k]) ? 1 : 0;
    }
    if (missing != 0 && rules_.missing != WalkRules::Missing::fill) {
      if (rules_.missing == WalkRules::Missing::error) fail_absent();
      sink_.skip(*this);
    } else if (nodes == 0) {
      sink_.leaf(*this, tensors_);
    } else if (opaque == 0 && nodes == trees() - missing) {
      return begin(nodes_);
    } else {
      detail::refuse_nested_tensor(rules_, nested_tensor_path(), nodes_);
      if (nodes_[lead] == nullptr || !is_value(*nodes_[lead])) {
        mixed();
      } else {
        for (const Node*& node : nodes_) {
          if (node != nullptr && !is_value(*node)) node = nullptr;
        }
        tell(nodes_, lead);
      }
    }
    return false;
  }

  bool next_element(Level& level) {
    const std::size_t k = level.next++;
    const Row<const Elements*>& lists = level.aside->lists;
    if (k == lists[0]->size()) return false;
    Row<const Node*> nodes(trees(), nullptr);
    for (std::size_t tree = 0; tree < trees(); ++tree) {
      if (lists[tree] != nullptr) nodes[tree] = (*lists[tree])[k].get();
    }
    index_ = k;
    if (rules_.numbered) {
      number_ = std::to_string(k);
      name_ = &number_;
    }
    if (Sink::opens_values && is_value(*nodes[0])) {
      tell(nodes);
    } else {
      begin(nodes);
    }
    return true;
  }

  // Walks the names of a node that is not dense. Reads only nodes.
  bool next_name(Level& level) {
    const NodePtr holder = retain(*level.lead);
    std::vector<std::string>& names = level.aside->names;
    while (level.next < names.size()) {
      const std::string& name = names[level.next++];
      name_ = &name;
      if (kind_below(holder, name) == EntryKind::tensor) {
        sink_.look(*this, holder, name);
        continue;
      }
      level.aside->read.clear();  // the previous node is finished
      level.aside->read.push_back(entry_of(holder, name)->take_node());
      const Row<const Node*> nodes(1, level.aside->read.back().get());
      if (is_value(*nodes[0])) {
        tell(nodes);
      } else if (begin(nodes)) {
        return true;
      }
    }
    return false;
  }

  void tell(const Row<const Node*>& nodes, std::size_t lead = 0) {
    if constexpr (detail::tells_nested_tensors<Sink>) {
      if (is_nested_tensor(*nodes[lead]))
        return sink_.nested_tensor(*this, detail::nested_tensor_of(*nodes[lead]), nodes);
    }
    sink_.value(*this, nodes);
  }

  // Returns false if there is nothing to enter.
  bool begin(const Row<const Node*>& nodes) {
    bool again = false;
    std::uintptr_t scope = 0;
    if (!rules_.each_path && !is_root_ && Memo<Made>::concerns(nodes)) {
      scope = sink_.scope(*this);
      if (const Made* made = memo_.find(nodes, scope)) {
        sink_.again(*this, *made);
        return false;
      }
      again = true;
    }
    const Take take = sink_.meet(*this, nodes);
    const Node* const last = nodes[trees() - 1];
    const LazyNode* const stack =
        take == Take::into && last != nullptr ? as_dict_stack(last) : nullptr;
    if (stack != nullptr) sink_.stack(*this, *stack, nodes);
    if (stack != nullptr || take == Take::nothing ||
        (take == Take::whole && !is_root_ && !dense(nodes))) {
      is_root_ = false;
      return false;
    }
    for (std::size_t k = 0; rules_.each_path && k < trees(); ++k) {
      if (nodes[k] != nullptr && !is_root_) limits_[k].enter(*nodes[k]);
    }
    levels_.emplace_back(trees());
    Level& level = levels_.back();
    level.again = again;
    level.scope = scope;
    level.nodes = nodes;
    while (nodes[level.tree] == nullptr) ++level.tree;
    level.lead = nodes[level.tree];
    const LazyNode* lazy = take == Take::elements ? as_lazy(level.lead) : nullptr;
    const bool by_elements = lazy != nullptr && level.tree == 0;
    level.looks = take == Take::looks && as_dense(level.lead) == nullptr;
    if (by_elements) {
      ++stacks_;
      list_elements(level, *lazy);
    } else if (level.looks) {
      level.more().names = entry_names(*level.lead);
    } else {
      for (std::size_t k = 0; k < trees(); ++k) level.dicts[k] = read(level, nodes[k]);
      if (rules_.missing == WalkRules::Missing::error && !rules_.ignore_extra)
        require_no_extra(level);
      level.lead = level.dicts[level.tree];
      if (rules_.sorted) sort(level);
      if constexpr (Sink::picks) sink_.pick(*this, *level.dicts[0], level.more().order);
    }
    name(level);
    node_ = level.lead;
    if (by_elements) {
      sink_.enter_lazy(*this, *lazy, nodes);
    } else {
      sink_.enter(*this, level.dicts);  // with Take::looks there are no dictionaries
    }
    is_root_ = false;
    return true;
  }

  bool dense(const Row<const Node*>& nodes) const noexcept {
    for (std::size_t k = 0; k < trees(); ++k) {
      if (nodes[k] != nullptr && as_dense(nodes[k]) == nullptr) return false;
    }
    return true;
  }

  // Keeps the level's name on the path until the level ends.
  void name(Level& level) {
    level.named = is_entry_ || name_ != nullptr;
    level.numbered = name_ == &number_;
    if (!level.named) return;
    if (level.numbered) {
      numbers_.push_back(std::make_unique<std::string>(std::move(number_)));
      name_ = numbers_.back().get();
    }
    const std::string_view name =
        is_entry_ ? static_cast<const DenseNode&>(*node_).name(index_) : *name_;
    name_ = nullptr;
    path_.resize(depth_++);
    path_.push_back(name);
    is_entry_ = false;
  }

  void leave() {
    Level& level = levels_.back();
    node_ = level.lead;
    is_entry_ = false;
    is_root_ = levels_.size() == 1;
    name_ = nullptr;
    auto&& made = sink_.leave(*this, level.again);
    if (level.again) memo_.add(level.nodes, level.scope, std::move(made));
    if (level.named) --depth_;
    if (level.numbered) numbers_.pop_back();
    if (level.lazy) --stacks_;
    levels_.pop_back();
    is_root_ = false;
  }

  void list_elements(Level& level, const LazyNode& lazy) {
    level.lazy = true;
    Row<const Elements*>& lists = level.more().lists;
    lists = Row<const Elements*>(trees(), nullptr);
    for (std::size_t k = 0; k < trees(); ++k) {
      const Node* node = level.nodes[k];
      if (node == nullptr) continue;
      const LazyNode* same = as_lazy(node);
      if (node == &lazy || (same != nullptr && same->stack_dim() == lazy.stack_dim() &&
                            (Sink::other_sizes || same->batch() == lazy.batch()))) {
        lists[k] = &same->elements();
        continue;
      }
      level.aside->cut.push_back(
          std::make_unique<Elements>(detail::parts_beside(rules_, path(), lazy, *node)));
      lists[k] = level.aside->cut.back().get();
    }
  }

  const DenseNode* read(Level& level, const Node* node) {
    if (node == nullptr) return nullptr;
    if (const DenseNode* dense = as_dense(node)) return dense;
    level.more().read.push_back(sink_.read(*node));
    return as_dense(level.aside->read.back().get());
  }

  static void sort(Level& level) {
    const DenseNode& dict = *level.dicts[0];
    auto& order = level.more().order;
    order.resize(dict.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return dict.name(a) < dict.name(b); });
  }

  // All names of the first tree were found in the others, so longer ones have extra names.
  void require_no_extra(const Level& level) const {
    const DenseNode& first = *level.dicts[0];
    for (std::size_t k = 1; k < trees(); ++k) {
      const DenseNode& other = *level.dicts[k];
      if (other.size() <= first.size()) continue;
      for (std::size_t i = 0; i < other.size(); ++i) {
        if (first.find(other.name(i)) != nullptr) continue;
        PathBuffer full(path().begin(), path().end());
        full.push_back(other.name(i));
        detail::fail_missing(rules_, full, 0);
      }
    }
  }

  Path nested_tensor_path() const { return rules_.nested_tensor ? Path() : path(); }

  void mixed() {
    if (!sink_.mixed(*this)) detail::fail_mixed(rules_, path());
  }

  [[noreturn]] void fail_absent() const {
    std::size_t k = 0;
    while (nodes_[k] != nullptr || tensors_[k] != nullptr) ++k;
    detail::fail_missing(rules_, path(), k);
  }

  const WalkRules& rules_;
  Sink& sink_;
  std::size_t trees_ = 1;
  c10::SmallVector<Level, 4> levels_;
  Memo<Made> own_memo_;
  Memo<Made>& memo_;
  c10::SmallVector<PathLimit, 1> limits_;              // for each tree, if all paths are walked
  std::vector<std::unique_ptr<std::string>> numbers_;  // names of the open elements
  Row<const Node*> nodes_;                             // of the current entry
  Row<const at::Tensor*> tensors_;
};

template <class Sink>
void walk(const NodePtr& root, Sink& sink, const WalkRules& rules) {
  Walk<Sink, 1>(rules, sink).run(root);
}
// Allocates nothing for the rows of two trees.
template <class Sink>
void walk_pair(const NodePtr& first, const NodePtr& second, Sink& sink, const WalkRules& rules) {
  detail::Row<const Node*, 2> roots;
  roots[0] = first.get();
  roots[1] = second.get();
  Walk<Sink, 2>(rules, sink).start(roots);
}
template <class Sink>
void walk_beside(c10::ArrayRef<NodePtr> roots, Sink& sink, const WalkRules& rules) {
  Walk<Sink, 0>(rules, sink).run(roots);
}

}  // namespace td
