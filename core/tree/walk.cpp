#include "core/tree/walk.h"

#include "core/tree/engine.h"

namespace td {

namespace {

// Calls a function for each entry, a node before its content, and for each element of a lazy stack.
class Visitor : public WalkSink<Take::elements> {
 public:
  using Call = c10::function_ref<void(const Here&, const Value&)>;
  Visitor(Take lazy, Call call) : lazy_(lazy), call_(call) {}

  Take meet(const Here& here, NodesHere) {
    see(here);
    return lazy_;
  }
  void leaf(const Here& here, Tensors) { call_(here, here.value()); }
  void value(const Here& here, NodesHere) { see(here); }
  void again(const Here& here, const Made&) { see(here); }

 private:
  void see(const Here& here) {
    if (here.is_root()) return;
    here.is_entry() ? call_(here, here.value()) : call_(here, Value(here.element()));
  }

  const Take lazy_;
  const Call call_;
};

void visit(const Node& top, Take lazy, const WalkRules& rules, Visitor::Call call) {
  Visitor visitor(lazy, call);
  walk(retain(top), visitor, rules);
}

}  // namespace

void visit_values(const Node& top, c10::function_ref<void(const Value&)> f) {
  visit(top, Take::elements, all_entries(), [&](const Here&, const Value& value) { f(value); });
}

void visit_paths(const Node& top, c10::function_ref<void(Path, const Value&)> f, Take lazy) {
  visit(top, lazy, all_paths(),
        [&](const Here& here, const Value& value) { f(here.path(), value); });
}

}  // namespace td
