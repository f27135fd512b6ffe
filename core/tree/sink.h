// core/tree/sink.h: the functions of a sink of the walk (core/tree/engine.h), and what they are given.
#pragma once

#include "core/tree/kinds.h"
#include "core/tree/traverse.h"

#include <string>

namespace td {

// Where the entries of `first` stand in `other`: no look-up at all when the schema is the same one.
// A name that is missing gives Schema::npos.
class KeyMatch {
 public:
  KeyMatch(const DenseNode& first, const DenseNode& other)
      : first_(first), other_(other), same_(first.schema() == other.schema()) {}
  std::size_t operator()(std::size_t i) const {
    if (same_) return i;
    // Dictionaries that were filled alike have their names in the same order.
    const std::string& name = first_.name(i);
    return i < other_.size() && same_name(other_.name(i), name) ? i : other_.schema()->find(name);
  }

 private:
  const DenseNode& first_;
  const DenseNode& other_;
  bool same_;
};

// How a node is gone through.
enum class Take : std::uint8_t {
  nothing,  // not at all: the sink has done what is to be done
  whole,    // a dictionary that holds its entries is gone through, others are not, but for the root
  reads,    // as it reads: a lazy stack has the keys that all its elements have
  looks,    // the same, of one tree, but no tensor is read: look() is called instead
  elements,  // a lazy stack element by element; other trees are taken apart beside it
};

struct WalkRules {
  // What becomes of names that not all trees have.
  enum class Missing : std::uint8_t {
    error,      // Code::key_not_found
    intersect,  // only what all trees have takes part
    fill,       // what any tree has takes part; in place of an entry that is missing stands nullptr
  };
  Missing missing = Missing::error;
  bool ignore_extra = false;  // names that the first tree lacks are passed over
  bool nested_tensor =
      false;               // nested tensors go where non-tensor values go; else Code::unsupported
  bool each_path = false;  // for sinks that use the path: see engine.h
  bool numbered = false;   // elements of lazy stacks have names on the path: 0, 1, 2 …
  bool sorted = false;     // names come in their order as bytes, of one tree
  const char* what = "this operation";  // for messages
};

// For one tree: everything is allowed.
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

// The entry of each tree; nullptr where it is missing (Missing::fill only).
using Tensors = c10::ArrayRef<const at::Tensor*>;
using Dicts = c10::ArrayRef<const DenseNode*>;

// Where a walk is: at an entry of a dictionary, at an element of a lazy stack, or at the root.
class Here {
 public:
  // The names from the root to this place; valid during the call.
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

  // The node that holds the entry or element, of the first tree that has one there; the root itself for
  // the root. In enter() and leave() it is the node that is entered and left.
  const Node& node() const noexcept { return *node_; }
  // Of an entry: its dictionary, its position and its value in that tree.
  const DenseNode& holder() const noexcept { return static_cast<const DenseNode&>(*node_); }
  std::size_t index() const noexcept { return index_; }
  const Value& value() const noexcept { return holder().value(index_); }
  // Of an element of a lazy stack: the element.
  const NodePtr& element() const noexcept {
    return static_cast<const LazyNode&>(*node_).elements()[index_];
  }

 protected:
  const Node* node_ = nullptr;
  std::size_t index_ = 0;
  std::size_t depth_ = 0;  // names of the levels that are open
  bool is_entry_ = false;
  bool is_root_ = true;
  const std::string* name_ = nullptr;  // of what is no entry of a dense dictionary, but has a name
  std::string number_;                 // of an element
  mutable PathBuffer path_;
};

// What a sink does where it says nothing else. `lazy` is how it takes lazy stacks.
template <Take lazy>
struct WalkSink {
  // What is made of the nodes of a place, for the next time that the walk comes to them.
  struct Made {};
  // The result depends on it beside the nodes, as on a level of keys or a dimension.
  static constexpr std::uintptr_t scope(const Here&) { return 0; }
  // True ends the walk; leave() is not called any more.
  static constexpr bool done() { return false; }
  // Stacks of non-tensor values are gone through as other stacks are.
  static constexpr bool opens_values = false;
  // Lazy stacks side by side may have other sizes; the sink sees to it that the numbers of elements agree.
  static constexpr bool other_sizes = false;

  // What a node reads as: a dense one.
  static NodePtr read(const Node& node) { return dense_form(retain(node)); }

  // Dictionaries, before they are read.
  static constexpr Take meet(const Here&, NodesHere) { return lazy; }
  // A level begins: a dictionary in each tree, nullptr where it is missing; or a lazy stack whose elements
  // follow, and the nodes beside it.
  void enter(const Here&, Dicts) {}
  void enter_lazy(const Here&, const LazyNode&, NodesHere) {}
  void leaf(const Here&, Tensors) {}
  // A tensor that is not read (Take::looks): the entry of a name in a node that is not dense.
  void look(const Here&, const NodePtr&, const std::string&) {}
  // Values that are no tensors, and nested tensors. Other trees may have a tensor or a dictionary there:
  // nullptr.
  void value(const Here&, NodesHere) {}
  // An entry that not all trees have, with Missing::intersect.
  void skip(const Here&) {}
  // Tensors in some trees, dictionaries or values in others. False: the walk fails.
  static constexpr bool mixed(const Here&) { return false; }
  // The level that was entered last is done. `again`: the walk may come to its nodes again.
  Made leave(const Here&, bool /*again*/) { return {}; }
  void again(const Here&, const Made&) {}
};

}  // namespace td
