// The walk: what a sink is told of trees of every kind, and in which order.
#include "core/tree/engine.h"
#include "core/tree/lazy_index.h"
#include "core/tree/lazy_ops.h"
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
  EXPECT_EQ(looks.seen, "( (s s.z? (s.n s.n.b? s.n) s) ) ");
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
  visit_zip({lazy.node(), dense.node()}, Take::elements, [&](const Here& here, Tensors tensors) {
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

// Of the tree that is written, the second one, lazy stacks are told; the first one is read beside it.
TEST(Walk, TellsLazyStacksThatAreWritten) {
  struct Into : Notes<Take::into> {
    void leaf(const Here& here, Tensors tensors) {
      seen += text(here.path()) + (tensors[1] == nullptr ? "- " : " ");
    }
    void stack(const Here& here, const LazyNode& lazy, NodesHere nodes) {
      seen += text(here.path()) + std::to_string(lazy.elements().size()) +
              (nodes[1] == &lazy ? "| " : "?");
    }
  };
  TensorDict plain(SizesView{2}), source(SizesView{2}), target(SizesView{2});
  plain.set({"b"}, at::ones({2}));
  for (const char* name : {"a", "new"}) source.set({name}, at::ones({2}));
  source.set({"n"}, TensorDict(to_lazy(plain.node(), 0)));
  source.set({"s"}, plain);
  target.set({"s"}, uneven());
  target.set({"n"}, plain);
  target.set({"a"}, at::ones({2}));
  WalkRules rules = all_entries();
  rules.missing = WalkRules::Missing::fill;
  rules.ignore_extra = true;
  Into into;
  walk_pair(source.node(), target.node(), into, rules);
  EXPECT_EQ(into.seen, "( a new- (n n.b n) s2| ) ");
  into.seen.clear();
  walk_pair(plain.node(), uneven().node(), into, rules);
  EXPECT_EQ(into.seen, "2| ");
}

// Picks all entries but "a", from the last one on.
struct Picks : Notes<Take::elements> {
  static constexpr bool picks = true;
  void pick(const Here&, const DenseNode& dict, c10::SmallVectorImpl<std::size_t>& order) {
    for (std::size_t i = dict.size(); i-- > 0;) {
      if (dict.name(i) != "a") order.push_back(i);
    }
  }
};

TEST(Walk, GoesThroughTheEntriesThatAreWanted) {
  TensorDict td(SizesView{2});
  for (const char* name : {"a", "b", "c"}) td.set({name}, at::ones({2}));
  td.set({"n", "a"}, at::ones({2}));
  td.set({"n", "d"}, at::ones({2}));
  td.set({"s"}, uneven());
  Picks picks;
  walk(td.node(), picks, numbered());
  EXPECT_EQ(picks.seen,
            "( [s (s.0 (s.0.n s.0.n.b s.0.n) s.0.z s.0) "
            "(s.1 s.1.own (s.1.n s.1.n.b s.1.n) s.1.z s.1) s) (n n.d n) c b ) ");
}

TEST(Walk, TellsNestedTensorsApartWhereAsked) {
  struct Parts : Notes<Take::elements> {
    void nested_tensor(const Here& here, const NestedTensorNode& node, NodesHere nodes) {
      EXPECT_EQ(nodes[0], &node);
      seen += text(here.path()) + std::to_string(node.parts()) + " ";
    }
  };
  auto holder = c10::make_intrusive<DenseNode>(SizesView{2}, std::nullopt);
  holder->put("p", NodePtr(make_nested_tensor({at::ones({1}), at::ones({3})})));
  TensorDict td{NodePtr(holder)};
  td.set_non_tensor({"text"}, "1");
  Parts parts;
  walk(td.node(), parts, all_entries());
  EXPECT_EQ(parts.seen, "( p2 text! ) ");
  Notes<Take::elements> notes;
  walk(td.node(), notes, all_entries());
  EXPECT_EQ(notes.seen, "( p! text! ) ");
}

TEST(Walk, IsNoRecursion) {
  const TensorDict deep = chain(10000);
  std::size_t levels = 0;
  visit_values(*deep.node(), [&](const Value& value) { levels += value.is_node() ? 1 : 0; });
  EXPECT_EQ(levels, 9999u);
}

}  // namespace
}  // namespace td::test
