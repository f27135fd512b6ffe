// Graphs in which one dictionary stands in several places, and dictionaries of many names. The graphs are small:
// what is asked is what comes out; graphs that have too many paths are in tests/capi (graph_calls).
#include "core/keys/entries.h"
#include "core/math/math.h"
#include "core/shape/join.h"
#include "core/tree/kinds.h"
#include "core/tree/lazy_node.h"
#include "core/tree/traverse.h"
#include "core/tree/walk.h"
#include "core/tree/zip.h"

#include "trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace td::test {

namespace {

TensorDict leaf(std::int64_t value) {
  TensorDict td(SizesView{2});
  td.set({"x"}, at::full({2}, value, at::kLong));
  return td;
}

// {"l": left, "r": right}
TensorDict both(const TensorDict& left, const TensorDict& right) {
  TensorDict td(SizesView{2});
  td.set({"l"}, left);
  td.set({"r"}, right);
  return td;
}

std::int64_t at_left(const TensorDict& td) { return td.get({"l", "x"})[0].item<std::int64_t>(); }
std::int64_t at_right(const TensorDict& td) { return td.get({"r", "x"})[0].item<std::int64_t>(); }

bool shares(const TensorDict& td) { return td.get_dict({"l"}).node() == td.get_dict({"r"}).node(); }

TensorDict twice(std::int64_t value) {
  const TensorDict one = leaf(value);
  return both(one, one);
}

// A dictionary that both have is written into itself, as a copy of it would be.
TEST(Walks, ADictionaryOfBothIsWrittenLikeACopy) {
  const at::Tensor x = at::zeros({2});
  TensorDict inner(SizesView{2}), target(SizesView{2}), source(SizesView{2});
  inner.set({"y"}, x);
  target.set({"x"}, x);
  target.set({"n"}, inner);
  source.set({"x"}, at::ones({2}));
  source.set({"n"}, inner);
  UpdateOptions inplace;
  inplace.mode = UpdateMode::inplace;
  update(target, source, inplace);
  EXPECT_EQ(numbers(x), (std::vector<double>{0, 0})) << "the last write stays";
}

// What is made of a node depends on what stands beside it.
TEST(Walks, ANodeBesideOthersIsAnotherPlace) {
  const TensorDict same = twice(1), apart = both(leaf(10), leaf(20));
  const TensorDict sum = binary(same, Binary::add_op, apart);
  EXPECT_EQ(at_left(sum), 11);
  EXPECT_EQ(at_right(sum), 21);
  const TensorDict stacked = td::stack({same, apart}, 0);
  EXPECT_EQ(stacked.get({"l", "x"})[1][0].item<std::int64_t>(), 10);
  EXPECT_EQ(stacked.get({"r", "x"})[1][0].item<std::int64_t>(), 20);
  EXPECT_FALSE(shares(stacked));
  EXPECT_FALSE(same.equal(apart));
  TensorDict target = both(leaf(0), leaf(0));
  UpdateOptions inplace;
  inplace.mode = UpdateMode::inplace;
  update(target, twice(5), inplace);
  EXPECT_EQ(at_left(target), 5);
  EXPECT_EQ(at_right(target), 5);
  target.set_at({IndexItem::range(0, 1)}, apart.index({IndexItem::range(0, 1)}));
  EXPECT_EQ(at_left(target), 10);
  EXPECT_EQ(at_right(target), 20);
  update_at(target, {IndexItem::range(0, 1)}, twice(7).index({IndexItem::range(0, 1)}));
  EXPECT_EQ(at_left(target), 7);
  EXPECT_EQ(at_right(target), 7);
}

TEST(Walks, WhatIsHeldTwiceIsMadeOnce) {
  const TensorDict td = twice(3);
  EXPECT_TRUE(shares(td::stack({td, td}, 0)));
  EXPECT_TRUE(shares(td::cat({td, td}, 0)));
  EXPECT_TRUE(shares(binary(td, Binary::add_op, c10::Scalar(1))));
  EXPECT_TRUE(shares(empty(td, /*recurse=*/true)));
  EXPECT_TRUE(shares(td.index({IndexItem::range(0, 1)})));
  const TensorDict written = td.clone();
  binary_(written, Binary::add_op, c10::Scalar(1));
  EXPECT_EQ(at_left(written), 4);  // once, as the tensor is one
  EXPECT_EQ(at_right(written), 4);
}

TEST(Walks, EachPathCountsInSums) {
  TensorDict td = leaf(1);
  for (int i = 0; i < 3; ++i) td = both(td, td);
  EXPECT_EQ(td.nbytes(), 8 * 16);
  EXPECT_EQ(depth(td), 3);
  int paths = 0;
  visit_paths(*td.node(), [&](Path path, const Value&) { paths += path.size() == 4 ? 1 : 0; });
  EXPECT_EQ(paths, 8);
  int entries = 0;
  visit_values(*td.node(), [&](const Value&) { ++entries; });
  EXPECT_EQ(entries, 7);
}

// A dictionary that lost all entries goes from each that holds it, wherever it was met first.
TEST(Walks, EmptiedDictionariesGoFromAllWhoHoldThem) {
  TensorDict inner(SizesView{2});
  inner.set({"x"}, at::zeros({2}));
  TensorDict middle(SizesView{2});
  middle.set({"i"}, inner);
  TensorDict td(SizesView{2});
  td.set({"i"}, inner);
  td.set({"m"}, middle);
  td.set({"y"}, at::zeros({2}));
  KeySet set;
  const std::vector<std::string_view> a{"i", "x"}, b{"m", "i", "x"};
  const std::vector<Path> paths{a, b};
  set.paths = paths;
  SplitOptions options;
  const std::vector<TensorDict> parts = split_keys(td, set, options);
  EXPECT_EQ(list_keys(parts.back(), {true, false, false}).keys.size(), 1);
}

TEST(Walks, TooManyPathsAreToldAtOnce) {
  TensorDict td = leaf(1);
  for (int i = 0; i < 60; ++i) td = both(td, td);
  EXPECT_EQ(depth(td), 60);
  const auto list = [&] { visit_paths(*td.node(), [](Path, const Value&) {}); };
  EXPECT_THROW(list(), Error);
}

// Two lazy stacks of two, each holding both of the two below it: 2^30 elements, of 60 nodes. No two of the same
// stand side by side.
TEST(Walks, LazyStacksInLazyStacksAreAskedOnceEach) {
  TensorDict even = leaf(1), odd = leaf(2);
  for (TensorDict td : {even, odd}) td.set({"n"}, leaf(3));
  odd.set({"y"}, at::zeros({2}));
  NodePtr a = even.node(), b = odd.node();
  for (int i = 0; i < 30; ++i) {
    const NodePtr both = lazy_stack({a, b}, 0);
    b = lazy_stack({b, a}, 0);
    a = both;
  }
  TensorDict td(a);
  EXPECT_EQ(entry_names(*a), (std::vector<std::string>{"x", "n"}));
  EXPECT_EQ(td.kind_of({"x"}), EntryKind::tensor);
  EXPECT_EQ(td.kind_of({"n"}), EntryKind::dict);
  EXPECT_EQ(td.kind_of({"y"}), EntryKind::none);
  EXPECT_EQ(td.kind_of({"n", "x"}), EntryKind::tensor);
  EXPECT_FALSE(td.is_locked());
  td.lock();
  EXPECT_TRUE(td.is_locked());
  EXPECT_TRUE(td.get_dict({"n"}).is_locked());  // by its elements alone
  td.unlock();
  EXPECT_FALSE(td.get_dict({"n"}).is_locked());
  EXPECT_TRUE(has_lazy(a));
  EXPECT_EQ(depth(td), 1);
  td.remove({"n"});
  EXPECT_EQ(entry_names(*a), (std::vector<std::string>{"x"}));
}

// Took a copy of the path for each level: gigabytes.
TEST(Walks, DeepDictionariesAreUpdatedAtAnIndex) {
  constexpr std::size_t levels = 10000;
  const TensorDict target = chain(levels, {2}), source = chain(levels, {1});
  const TensorDict zeros = binary(source, Binary::mul_op, c10::Scalar(0));
  update_at(target, {IndexItem::range(0, 1)}, zeros);
  const std::vector<std::string_view> path(levels, "n");
  EXPECT_EQ(numbers(target.get(Path(path))), (std::vector<double>{0, 1}));
}

// A dictionary of many names against a list, with others that share its names.
TEST(Walks, ManyNamesComeAndGo) {
  std::mt19937 random(7);
  struct One {
    c10::intrusive_ptr<DenseNode> node;
    std::vector<std::pair<std::string, std::int64_t>> want;
  };
  std::vector<One> all{{c10::make_intrusive<DenseNode>(SizesView{}, std::nullopt), {}}};
  std::int64_t count = 0;
  const auto number = [](const Value& value) { return value.tensor().item<std::int64_t>(); };
  const auto check = [&](const One& one) {
    ASSERT_EQ(one.node->size(), one.want.size());
    for (std::size_t i = 0; i < one.want.size(); ++i) {
      ASSERT_EQ(one.node->name(i), one.want[i].first);
      ASSERT_EQ(number(one.node->value(i)), one.want[i].second);
      ASSERT_EQ(number(*one.node->find(one.want[i].first)), one.want[i].second);
    }
  };
  for (int step = 0; step < 6000; ++step) {
    One& one = all[random() % all.size()];
    const std::size_t n = one.want.size();
    const auto what = random() % 16;
    const bool grows = step / 700 % 2 == 0;
    if (what < (grows ? 11 : 3) || n == 0) {
      const std::string name = "name" + std::to_string(count);
      one.node->put(name, at::scalar_tensor(count, at::kLong));
      one.want.emplace_back(name, count++);
    } else if (what < 13) {
      const std::size_t i = random() % 4 == 0 ? n - 1 : random() % 3 == 0 ? 0 : random() % n;
      const std::string name = one.want[i].first;
      one.node->erase(i);
      one.want.erase(one.want.begin() + static_cast<std::ptrdiff_t>(i));
      ASSERT_EQ(one.node->find(name), nullptr);
    } else if (what == 13) {
      const std::size_t i = random() % n;
      one.node->put(one.want[i].first, at::scalar_tensor(count, at::kLong));
      one.want[i].second = count++;
    } else if (what == 14 && all.size() < 4) {
      const NodePtr copy = random() % 2 == 0 ? one.node->shallow_copy()
                                             : TensorDict(NodePtr(one.node)).clone(false).node();
      One other{c10::intrusive_ptr<DenseNode>::reclaim_copy(as_dense(copy.get())), one.want};
      all.push_back(std::move(other));
    } else if (what == 15 && all.size() > 1) {
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(random() % all.size()));
    }
    if (step % 20 == 0) {
      for (const One& each : all) check(each);
    }
  }
}

}  // namespace
}  // namespace td::test
