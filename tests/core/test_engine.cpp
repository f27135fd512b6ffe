// The walk: what a sink is told of trees of every kind, and in which order.
#include "core/tree/engine.h"
#include "core/tree/lazy_index.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/non_tensor.h"
#include "core/tree/sub_tensordict.h"
#include "core/tree/walk.h"
#include "core/tree/zip.h"

#include "trees.h"

#include <gtest/gtest.h>

namespace td::test {

namespace {

std::string text(Path path) {
  std::string joined;
  for (const std::string_view name : path)
    joined += (joined.empty() ? "" : ".") + std::string(name);
  return joined;
}

// Writes down everything that it is told.
template <Take lazy, bool opens = false>
struct Notes : WalkSink<lazy> {
  using Made = typename WalkSink<lazy>::Made;
  static constexpr bool opens_values = opens;

  void enter(const Here& here, Dicts) { seen += "(" + text(here.path()) + " "; }
  void enter_lazy(const Here& here, const LazyNode&, NodesHere) {
    seen += "[" + text(here.path()) + " ";
  }
  void leaf(const Here& here, Tensors) {
    seen += text(here.path()) + " ";
    stop = text(here.path()) == last;
  }
  void look(const Here& here, const NodePtr&, const std::string&) {
    seen += text(here.path()) + "? ";
  }
  void value(const Here& here, NodesHere) { seen += text(here.path()) + "! "; }
  Made leave(const Here& here, bool) {
    seen += text(here.path()) + ") ";
    return {};
  }
  void again(const Here& here, const Made&) { seen += text(here.path()) + "= "; }
  bool done() const { return stop; }

  std::string seen, last = "none";
  bool stop = false;
};

WalkRules numbered() {
  WalkRules rules = all_entries();
  rules.numbered = true;
  return rules;
}

// {"z", "n": {"b"}} twice, and "own" in the second alone.
TensorDict uneven() {
  TensorDict one(SizesView{2}), two(SizesView{2});
  for (TensorDict* td : {&one, &two}) {
    td->set({"z"}, at::zeros({2, td == &one ? 3 : 4}));
    td->set({"n", "b"}, at::ones({2}));
  }
  two.set({"own"}, at::ones({2}));
  return TensorDict(NodePtr(lazy_stack({one.node(), two.node()}, 0)));
}

TEST(Walk, ComesToEntriesInTheirOrder) {
  TensorDict td = sample();
  td.set({"z"}, at::ones({4, 3}));
  td.set_non_tensor({"n", "text"}, "1");
  Notes<Take::reads> notes;
  walk(td.node(), notes, all_entries());
  EXPECT_EQ(notes.seen, "( a (n n.b n.text! n) z ) ");
  notes = {};
  notes.last = "n.b";
  walk(td.node(), notes, all_entries());
  EXPECT_EQ(notes.seen, "( a (n n.b ");
}

TEST(Walk, SortsNamesWhereAsked) {
  TensorDict td(SizesView{});
  for (const char* name : {"b", "a", "c"}) td.set({name, "y"}, at::ones({}));
  td.set({"a", "x"}, at::ones({}));
  WalkRules rules = all_entries();
  rules.sorted = true;
  Notes<Take::reads> notes;
  walk(td.node(), notes, rules);
  EXPECT_EQ(notes.seen, "( (a a.x a.y a) (b b.y b) (c c.y c) ) ");
}

// Keys that one element alone has are met by elements, and not as the stack reads.
TEST(Walk, TakesLazyStacksAsTheSinkSays) {
  TensorDict td(SizesView{2, 2});
  td.set({"s"}, uneven());
  Notes<Take::elements> elements;
  walk(td.node(), elements, numbered());
  EXPECT_EQ(elements.seen,
            "( [s (s.0 s.0.z (s.0.n s.0.n.b s.0.n) s.0) "
            "(s.1 s.1.z (s.1.n s.1.n.b s.1.n) s.1.own s.1) s) ) ");
  Notes<Take::looks> looks;
  walk(td.node(), looks, all_paths());
  EXPECT_EQ(looks.seen, "( (s (s.n s.n.b? s.n) s.z? s) ) ");
  Notes<Take::whole> whole;
  walk(td.node(), whole, all_entries());
  EXPECT_EQ(whole.seen, "( ) ");
  Notes<Take::reads> reads;
  EXPECT_THROW(walk(td.node(), reads, all_entries()), Error);
}

TEST(Walk, OpensStacksOfValuesWhereAsked) {
  TensorDict td(SizesView{2});
  set_values(td, {"v"}, "[1, 2]");
  Notes<Take::elements, true> open;
  walk(td.node(), open, numbered());
  EXPECT_EQ(open.seen, "( [v v.0! v.1! v) ) ");
  Notes<Take::elements> closed;
  walk(td.node(), closed, numbered());
  EXPECT_EQ(closed.seen, "( v! ) ");
}

TEST(Walk, ComesToANodeOnceOrAlongEachPath) {
  const TensorDict inner = sample();
  TensorDict td(SizesView{4, 3});
  td.set({"l"}, inner);
  td.set({"r"}, inner);
  Notes<Take::reads> once, each;
  walk(td.node(), once, all_entries());
  EXPECT_EQ(once.seen, "( (l l.a (l.n l.n.b l.n) l) r= ) ");
  walk(td.node(), each, all_paths());
  EXPECT_EQ(each.seen, "( (l l.a (l.n l.n.b l.n) l) (r r.a (r.n r.n.b r.n) r) ) ");
}

// What stands beside a lazy stack is taken apart.
TEST(Walk, TakesOtherTreesApartBesideALazyStack) {
  const TensorDict lazy(NodePtr(lazy_stack({sample().node(), sample().node()}, 1)));
  const TensorDict dense(all_dense(lazy.node()));
  std::size_t leaves = 0;
  visit_zip<Take::elements>({lazy.node(), dense.node()}, [&](const Here& here, Tensors tensors) {
    ++leaves;
    EXPECT_TRUE(tensors[0]->equal(*tensors[1])) << text(here.path());
  });
  EXPECT_EQ(leaves, 4u);
}

TEST(Walk, ReadsASubTensordict) {
  const TensorDict td = sample();
  const TensorDict part = sub_tensordict(td, {IndexItem::at(1)});
  std::string seen;
  visit_paths(*part.node(), [&](Path path, const Value& value) {
    seen += text(path) + (value.is_node() ? "" : show_sizes(value.tensor().sizes())) + " ";
  });
  EXPECT_EQ(seen, "a[3, 2] n n.b[3] ");
}

TEST(Walk, IsNoRecursion) {
  const TensorDict deep = chain(10000);
  std::size_t levels = 0;
  visit_values(*deep.node(), [&](const Value& value) { levels += value.is_node() ? 1 : 0; });
  EXPECT_EQ(levels, 9999u);
}

}  // namespace
}  // namespace td::test
