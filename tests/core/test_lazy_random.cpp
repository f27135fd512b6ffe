// Whatever is done to a lazy stack, a sub-tensordict or values gives what the same does to a dense dictionary.
#include "core/inspect/print.h"
#include "core/keys/entries.h"
#include "core/keys/masked.h"
#include "core/math/math.h"
#include "core/shape/fill.h"
#include "core/shape/join.h"
#include "core/shape/select_rows.h"
#include "core/tree/lazy_index.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/non_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/sub_tensordict.h"
#include "random_index.h"

#include <gtest/gtest.h>

namespace td::test {

namespace {

TensorDict dense_sample(Random& random) {
  std::vector<std::int64_t> batch(static_cast<std::size_t>(1 + random.below(3)));
  for (std::int64_t& size : batch) size = 1 + random.below(3);
  TensorDict td{SizesView(batch)};
  std::vector<std::int64_t> sizes = batch;
  td.set({"a"}, ramp(sizes, at::kLong));
  sizes.push_back(2);
  td.set({"n", "b"}, ramp(sizes));
  td.set({"n", "m", "c"}, ramp(batch, at::kInt));
  const at::Tensor numbers = ramp(batch, at::kLong);
  std::vector<NodePtr> owned;
  std::vector<const NonTensorNode*> values;
  for (std::int64_t i = 0; i < numbers.numel(); ++i) {
    owned.push_back(c10::make_intrusive<NonTensorNode>(Plain::of_text(std::to_string(i)),
                                                       SizesView{}, std::nullopt));
    values.push_back(static_cast<const NonTensorNode*>(owned.back().get()));
  }
  const std::string_view name = "v";
  td.set(name, TensorDict(make_non_tensor(values, numbers, std::nullopt)));
  return td;
}

// The same content in another form.
TensorDict in_disguise(Random& random, const TensorDict& td) {
  const std::int64_t dim = random.below(static_cast<std::int64_t>(td.batch_size().size()));
  if (random.chance(50)) {
    const TensorDict lazy(to_lazy(td.clone().node(), dim));
    if (random.chance(70)) return lazy;
    // A lazy stack of lazy stacks, where there is a dimension left for it.
    std::vector<NodePtr> elements;
    for (const NodePtr& element : as_lazy(lazy.node().get())->elements()) {
      if (element->batch().empty()) return lazy;
      elements.push_back(to_lazy(element, 0));
    }
    return TensorDict(NodePtr(lazy_stack(std::move(elements), dim)));
  }
  TensorDict mixed = td.clone();
  const std::string_view name = "n";
  mixed.set(name, TensorDict(to_lazy(td.get_dict(name).clone().node(), dim)));
  return mixed;
}

std::string show(const TensorDict& td) { return print(td); }

void expect_same(const TensorDict& found, const TensorDict& wanted, int round,
                 const std::string& what) {
  ASSERT_EQ(found.batch_size(), wanted.batch_size()) << what << ", round " << round;
  // Nothing is known of the keys of a lazy stack without elements.
  for (const std::int64_t size : wanted.batch_size()) {
    if (size == 0) return;
  }
  EXPECT_TRUE(TensorDict(all_dense(found.node())).equal(wanted))
      << what << ", round " << round << "\n"
      << show(found) << "\n"
      << show(wanted);
}

}  // namespace

TEST(LazyRandom, ReadAtAnIndex) {
  Random random(11);
  for (int round = 0; round < 3000; ++round) {
    const TensorDict td = dense_sample(random);
    const TensorDict other = in_disguise(random, td);
    const RandomIndex index(random, td.batch_size(), /*unique=*/false);
    const TensorDict wanted = td.index(index.items);
    expect_same(other.index(index.items), wanted, round, "index");
    expect_same(sub_tensordict(other, index.items), wanted, round, "sub-tensordict");
    if (HasFailure()) return;
  }
}

TEST(LazyRandom, WrittenAtAnIndex) {
  Random random(12);
  for (int round = 0; round < 3000; ++round) {
    TensorDict td = dense_sample(random);
    TensorDict other = in_disguise(random, td);
    const RandomIndex index(random, td.batch_size(), /*unique=*/true);
    TensorDict part = td.index(index.items).clone();
    const std::string_view a[] = {"a"}, b[] = {"n", "b"};
    part.set(Path(a), part.get(Path(a)) + 100);
    part.set(Path(b), part.get(Path(b)) * -1);
    const std::string_view v = "v";
    if (random.chance(30)) set_value(part, v, "\"new\"");
    const TensorDict source = random.chance(50) ? part : part.clone();
    const bool of_a_part = random.chance(30);
    td.set_at(index.items, source);
    if (of_a_part) {
      TensorDict whole = sub_tensordict(other, index.items);
      whole.set_at({}, source);
    } else {
      other.set_at(index.items, source);
    }
    expect_same(other, td, round, of_a_part ? "write through a sub-tensordict" : "write");
    if (HasFailure()) return;
    td.fill_at(index.items, at::full({}, 3));
    other.fill_at(index.items, at::full({}, 3));
    expect_same(other, td, round, "fill");
    if (HasFailure()) return;
  }
}

TEST(LazyRandom, Shapes) {
  Random random(13);
  for (int round = 0; round < 3000; ++round) {
    const TensorDict td = dense_sample(random);
    const TensorDict other = in_disguise(random, td);
    const auto n = static_cast<std::int64_t>(td.batch_size().size());
    const std::int64_t dim = random.below(n), second = random.below(n);
    const auto both = [&](const char* what, auto call) {
      expect_same(call(other), call(td), round, what);
    };
    both("transpose", [&](const TensorDict& t) { return t.transpose(dim, second); });
    both("permute", [&, order = random.order(static_cast<std::size_t>(n))](const TensorDict& t) {
      return t.permute(order);
    });
    both("unsqueeze", [&](const TensorDict& t) { return t.unsqueeze(dim); });
    both("squeeze", [&](const TensorDict& t) { return t.squeeze(); });
    both("squeeze of one", [&](const TensorDict& t) { return t.squeeze(dim); });
    both("reshape", [](const TensorDict& t) { return t.reshape({-1}); });
    both("expand", [&](const TensorDict& t) {
      Sizes sizes(t.batch_size().begin(), t.batch_size().end());
      sizes.insert(sizes.begin(), 2);
      return t.expand(sizes);
    });
    both("unbind", [&](const TensorDict& t) { return t.unbind(dim).back(); });
    both("stack", [&](const TensorDict& t) { return td::stack({t, t.clone()}, dim); });
    both("cat", [&](const TensorDict& t) { return td::cat({t, t.clone()}, dim); });
    both("clone", [](const TensorDict& t) { return t.clone(); });
    expect_same(td::stack({td, other}, dim), td::stack({td, td}, dim), round, "stack of both");
    expect_same(td::cat({td, other}, dim), td::cat({td, td}, dim), round, "cat of both");
    EXPECT_TRUE(other.equal(td) && td.equal(other)) << round;
    EXPECT_EQ(other.nbytes(), td.nbytes()) << round;
    if (HasFailure()) return;
  }
}

TEST(LazyRandom, Rows) {
  Random random(15);
  for (int round = 0; round < 1500; ++round) {
    const TensorDict td = dense_sample(random);
    const TensorDict other = in_disguise(random, td);
    const auto n = static_cast<std::int64_t>(td.batch_size().size());
    const std::int64_t dim = random.below(n);
    const auto both = [&](const char* what, auto call) {
      expect_same(call(other), call(td), round, what);
    };
    Sizes counts;
    for (std::int64_t i = 0; i < n; ++i) counts.push_back(random.below(3));
    both("repeat", [&](const TensorDict& t) { return repeat(t, counts); });
    both("flip", [&](const TensorDict& t) { return flip(t, dim); });
    both("roll", [&](const TensorDict& t) { return roll(t, {2}, SizesView(dim)); });
    both("roll of all", [](const TensorDict& t) { return roll(t, {2}, std::nullopt); });
    both("gather",
         [&](const TensorDict& t) { return gather(t, dim, at::zeros(t.batch_size(), at::kLong)); });
    both("like", [](const TensorDict& t) { return filled_like(t, {Filling::ones, 0, {}, {}}); });
    both("view", [](const TensorDict& t) { return t.clone().view({-1}); });
    const std::int64_t covered = 1 + random.below(n);
    const std::vector<std::int64_t> sizes(td.batch_size().begin(),
                                          td.batch_size().begin() + covered);
    const at::Tensor mask = ramp(sizes, at::kLong).remainder(2 + random.below(2)).eq(0);
    both("masked_fill", [&](const TensorDict& t) { return masked_fill(t, mask, at::full({}, 7)); });
    both("masked_select", [&](const TensorDict& t) { return masked_select(t, mask); });
    if (HasFailure()) return;
  }
}

TEST(LazyRandom, Entries) {
  Random random(14);
  for (int round = 0; round < 500; ++round) {
    TensorDict td = dense_sample(random);
    TensorDict other = in_disguise(random, td);
    const std::string_view b[] = {"n", "b"}, c[] = {"n", "m", "c"}, made[] = {"n", "x", "y"};
    EXPECT_TRUE(equal_tensors(other.get(Path(c)), td.get(Path(c))));
    const at::Tensor value = td.get(Path(b)) * 2 + 1;
    for (TensorDict* one : {&td, &other}) {
      one->set(Path(made), value);
      one->set_inplace(Path(b), value.slice(-1, 0, 1));
      one->remove(Path(c));
    }
    expect_same(other, td, round, "entries");
    const KeyList keys = list_keys(other, {true, false, true}),
                  wanted = list_keys(td, {true, false, true});
    ASSERT_EQ(keys.keys.size(), wanted.keys.size());
    for (std::size_t i = 0; i < keys.keys.size(); ++i) {
      EXPECT_EQ(keys.keys[i].path, wanted.keys[i].path);
      EXPECT_EQ(keys.keys[i].kind, wanted.keys[i].kind);
    }
    if (HasFailure()) return;
  }
}

// As a whole two stacks show common keys only; the values of the others are not lost.
TEST(LazyStacks, WhereTakesTheKeysOfEachElement) {
  const auto stack_of_two = [](bool all, float value) {
    std::vector<NodePtr> elements;
    for (int i = 0; i < 2; ++i) {
      TensorDict td = dict({3});
      if (all || i == 1) td.set({"x"}, at::full({3}, value + static_cast<float>(i)));
      elements.push_back(td.node());
    }
    return TensorDict(NodePtr(lazy_stack(std::move(elements), 0)));
  };
  const TensorDict one = stack_of_two(true, 10), other = stack_of_two(false, 20);
  const at::Tensor condition = mask({1, 0, 0, 0, 1, 0}).view({2, 3});
  const TensorDict picked = where(one, condition, other, at::full({}, -1.0F));
  EXPECT_EQ(numbers(picked.get({"x"})), (std::vector<double>{10, -1, -1, 21, 11, 21}));
  expect_error(Code::key_not_found, "where needs", [&] { where(one, condition, other, {}); });
  const TensorDict same = where(other, condition, other, {});
  EXPECT_EQ(numbers(TensorDict(stacked(*same.node())[1]).get({"x"})),
            (std::vector<double>{21, 21, 21}));
}

// Elements that an index takes whole are no copies: nothing is written back into them.
TEST(LazyStacks, AMaskFillsElementsThatAnIndexTakesWhole) {
  TensorDict element = dict({3, 2});
  element.set({"x"}, at::arange(3, at::kFloat).view({3, 1}).expand({3, 2}));
  const TensorDict stack(NodePtr(lazy_stack({element.node()}, 0)));
  const IndexItem first[] = {IndexItem::of(ints({0}))};
  const TensorDict part = sub_tensordict(stack, first);
  masked_fill_(part, mask({1}), at::full({}, 7.0F));
  EXPECT_EQ(numbers(element.get({"x"})), std::vector<double>(6, 7));
}

TEST(LazyStacks, AnEmptyPartOfEntriesThatLostTheirBatch) {
  TensorDict element = dict({3, 2});
  element.set({"inner"}, dict({3, 2}));
  TensorDict inner = element.get_dict({"inner"});
  inner.set_batch_size(Sizes{3});
  const TensorDict stack(NodePtr(lazy_stack({element.node(), element.node()}, 0)));
  const IndexItem none[] = {IndexItem::range(1, 1)};
  expect_error(Code::shape, "begin with the batch size", [&] { stack.index(none); });
}

// As tensordict 0.15.3: a value that broadcasts goes whole to each element. A dense dictionary takes the first
// dimensions of its entries for the batch instead.
TEST(LazyStacks, AValueWithoutBatchGoesWholeToEachElement) {
  const at::Tensor six = at::arange(6, at::kFloat).view({2, 3});
  const auto stack_of_two = [] {
    std::vector<NodePtr> elements;
    for (int i = 0; i < 2; ++i) {
      TensorDict td = dict({});
      td.set({"x"}, at::zeros({2, 3}));
      elements.push_back(td.node());
    }
    return TensorDict(NodePtr(lazy_stack(std::move(elements), 0)));
  };
  const auto value_of = [](std::initializer_list<std::int64_t> batch, const at::Tensor& x) {
    TensorDict td = dict(batch);
    td.set({"x"}, x);
    return td;
  };
  const IndexItem all[] = {IndexItem::range(0, 2)};
  const std::vector<double> whole{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
  const std::vector<double> rows{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5};
  TensorDict lazy = stack_of_two();
  lazy.set_at(all, value_of({}, six));
  EXPECT_EQ(numbers(lazy.get({"x"})), whole);
  lazy.set_at(all, value_of({2}, six));
  EXPECT_EQ(numbers(lazy.get({"x"})), rows);
  lazy.set_at(all, value_of({1}, six.unsqueeze(0)));
  EXPECT_EQ(numbers(lazy.get({"x"})), whole);
  expect_error(Code::shape, "differs from the batch size",
               [&] { lazy.set_at(all, value_of({3}, six.t())); });
  expect_error(Code::shape, "cannot write shape", [&] {
    lazy.set_at(all, value_of({}, six.expand({2, 2, 3})));
  });
  TensorDict dense = TensorDict(dense_form(lazy.node()));
  dense.set_at(all, value_of({}, six.expand({2, 2, 3})));
  EXPECT_EQ(numbers(dense.get({"x"})), whole);
}

// An index tensor of two dimensions takes elements whole, too, so that nothing is to be written back.
TEST(LazyStacks, ElementsThatAnIndexOfTwoDimensionsTakesAreNoCopies) {
  TensorDict element = dict({3});
  element.set({"x"}, at::ones({3}));
  const at::Tensor parts[] = {at::ones({1}), at::ones({2}), at::ones({3})};
  element.set({"ragged"}, TensorDict(NodePtr(make_nested_tensor(parts))));
  const TensorDict stack(NodePtr(lazy_stack({element.node(), element.node()}, 0)));
  const IndexItem both[] = {IndexItem::of(ints({0, 1}).view({2, 1}))};
  const TensorDict part = sub_tensordict(stack, both);
  zero_(part);
  EXPECT_EQ(numbers(element.get({"x"})), std::vector<double>(3, 0));
}

}  // namespace td::test
