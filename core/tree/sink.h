// core/tree/sink.h: the interface of a sink of the walk (core/tree/engine.h).
#pragma once

#include "core/tree/kinds.h"
#include "core/tree/traverse.h"

#include <string>

namespace td {

class NestedTensorNode;

// The positions of the entries of `first` in `other`, without lookups if both share a schema; Schema::npos
// for missing names.
class KeyMatch {
 public:
  KeyMatch(const DenseNode& first, const DenseNode& other)
      : first_(first), other_(other), same_(first.schema() == other.schema()) {}
  std::size_t operator()(std::size_t i) const {
    if (same_) return i;
    // Dictionaries built alike have their names in the same order.
    const std::string& name = first_.name(i);
    return i < other_.size() && same_name(other_.name(i), name) ? i : other_.schema()->find(name);
  }

 private:
  const DenseNode& first_;
  const DenseNode& other_;
  bool same_;
};

// How to enter a node.
enum class Take : std::uint8_t {
  nothing,   // skips it: the sink has handled it
  whole,     // enters a dictionary that holds its entries; skips others, except the root
  reads,     // as it reads: a lazy stack has the keys shared by its elements
  looks,     // the same, for one tree, without reading tensors: calls look()
  elements,  // enters the elements of a lazy stack; splits other trees to match
  into,      // `reads`, but calls stack() for a lazy stack in the last tree, the one to write
};

struct WalkRules {
  // How to treat names that some trees lack.
  enum class Missing : std::uint8_t {
    error,      // Code::key_not_found
    intersect,  // skips them
    fill,       // walks them, with nullptr for missing entries
  };
  Missing missing = Missing::error;
  bool ignore_extra = false;   // ignores names that the first tree lacks
  bool nested_tensor = false;  // treats nested tensors as non-tensor values; else Code::unsupported
  bool each_path = false;      // for sinks that use the path: see engine.h
  bool numbered = false;       // elements of lazy stacks appear on the path: 0, 1, 2 …
  bool sorted = false;         // walks names in bytewise order, for one tree
  const char* what = "this operation";  // for messages
};

// Rules for one tree that accept everything.
constexpr WalkRules all_entries() {
  WalkRules rules;
  rules.nested_tensor = true;
  return rules;
}
constexpr WalkRules all_paths() {
  WalkRules rules = all_entries();
  rules.each_path = true;
  return rules;
}

// The entry of each tree; nullptr if missing (Missing::fill only).
using Tensors = c10::ArrayRef<const at::Tensor*>;
using Dicts = c10::ArrayRef<const DenseNode*>;

// The position of a walk: an entry of a dictionary, an element of a lazy stack, or the root.
class Here {
 public:
  // The names from the root to this position; valid during the call.
  Path path() const {
    path_.resize(depth_);
    if (is_entry_) {
      path_.push_back(holder().name(index_));
    } else if (name_ != nullptr) {
      path_.push_back(*name_);
    }
    return path_;
  }
  std::string_view name() const { return path().back(); }
  bool is_root() const noexcept { return is_root_; }
  bool is_entry() const noexcept { return is_entry_; }
  // Below an element of a lazy stack that is gone through element by element.
  bool in_stack() const noexcept { return stacks_ != 0; }

  // The node that holds the entry or element, in the first tree that has it; at the root, the root. In
  // enter() and leave(), the entered node.
  const Node& node() const noexcept { return *node_; }
  // For an entry: its dictionary, position and value in that tree.
  const DenseNode& holder() const noexcept { return static_cast<const DenseNode&>(*node_); }
  std::size_t index() const noexcept { return index_; }
  const Value& value() const { return holder().value(index_); }
  // For an element of a lazy stack.
  const NodePtr& element() const noexcept {
    return static_cast<const LazyNode&>(*node_).elements()[index_];
  }

 protected:
  const Node* node_ = nullptr;
  std::size_t index_ = 0;
  std::size_t depth_ = 0;   // names of the open levels
  std::size_t stacks_ = 0;  // open levels that are lazy stacks
  bool is_entry_ = false;
  bool is_root_ = true;
  const std::string* name_ = nullptr;  // unless at an entry of a dense dictionary
  std::string number_;                 // of an element
  mutable PathBuffer path_;
};

// Default behaviour of sinks. `lazy`: how to enter lazy stacks.
template <Take lazy>
struct WalkSink {
  // The result for a combination of nodes, kept for the next time the walk meets it.
  struct Made {};
  // What the result depends on besides the nodes, such as a level of keys or a dimension.
  static constexpr std::uintptr_t scope(const Here&) { return 0; }
  // True ends the walk without further calls of leave().
  static constexpr bool done() { return false; }
  // Whether to enter stacks of non-tensor values.
  static constexpr bool opens_values = false;
  // Whether lazy stacks in parallel may differ in size; the sink must check the numbers of elements.
  static constexpr bool other_sizes = false;

  // If true, pick() lists the entries to visit, in order. One tree only:
  //   void pick(const Here& here, const DenseNode& dict, c10::SmallVectorImpl<std::size_t>& order);
  static constexpr bool picks = false;

  // If true, leap() gives the position of the next entry to visit, from a position on, or the size of the
  // dictionary. One tree only:
  //   std::size_t leap(std::size_t position);
  static constexpr bool leaps = false;

  // Reads a node as a dense one.
  static NodePtr read(const Node& node) { return dense_form(retain(node)); }

  // Called for nodes before they are read.
  static constexpr Take meet(const Here&, NodesHere) { return lazy; }
  // Starts a level: a dictionary of each tree (nullptr: missing), or a lazy stack whose elements follow, with
  // the nodes in parallel.
  void enter(const Here&, Dicts) {}
  void enter_lazy(const Here&, const LazyNode&, NodesHere) {}
  void leaf(const Here&, Tensors) {}
  // A tensor that is not read (Take::looks): an entry of a node that is not dense.
  void look(const Here&, const NodePtr&, const std::string&) {}
  // Non-tensor values and nested tensors; nullptr for trees that have a tensor or a dictionary there.
  void value(const Here&, NodesHere) {}
  // Optional. Called for nested tensors; a sink without it gets them by value():
  //   void nested_tensor(const Here& here, const NestedTensorNode& node, NodesHere nodes);
  // Called for a lazy stack in the last tree (Take::into), with the nodes of all trees.
  void stack(const Here&, const LazyNode&, NodesHere) {}
  // An entry that some trees lack, with Missing::intersect.
  void skip(const Here&) {}
  // Tensors in some trees, nodes in others. False: the walk throws.
  static constexpr bool mixed(const Here&) { return false; }
  // Ends the last level. `again`: the walk may meet its nodes again.
  Made leave(const Here&, bool /*again*/) { return {}; }
  void again(const Here&, const Made&) {}
};

}  // namespace td
