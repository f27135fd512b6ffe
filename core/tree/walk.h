// core/tree/walk.h: looking at every entry of a tree.
#pragma once

#include "core/tree/engine.h"

namespace td {

namespace detail {

// Calls a function with each entry, a node before its content, and with each element of a lazy stack.
template <class F, Take lazy>
class Visitor : public WalkSink<lazy> {
 public:
  using Made = typename WalkSink<lazy>::Made;
  explicit Visitor(F& f) : f_(f) {}

  Take meet(const Here& here, NodesHere) {
    see(here);
    return lazy;
  }
  void leaf(const Here& here, Tensors) { call(here, here.value()); }
  void value(const Here& here, NodesHere) { see(here); }
  void again(const Here& here, const Made&) { see(here); }

 private:
  void see(const Here& here) {
    if (here.is_root()) return;
    here.is_entry() ? call(here, here.value()) : call(here, Value(here.element()));
  }
  void call(const Here& here, const Value& value) {
    if constexpr (std::is_invocable_v<F&, Path, const Value&>) {
      f_(here.path(), value);
    } else {
      f_(value);
    }
  }

  F& f_;
};

}  // namespace detail

// Calls `f(const Value&)` for every entry, a node before its content. The elements of a lazy stack
// count as its entries. Of a sub-tensordict, what it reads as is walked. The content of a node that stands in
// several places is walked once.
template <class F>
void visit_values(const Node& top, F&& f) {
  detail::Visitor<std::remove_reference_t<F>, Take::elements> visitor(f);
  walk(retain(top), visitor, all_entries());
}

// As visit_values(), in the order in which the entries are printed in a listing (depth first), with the path
// of each: `f(Path, const Value&)`. The path is valid during the call. A nested lazy stack is one
// entry and is not descended into; at the root it is walked as it reads. Follows all paths: see PathLimit.
template <class F>
void visit_paths(const Node& top, F&& f) {
  detail::Visitor<std::remove_reference_t<F>, Take::whole> visitor(f);
  walk(retain(top), visitor, all_paths());
}

}  // namespace td
