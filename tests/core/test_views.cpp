// Views whose leaves are made when they are first read.
#include "core/inspect/owned_nbytes.h"
#include "core/shape/shape.h"
#include "core/tree/dense_node.h"
#include "core/tree/view_ops.h"
#include "trees.h"

#include <atomic>
#include <thread>

namespace td {
namespace {

using namespace test;

const DenseNode& dense(const TensorDict& td) { return *as_dense(td.node().get()); }
bool unread(const TensorDict& td) { return dense(td).row()->is_view(); }

// Leaves are made later where no gradients are recorded.
class Views : public testing::Test {
  at::NoGradGuard no_grad_;
};

TEST_F(Views, ALeafIsMadeOnceWhenItIsRead) {
  const TensorDict td = sample();
  const TensorDict row = td.index(IndexItem::at(2));
  EXPECT_TRUE(unread(row));
  EXPECT_TRUE(unread(row.get_dict({"n"})));
  const at::Tensor a = row.get({"a"});
  EXPECT_TRUE(a.equal(td.get({"a"})[2]));
  EXPECT_TRUE(row.get({"a"}).is_same(a));
  EXPECT_TRUE(row.get({"n", "b"}).equal(td.get({"n", "b"})[2]));
}

TEST_F(Views, AViewHasTheTensorsOfItsSourceWhenItWasMade) {
  TensorDict td = sample();
  const at::Tensor a = td.get({"a"}), b = td.get({"n", "b"});
  const TensorDict row = td.index(IndexItem::at(1));
  td.set({"a"}, at::zeros({4, 3}));
  td.set({"new"}, at::zeros({4, 3}));
  td.remove({"n", "b"});
  td.set({"n", "c"}, at::zeros({4, 3}));
  a.add_(100);  // in place: both see it
  EXPECT_EQ(dense(row).entry_names(), (std::vector<std::string>{"a", "n"}));
  EXPECT_EQ(dense(row.get_dict({"n"})).entry_names(), (std::vector<std::string>{"b"}));
  EXPECT_TRUE(row.get({"a"}).equal(a[1]));
  EXPECT_TRUE(row.get({"n", "b"}).equal(b[1]));
  row.get({"a"}).zero_();
  EXPECT_EQ(a[1].sum().item<float>(), 0);
}

// They are made when one of them is read.
TEST_F(Views, NestedDictionariesAreThoseOfTheSourceWhenItWasMade) {
  TensorDict td = sample();
  td.set({"m", "c"}, ramp({4, 3, 5}));
  const at::Tensor b = td.get({"n", "b"}), c = td.get({"m", "c"});
  const TensorDict row = td.index(IndexItem::at(1)), kept = td.index(IndexItem::at(2));
  const std::vector<TensorDict> parts = td.unbind(1);
  td.get_dict({"n"}).set_batch_size(SizesView{4});
  td.set({"n", "b"}, at::zeros({4, 3}));
  td.set({"n", "deep", "x"}, at::zeros({4, 3}));
  td.remove({"m"});
  td.set({"m"}, at::zeros({4, 3}));
  td = TensorDict(SizesView{});
  TensorDict copy = row.clone(false);
  EXPECT_TRUE(row.get({"n", "b"}).equal(b[1]));
  EXPECT_EQ(row.get_dict({"n"}).batch_size(), (SizesView{3}));
  EXPECT_EQ(dense(row.get_dict({"n"})).entry_names(), (std::vector<std::string>{"b"}));
  EXPECT_TRUE(row.get({"m", "c"}).equal(c[1]));
  EXPECT_TRUE(copy.get({"m", "c"}).equal(c[1]));
  EXPECT_EQ(row.get_dict({"m"}).node(), row.get_dict({"m"}).node());
  EXPECT_TRUE(parts[2].get({"m", "c"}).equal(c.select(1, 2)));
  EXPECT_EQ(parts[0].get_dict({"n"}).batch_size(), (SizesView{4}));
  TensorDict changed = kept;
  changed.set({"a"}, at::ones({3}));  // makes them
  EXPECT_TRUE(changed.get({"n", "b"}).equal(b[2]));
  changed.lock();
  EXPECT_TRUE(changed.get_dict({"m"}).is_locked());
}

TEST_F(Views, NestedDictionariesOfViewsOfViews) {
  for (const bool read : {false, true}) {
    const TensorDict td = sample();
    const at::Tensor b = td.get({"n", "b"});
    const TensorDict one = td.index(IndexItem::range(1, 4, 2)), part = td.unbind(1)[2];
    if (read) {
      EXPECT_EQ(one.get({"n", "b"}).dim() + part.get({"n", "b"}).dim(), 3);
    }
    EXPECT_TRUE(one.index(IndexItem::at(1)).get({"n", "b"}).equal(b[3]));
    EXPECT_TRUE(one.permute(SizesView{1, 0})
                    .unbind(0)[1]
                    .get({"n", "b"})
                    .equal(b.slice(0, 1, 4, 2).select(1, 1)));
    EXPECT_TRUE(part.view(SizesView{2, 2}).get({"n", "b"}).equal(b.select(1, 2).reshape({2, 2})));
    EXPECT_TRUE(part.unsqueeze(0).index(IndexItem::at(0)).get({"n", "b"}).equal(b.select(1, 2)));
  }
}

TEST_F(Views, AChangedViewLeavesItsSource) {
  const TensorDict td = sample();
  TensorDict row = td.index(IndexItem::at(1)), other = row.clone(false);
  row.set({"a"}, at::ones({3}));
  row.set({"c"}, at::ones({3}));
  row.remove({"n"});
  EXPECT_FALSE(unread(row));
  EXPECT_EQ(row.get({"a"}).dim(), 1);
  EXPECT_TRUE(other.get({"a"}).equal(td.get({"a"})[1]));
  EXPECT_TRUE(other.get({"n", "b"}).equal(td.get({"n", "b"})[1]));
  EXPECT_EQ(td.get({"a"}).dim(), 3);
}

TEST_F(Views, ViewsOfViewsAreOneStep) {
  const TensorDict td = sample();
  const at::Tensor a = td.get({"a"});
  const TensorDict one = td.index(IndexItem::range(1, 4, 2));
  const TensorDict two = one.permute(SizesView{1, 0});
  const TensorDict three = two.index({IndexItem::ellipsis(), IndexItem::at(-1)});
  EXPECT_TRUE(unread(three));
  EXPECT_TRUE(three.get({"a"}).equal(a[3]));
  EXPECT_EQ(three.get({"a"}).strides(), a[3].strides());
  const TensorDict parts = td.unbind(1)[2].unsqueeze(0).index({IndexItem::at(0), IndexItem::at(1)});
  EXPECT_TRUE(parts.get({"a"}).equal(a.select(1, 2)[1]));
  EXPECT_TRUE(td.view(SizesView{12}).index(IndexItem::at(5)).get({"a"}).equal(a.view({12, 2})[5]));
  EXPECT_TRUE(
      td.index(IndexItem::at(1)).view(SizesView{3, 1}).get({"a"}).equal(a[1].view({3, 1, 2})));
  EXPECT_EQ(td.unsqueeze(0).expand(SizesView{5, 4, 3}).get({"a"}).strides(),
            a.unsqueeze(0).expand({5, 4, 3, 2}).strides());
}

TEST_F(Views, OneStepKnowsFewerDimensionsThanTheOther) {
  const TensorDict td = sample();
  const at::Tensor a = td.get({"a"}), b = td.get({"n", "b"});
  TensorDict view = td.permute(SizesView{1, 0});
  view.set_batch_size(SizesView{3});
  const TensorDict row = view.index({IndexItem::range(1, 3, 1), IndexItem::none()});
  EXPECT_TRUE(unread(row));
  EXPECT_TRUE(row.get({"a"}).equal(a.transpose(0, 1).slice(0, 1, 3).unsqueeze(1)));
  EXPECT_TRUE(row.get({"n", "b"}).equal(b.transpose(0, 1).slice(0, 1, 3).unsqueeze(1)));
  TensorDict holder(SizesView{});
  TensorDict single(SizesView{});
  single.set({"x"}, at::ones({2}));
  holder.set({"e"}, single.expand(SizesView{3}));
  holder.set({"u"}, single.unsqueeze(0));
  holder.set({"w"}, td.index({IndexItem::ellipsis(), IndexItem::at(2)}));
  const TensorDict wide = holder.expand(SizesView{5});
  EXPECT_EQ(wide.get({"e", "x"}).sizes(), (SizesView{5, 3, 2}));
  EXPECT_EQ(wide.get({"u", "x"}).sizes(), (SizesView{5, 1, 2}));
  EXPECT_TRUE(wide.get({"w", "a"}).equal(a.select(1, 2).expand({5, 4, 2})));
}

TEST_F(Views, ErrorsComeFromTheCallThatMakesTheView) {
  TensorDict td = sample();
  td.set({"a"}, ramp({3, 4, 2}).transpose(0, 1));
  EXPECT_EQ(code_of([&] { td.index(IndexItem::at(4)); }), Code::index);
  EXPECT_EQ(code_of([&] { td.view(SizesView{12}); }), Code::shape);
  EXPECT_EQ(code_of([&] { td.index(IndexItem::range(0, 4, 2)).view(SizesView{6}); }), Code::shape);
  EXPECT_TRUE(td.reshape(SizesView{12}).get({"a"}).equal(td.get({"a"}).reshape({12, 2})));
}

TEST_F(Views, SmallSizes) {
  TensorDict td(SizesView{});
  td.set({"a"}, at::ones({2}));
  EXPECT_EQ(td.unsqueeze(0).get({"a"}).sizes(), (SizesView{1, 2}));
  EXPECT_EQ(td.expand(SizesView{0}).get({"a"}).sizes(), (SizesView{0, 2}));
  TensorDict none(SizesView{0, 3});
  none.set({"a"}, at::ones({0, 3, 2}));
  EXPECT_TRUE(none.unbind(0).empty());
  EXPECT_EQ(none.unbind(1)[2].get({"a"}).sizes(), (SizesView{0, 2}));
  EXPECT_EQ(none.view(SizesView{3, 0}).get({"a"}).sizes(), (SizesView{3, 0, 2}));
  EXPECT_TRUE(TensorDict(SizesView{2}).index(IndexItem::at(0)).is_empty());
}

TEST_F(Views, MemoryIsThatOfTheLeaves) {
  TensorDict td(SizesView{4, 3});
  td.set({"a"}, at::ones({4, 3, 2}));
  td.set({"n", "b"}, at::ones({4, 3}, at::kLong));
  EXPECT_EQ(owned_nbytes(td), 192u);
  {
    const TensorDict row = td.index(IndexItem::at(0));
    EXPECT_EQ(owned_nbytes(td), 0u);
    EXPECT_EQ(owned_nbytes(row), 0u);
    row.get({"a"});
    EXPECT_EQ(owned_nbytes(row), 0u);
  }
  EXPECT_EQ(owned_nbytes(td), 192u);
  const TensorDict row = td.index(IndexItem::at(0));
  td = TensorDict(SizesView{});
  EXPECT_EQ(owned_nbytes(row), 192u);
  row.get({"a"});
  EXPECT_EQ(owned_nbytes(row), 192u);
}

TEST_F(Views, WhatIsNestedMayChangeKind) {
  TensorDict td = sample();
  td.set({"s"}, td.get_dict({"n"}));
  const TensorDict row = td.index(IndexItem::at(1));
  EXPECT_EQ(row.get_dict({"n"}).node(), row.get_dict({"s"}).node());
  td.set({"n"}, at::zeros({4, 3}));
  td.set({"a"}, row.get_dict({"n"}).unsqueeze(0).expand(SizesView{4, 3}));
  EXPECT_EQ(td.kind_of({"n"}), EntryKind::tensor);
  EXPECT_EQ(td.kind_of({"a"}), EntryKind::dict);
  EXPECT_EQ(td.index(IndexItem::at(3)).get({"a", "b"}).sizes(), (SizesView{3}));
  EXPECT_EQ(td.index(IndexItem::at(3)).get({"n"}).sizes(), (SizesView{3}));
  td.remove({"n"});
  td.remove({"a"});
  EXPECT_EQ(dense(td).entry_names(), (std::vector<std::string>{"s"}));
  EXPECT_EQ(td.get({"s", "b"}).dim(), 2);
}

TEST_F(Views, ManyEntriesWithGaps) {
  TensorDict td(SizesView{2});
  for (int i = 0; i < 200; ++i) {
    const std::string name = std::to_string(i);
    if (i % 3 == 0) {
      td.set({name, "x"}, at::full({2}, i));
    } else {
      td.set({name}, at::full({2}, i));
    }
  }
  TensorDict row = td.index(IndexItem::at(1));
  const auto check = [](const TensorDict& of, int step) {
    for (int i = 0; i < 200; i += step) {
      const std::string name = std::to_string(i);
      const at::Tensor leaf = i % 3 == 0 ? of.get({name, "x"}) : of.get({name});
      EXPECT_TRUE(leaf.eq(i).all().item<bool>());
    }
  };
  for (int i = 0; i < 200; ++i) {
    if (i % 2 == 0) continue;
    td.remove({std::to_string(i)});
    if (i % 5 == 0) check(td.index(IndexItem::at(0)), 2);
  }
  check(td, 2);
  check(row, 1);
  row.remove({"3"});
  td.set({"2"}, at::full({2}, 2));
  check(td.clone(false), 2);
}

TEST_F(Views, OneViewReadByThreads) {
  TensorDict td(SizesView{8});
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::to_string(i);
    td.set({name}, at::full({8}, i));
    td.set({i % 2 == 0 ? "even" : "odd", name}, at::full({8}, i));
  }
  for (int round = 0; round < 20; ++round) {
    const TensorDict row = td.index(IndexItem::at(3)), other = row.unsqueeze(0);
    std::atomic<int> waiting{4}, wrong{0};
    std::vector<std::thread> all;
    for (int k = 0; k < 4; ++k) {
      all.emplace_back([&, k] {
        const at::NoGradGuard no_grad;
        --waiting;
        while (waiting > 0) std::this_thread::yield();
        for (int i = 0; i < 100; ++i) {
          const std::string name = std::to_string(k % 2 == 0 ? i : 99 - i);
          const TensorDict& from = k == 3 ? other : row;
          const int number = std::stoi(name);
          wrong += from.get({name}).item<int>() != number;
          wrong += from.get({number % 2 == 0 ? "even" : "odd", name}).item<int>() != number;
          if (i == 50) wrong += row.unsqueeze(0).get({name}).item<int>() != std::stoi(name);
        }
      });
    }
    if (round % 2 == 0) {  // copies rows
      td.set({"7"}, at::full({8}, 7));
      td.set({"odd", "7"}, at::full({8}, 7));
    }
    for (std::thread& one : all) one.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(ViewsRecorded, LeavesAreMadeAtOnceWhileGradientsAreRecorded) {
  const at::AutoGradMode recording(true);
  TensorDict td = sample();
  td.set({"a"}, at::ones({4, 3}).requires_grad_());
  const TensorDict row = td.index(IndexItem::at(2));
  EXPECT_FALSE(unread(row));
  EXPECT_TRUE(row.get({"a"}).requires_grad());
}

}  // namespace
}  // namespace td
