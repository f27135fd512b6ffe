// core/tree/zip.h: several trees side by side, their entries matched by key.
#pragma once

#include "core/tensor/assign.h"
#include "core/tree/kinds.h"
#include "core/tree/tensordict.h"
#include "core/tree/traverse.h"
#include "core/tree/walk.h"

#include <optional>
#include <type_traits>

namespace td {

// What becomes of names that not all of the trees have.
struct ZipPolicy {
  enum class Missing : std::uint8_t {
    error,      // Code::key_not_found
    intersect,  // only what all trees have takes part
    fill,       // what any tree has takes part; in place of an entry that is missing stands nullptr
  };
  Missing missing = Missing::error;
  bool ignore_extra = false;            // names that the first tree lacks are passed over
  const char* what = "this operation";  // for messages
  bool nested_tensor =
      false;  // nested tensors go where non-tensor values go; else Code::unsupported
  bool each_path =
      false;  // nodes that stand side by side in several places are not walked once, but
              // along each path: for functions that are told the path; see PathLimit
};

// Where a walk is.
struct ZipPlace {
  Path path;         // valid during the call
  const Node& node;  // the node that holds the entry, of the first tree that has one there
};

// The entry of each tree; nullptr where it is missing (ZipPolicy::Missing::fill only).
using ZipTensors = c10::ArrayRef<const at::Tensor*>;
using ZipNodes = c10::ArrayRef<const Node*>;

// What zip() makes of entries that stand in the same place. As BatchOp, for more than one tree. The
// function for the leaves is looked for in the class itself:
//   at::Tensor leaf(const ZipPlace& place, ZipTensors tensors) const;   undefined drops the entry
class ZipOp {
 public:
  virtual ~ZipOp() = default;
  virtual Sizes batch(SizesView before) const { return Sizes(before.begin(), before.end()); }
  virtual std::optional<c10::Device> device(const std::optional<c10::Device>& before) const {
    return before;
  }
  // Names of dimensions and the tensorclass, for nodes that have any.
  virtual void tags(const Node& before, Node& after) const { copy_tags(before, after); }
  // A non-tensor value. Other trees may have a tensor or a dictionary there: nullptr.
  virtual Value data(const ZipPlace& place, ZipNodes nodes) const;
};

namespace detail {

[[noreturn]] void fail_missing(const ZipPolicy& policy, Path path, std::size_t tree);
void refuse_nested_tensor(const ZipPolicy& policy, Path path, ZipNodes nodes);
[[noreturn]] void fail_mixed(const ZipPolicy& policy, Path path);
[[noreturn]] void fail_result(const ZipPolicy& policy, Path path, SizesView sizes, SizesView batch);

// The elements of `other`, which may be missing, beside those of a lazy stack.
std::vector<NodePtr> elements_beside(const ZipPolicy& policy, Path path, const LazyNode& lazy,
                                     const Node* other);

// The walk. Tells a sink of each level and each entry, depth first, in the order of the keys:
//   enter(lead), enter_lazy(lead)   a dictionary, a lazy stack whose elements follow
//   leaf(place, tensors), data(place, nodes), skip()
//   Made leave(path)                the level that was entered last is done; what was made of it
//   again(path, made)               the same nodes as on a level that is done
template <class Sink>
class ZipWalk {
 public:
  ZipWalk(const ZipPolicy& policy, Sink& sink) : policy_(policy), sink_(sink) {}

  void run(c10::ArrayRef<NodePtr> roots) {
    c10::SmallVector<const Node*, 3> nodes;
    for (const NodePtr& root : roots) nodes.push_back(root.get());
    for (const Node* node : nodes) {
      if (!is_opaque(*node)) continue;
      if (node != nodes[0] && !is_opaque(*nodes[0])) fail_mixed(policy_, path_);
      refuse_nested_tensor(policy_, path_, nodes);
      sink_.data(ZipPlace{path_, *nodes[0]}, nodes);
      return;
    }
    if (policy_.each_path) limits_.reserve(nodes.size());
    for (const Node* node : nodes) {
      if (policy_.each_path) limits_.emplace_back(*node);
    }
    begin(nodes, /*element=*/false, /*root=*/true);
    levels_.run_in_order([&](Level& level) { return step(level); },
                         [&](Level& level) { leave(level); });
  }

 private:
  struct Level {
    bool element = false;                         // of a lazy stack: has no name
    c10::SmallVector<const Node*, 3> again;       // the nodes, if the walk can meet them again
    c10::SmallVector<const DenseNode*, 3> nodes;  // a dictionary in each tree; nullptr: missing
    std::vector<std::vector<NodePtr>> elements;   // of a lazy stack instead, for each tree
    std::vector<NodePtr> owned;                   // nodes that were read out
    const Node* lead = nullptr;                   // of the first tree that has one
    std::size_t tree = 0;                         // whose names are gone through
    std::size_t next = 0;
  };

  // False when the level is done.
  bool step(Level& level) {
    if (!level.elements.empty()) return step_element(level);
    if (level.next < level.nodes[level.tree]->size()) {
      step_entry(level);
      return true;
    }
    if (policy_.missing == ZipPolicy::Missing::fill && !policy_.ignore_extra) {
      do {
        ++level.tree;
      } while (level.tree < level.nodes.size() && level.nodes[level.tree] == nullptr);
      level.next = 0;
      if (level.tree < level.nodes.size()) return true;
    }
    return false;
  }

  void leave(Level& level) {
    auto made = sink_.leave(path_);
    if (!level.again.empty()) memo_.add(level.again, 0, std::move(made));
    if (!level.element && !path_.empty()) path_.pop_back();
  }

  bool step_element(Level& level) {
    const std::size_t k = level.next++;
    if (k == level.elements[0].size()) return false;
    c10::SmallVector<const Node*, 3> nodes;
    for (const auto& of_tree : level.elements) nodes.push_back(of_tree[k].get());
    begin(nodes, /*element=*/true);
    return true;
  }

  void step_entry(Level& level) {
    const std::size_t i = level.next++;
    const std::size_t trees = level.nodes.size();
    const DenseNode& from = *level.nodes[level.tree];
    c10::SmallVector<const Value*, 3> values(trees, nullptr);
    std::size_t nodes = 0, missing = 0;
    for (std::size_t k = 0; k < trees; ++k) {
      const DenseNode* node = level.nodes[k];
      const std::size_t at = node == nullptr   ? Schema::npos
                             : k == level.tree ? i
                                               : KeyMatch(from, *node)(i);
      if (at == Schema::npos) {
        ++missing;
        continue;
      }
      if (k < level.tree) return;  // gone through already
      values[k] = &node->value(at);
      nodes += values[k]->is_node() ? 1 : 0;
    }
    path_.push_back(from.name(i));
    if (missing != 0 && policy_.missing != ZipPolicy::Missing::fill) {
      if (policy_.missing == ZipPolicy::Missing::error) fail_absent(values);
      sink_.skip();
    } else if (nodes == 0) {
      c10::SmallVector<const at::Tensor*, 3> tensors;
      for (const Value* value : values)
        tensors.push_back(value == nullptr ? nullptr : &value->tensor());
      sink_.leaf(ZipPlace{path_, *level.lead}, tensors);
    } else if (entry_nodes(*level.lead, values, nodes == trees - missing)) {
      return;  // the name stays on the path until the level is done
    }
    path_.pop_back();
  }

  // True when a level has begun.
  bool entry_nodes(const Node& holder, c10::ArrayRef<const Value*> values, bool all) {
    const Value* lead = nullptr;
    for (const Value* value : values) lead = lead == nullptr ? value : lead;
    c10::SmallVector<const Node*, 3> nodes;
    bool mixed = !all;
    for (const Value* value : values) {
      nodes.push_back(value == nullptr ? nullptr : value->node().get());
      mixed = mixed || (nodes.back() != nullptr && is_opaque(*nodes.back()));
    }
    if (!mixed) return begin(nodes);
    refuse_nested_tensor(policy_, path_, nodes);
    if (!lead->is_node() || !is_opaque(*lead->node())) fail_mixed(policy_, path_);
    for (const Node*& node : nodes) {
      if (node != nullptr && !is_opaque(*node)) node = nullptr;
    }
    sink_.data(ZipPlace{path_, holder}, nodes);
    return false;
  }

  // False when nothing has to be gone through: the nodes were met before.
  bool begin(ZipNodes nodes, bool element = false, bool root = false) {
    Level level;
    level.element = element;
    if (policy_.each_path) {
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (nodes[k] != nullptr) limits_[k].enter(*nodes[k]);
      }
    } else if (!root && memo_.concerns(nodes)) {
      if (const Made* made = memo_.find(nodes)) {
        sink_.again(path_, *made);
        return false;
      }
      level.again.append(nodes.begin(), nodes.end());
    }
    while (nodes[level.tree] == nullptr) ++level.tree;
    level.lead = nodes[level.tree];
    const LazyNode* lazy = level.tree == 0 ? as_lazy(level.lead) : nullptr;
    if (lazy != nullptr) {
      for (const Node* node : nodes)
        level.elements.push_back(elements_beside(policy_, path_, *lazy, node));
      sink_.enter_lazy(*lazy);
    } else {
      for (const Node* node : nodes) level.nodes.push_back(read(level, node));
      if (policy_.missing == ZipPolicy::Missing::error && !policy_.ignore_extra)
        require_no_extra(level);
      sink_.enter(*level.nodes[level.tree]);
      level.lead = level.nodes[level.tree];
    }
    levels_.add(std::move(level));
    return true;
  }

  static const DenseNode* read(Level& level, const Node* node) {
    if (node == nullptr) return nullptr;
    if (const DenseNode* dense = as_dense(node)) return dense;
    level.owned.push_back(dense_form(retain(*node)));
    return as_dense(level.owned.back().get());
  }

  // All names of the first are found in the others, or the walk fails: there are more when the others
  // are longer.
  void require_no_extra(const Level& level) {
    const DenseNode& first = *level.nodes[0];
    for (const DenseNode* other : level.nodes) {
      if (other->size() <= first.size()) continue;
      for (std::size_t i = 0; i < other->size(); ++i) {
        if (first.find(other->name(i)) != nullptr) continue;
        path_.push_back(other->name(i));
        fail_missing(policy_, path_, 0);
      }
    }
  }

  [[noreturn]] void fail_absent(c10::ArrayRef<const Value*> values) const {
    std::size_t k = 0;
    while (values[k] != nullptr) ++k;
    fail_missing(policy_, path_, k);
  }

  const ZipPolicy& policy_;
  Sink& sink_;
  using Made = decltype(std::declval<Sink&>().leave(Path()));

  Traversal<Level> levels_;
  Memo<Made> memo_;
  std::vector<PathLimit> limits_;  // of each tree, if its paths are walked
  PathBuffer path_;
};

// Makes the result of zip().
template <class Op>
class ZipBuilder {
 public:
  ZipBuilder(const ZipPolicy& policy, const Op& op) : policy_(policy), op_(op) {}

  void enter(const DenseNode& lead) {
    auto node = c10::make_intrusive<DenseNode>(lead.schema(), op_.batch(lead.batch()),
                                               op_.device(lead.device()));
    node->reserve(lead.size());
    if (lead.tagged()) op_.tags(lead, *node);
    levels_.push_back({&lead, std::move(node), {}, lead.size(), false});
  }
  void enter_lazy(const LazyNode& lead) { levels_.push_back({&lead, {}, {}, 0, false}); }

  void leaf(const ZipPlace& place, ZipTensors tensors) {
    at::Tensor result = op_.leaf(place, tensors);
    if (!result.defined()) return skip();
    const SizesView batch = levels_.back().dense->batch();
    if (!begins_with(result.sizes(), batch))
      fail_result(policy_, place.path, result.sizes(), batch);
    put(place.path, std::move(result));
  }
  void data(const ZipPlace& place, ZipNodes nodes) {
    Value value = op_.data(place, nodes);
    if (!levels_.empty()) return put(place.path, std::move(value));
    if (!value.is_node()) fail(Code::unsupported, policy_.what, " of non-tensor values");
    result_ = value.take_node();
  }
  void skip() {
    Target& target = levels_.back();
    if (target.left == 0) return;
    --target.left;
    target.dense->push_value(Value());
    target.dropped = true;
  }
  NodePtr leave(Path path) {
    NodePtr node = finish(levels_.back());
    levels_.pop_back();
    again(path, node);
    return node;
  }
  void again(Path path, const NodePtr& node) {
    if (levels_.empty()) {
      result_ = node;
    } else if (levels_.back().dense.defined()) {
      put(path, node);
    } else {
      levels_.back().elements.push_back(node);
    }
  }

  NodePtr take() { return std::move(result_); }

 private:
  struct Target {
    const Node* lead;
    c10::intrusive_ptr<DenseNode> dense;  // of a dictionary
    std::vector<NodePtr> elements;        // of a lazy stack
    std::size_t left;                     // names of the lead that have no value yet
    bool dropped;                         // some of them are to be left out
  };

  void put(Path path, Value value) {
    Target& target = levels_.back();
    if (target.left != 0) {
      --target.left;
      target.dense->push_value(std::move(value));
      return;
    }
    if (target.dropped) drop(target);
    target.dense->put(path.back(), std::move(value));
  }

  static void drop(Target& target) {
    auto kept = c10::make_intrusive<DenseNode>(target.dense->batch(), target.dense->device());
    copy_tags(*target.dense, *kept);
    for (std::size_t i = 0; i < target.dense->size(); ++i) {
      const Value& value = target.dense->value(i);
      if (value.is_node() || value.tensor().defined()) kept->put(target.dense->name(i), value);
    }
    target.dense = std::move(kept);
    target.dropped = false;
  }

  NodePtr finish(Target& target) {
    if (!target.dense.defined()) {
      const LazyNode& lead = static_cast<const LazyNode&>(*target.lead);
      auto node = c10::make_intrusive<LazyNode>(std::move(target.elements), lead.stack_dim(),
                                                op_.batch(lead.batch()), op_.device(lead.device()));
      if (lead.tagged()) op_.tags(lead, *node);
      return node;
    }
    if (target.dropped) drop(target);
    return std::move(target.dense);
  }

  const ZipPolicy& policy_;
  const Op& op_;
  std::vector<Target> levels_;
  NodePtr result_;
};

// Only looks.
template <class F>
class ZipVisitor {
 public:
  explicit ZipVisitor(F& f) : f_(f) {}
  void enter(const DenseNode&) {}
  void enter_lazy(const LazyNode&) {}
  void leaf(const ZipPlace& place, ZipTensors tensors) { f_(place, tensors); }
  void data(const ZipPlace& place, ZipNodes nodes) {
    if constexpr (std::is_invocable_v<F&, const ZipPlace&, ZipNodes>) f_(place, nodes);
  }
  void skip() {}
  bool leave(Path) { return true; }
  void again(Path, bool) {}

 private:
  F& f_;
};

}  // namespace detail

// Makes a tree of the entries of several trees, without recursion. Keys come in the order of the first
// tree, then those that only others have. Nodes that stand side by side in several places become one node
// that stands in as many. The schema of the first tree is shared while its keys stay.
// Batch sizes are those of the first tree, as `op` changes them; a leaf must begin with them. A first
// tree that is a lazy stack gives a lazy stack.
template <class Op>
NodePtr zip(c10::ArrayRef<NodePtr> roots, const Op& op, const ZipPolicy& policy = {}) {
  detail::ZipBuilder<Op> builder(policy, op);
  detail::ZipWalk<detail::ZipBuilder<Op>>(policy, builder).run(roots);
  return builder.take();
}

// Calls `f(const ZipPlace&, ZipTensors)` for the leaves of several trees, without recursion; once for nodes
// that stand side by side in several places. Leaves of a
// first tree that is a lazy stack are those of its elements, so that they can be written to. If `f` takes
// ZipNodes too, it is called for values that are no tensors.
template <class F>
void visit_zip(c10::ArrayRef<NodePtr> roots, F&& f, const ZipPolicy& policy = {}) {
  using Visitor = detail::ZipVisitor<std::remove_reference_t<F>>;
  Visitor visitor(f);
  detail::ZipWalk<Visitor>(policy, visitor).run(roots);
}

}  // namespace td
