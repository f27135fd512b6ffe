// core/tree/walk.h: visits every entry of a tree.
#pragma once

#include "core/tree/engine.h"

namespace td {

namespace detail {

// Calls a function for each entry, a node before its content, and for each element of a lazy stack.
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

// Calls `f(const Value&)` for each entry, a node before its content. Elements of a lazy stack count as its
// entries; sub-tensordicts are read. Visits the content of a shared node once.
template <class F>
void visit_values(const Node& top, F&& f) {
  detail::Visitor<std::remove_reference_t<F>, Take::elements> visitor(f);
  walk(retain(top), visitor, all_entries());
}

// Calls `f(Path, const Value&)` in listing order (depth first); the path is valid during the call. A nested
// lazy stack is one entry and is not entered; at the root it is read. Follows all paths: see PathLimit.
template <class F>
void visit_paths(const Node& top, F&& f) {
  detail::Visitor<std::remove_reference_t<F>, Take::whole> visitor(f);
  walk(retain(top), visitor, all_paths());
}

}  // namespace td
