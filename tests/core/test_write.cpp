// Writing a part of a dictionary, and the entries that are made by the first write.
#include "core/math/math.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/sub_tensordict.h"
#include "trees.h"

namespace td {
namespace {

using namespace test;

using Shape = std::vector<std::int64_t>;

Index nth(std::int64_t position) { return {IndexItem::at(position)}; }

TEST(Write, AnExistingEntryKeepsItsTensorAndDtype) {
  TensorDict td = dict({3});
  td.set({"a"}, at::zeros({3, 2}, at::kInt));
  const at::Tensor a = td.get({"a"});
  TensorDict row = dict({});
  row.set({"a"}, at::full({2}, 7.9, at::kDouble));
  td.set_at(nth(1), row);
  EXPECT_TRUE(td.get({"a"}).is_same(a));
  EXPECT_EQ(numbers(a), (std::vector<double>{0, 0, 7, 7, 0, 0}));
}

TEST(Write, TheFirstWriteMakesTheEntry) {
  TensorDict td = dict({10, 3});
  TensorDict step = dict({3});
  step.set({"a"}, at::ones({3}));
  step.set({"b"}, at::ones({3, 4}, at::kLong));
  step.set({"n", "c"}, at::ones({3}, at::kBool));
  for (int i = 0; i < 9; ++i) td.set_at(nth(i), step);
  const at::Tensor a = td.get({"a"});
  td.set_at(nth(8), step);
  EXPECT_TRUE(td.get({"a"}).is_same(a));
  EXPECT_EQ(list(a.sizes()), (Shape{10, 3}));
  EXPECT_EQ(list(td.get({"b"}).sizes()), (Shape{10, 3, 4}));
  EXPECT_EQ(td.get({"b"}).scalar_type(), at::kLong);
  EXPECT_EQ(list(td.get_dict({"n"}).batch_size()), (Shape{10, 3}));
  EXPECT_EQ(numbers(td.get({"n", "c"}).select(0, 8)), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(numbers(td.get({"n", "c"}).select(0, 9)), (std::vector<double>{0, 0, 0}))
      << "what was not written is zero";
}

TEST(Write, MembersWithMoreBatchDimensionsKeepThem) {
  TensorDict td = dict({2, 3});
  TensorDict value = dict({3});
  TensorDict inner = dict({3, 5});
  inner.set({"c"}, at::ones({3, 5, 2}));
  value.set({"n"}, inner);
  td.set_at(nth(1), value);
  EXPECT_EQ(list(td.get_dict({"n"}).batch_size()), (Shape{2, 3, 5}));
  EXPECT_EQ(list(td.get({"n", "c"}).sizes()), (Shape{2, 3, 5, 2}));
}

TEST(Write, ByTensorAndMaskInAnyOrder) {
  for (const bool grad : {false, true}) {
    const at::AutoGradMode mode(grad);
    TensorDict td = dict({4});
    TensorDict two = dict({2});
    two.set({"a"}, ramp({2, 2}) + 1);
    td.set_at({IndexItem::of(ints({3, 0}))}, two);
    EXPECT_EQ(numbers(td.get({"a"})), (std::vector<double>{3, 4, 0, 0, 0, 0, 1, 2}));
    td.set_at({IndexItem::of(mask({0, 1, 1, 0}))}, two);
    EXPECT_EQ(numbers(td.get({"a"})), (std::vector<double>{3, 4, 1, 2, 3, 4, 1, 2}));
    td.set_at({IndexItem::of(ints({1, 1}))}, two);  // the last one stays
    EXPECT_EQ(numbers(td.get({"a"}).select(0, 1)), (std::vector<double>{3, 4}));
  }
}

TEST(Write, ValuesAreBroadcast) {
  TensorDict td = dict({2, 4});
  td.set({"a"}, at::zeros({2, 4}));
  TensorDict row = dict({4});
  row.set({"a"}, ramp({4}));
  td.set_at({IndexItem::range(0, 1)}, row);
  EXPECT_EQ(numbers(td.get({"a"})), (std::vector<double>{0, 1, 2, 3, 0, 0, 0, 0}));
  td.set_at({}, row);
  EXPECT_EQ(numbers(td.get({"a"})), (std::vector<double>{0, 1, 2, 3, 0, 1, 2, 3}));
  TensorDict loose = dict({});  // no batch size, but leaves that fit
  loose.set({"a"}, ramp({4}) * 2);
  td.set_at(nth(0), loose);
  EXPECT_EQ(numbers(td.get({"a"}).select(0, 0)), (std::vector<double>{0, 2, 4, 6}));
  EXPECT_EQ(loose.batch_size().size(), 0U);
}

TEST(Write, ARefusedWriteChangesNothing) {
  TensorDict td = sample();
  TensorDict wide = dict({4});
  wide.set({"a"}, at::ones({4, 2}));
  expect_error(Code::shape, "batch size [3]", [&] { td.set_at(nth(0), wide); });
  TensorDict mixed = dict({3});
  mixed.set({"a"}, at::ones({3, 2}) * 50);
  mixed.set({"new"}, at::ones({3}));
  mixed.set({"n", "b"}, at::ones({3, 7}));  // does not fit
  expect_error(Code::shape, "\"b\"", [&] { td.set_at(nth(0), mixed); });
  TensorDict kind = dict({3});
  kind.set({"a"}, at::ones({3, 2}) * 50);
  kind.set({"n"}, at::ones({3}));
  expect_error(Code::wrong_entry, "\"n\"", [&] { td.set_at(nth(0), kind); });
  expect_error(Code::index, "", [&] { td.set_at(nth(4), mixed); });
  expect_error(Code::shape, "", [&] { td.fill_at(nth(0), at::ones({9})); });
  EXPECT_TRUE(td.equal(sample()));
}

TEST(Write, OneTensorIntoEveryLeaf) {
  for (const bool grad : {false, true}) {
    const at::AutoGradMode mode(grad);
    TensorDict td = sample();
    td.fill_at({IndexItem::of(mask({1, 0, 0, 1}))}, at::full({}, 5));
    EXPECT_EQ(numbers(td.get({"n", "b"})),
              (std::vector<double>{5, 5, 5, 3, 4, 5, 6, 7, 8, 5, 5, 5}));
    EXPECT_EQ(td.get({"a"})[3][2][1].item<float>(), 5);
    EXPECT_EQ(td.get({"a"})[1][0][0].item<float>(), 6);
    td.fill_at({IndexItem::ellipsis(), IndexItem::at(0)}, at::full({}, -1));
    EXPECT_EQ(numbers(td.get({"n", "b"}).select(1, 0)), (std::vector<double>{-1, -1, -1, -1}));
  }
}

TEST(Write, APartOfItselfIsReadFirst) {
  for (const bool grad : {false, true}) {
    const at::AutoGradMode mode(grad);
    TensorDict td = dict({4});
    td.set({"a"}, ramp({4}));
    td.set_at({IndexItem::range(1, 4)}, td.index({IndexItem::range(0, 3)}));
    EXPECT_EQ(numbers(td.get({"a"})), (std::vector<double>{0, 0, 1, 2}));
    td.set({"a"}, ramp({4}));
    td.set_at({IndexItem::of(ints({3, 2, 1, 0}))}, td);
    EXPECT_EQ(numbers(td.get({"a"})), (std::vector<double>{3, 2, 1, 0}));
  }
}

// Few sources are compared one by one with what is written, many are sorted first.
TEST(Write, ASourceThatIsOverwrittenIsReadFirstAmongFewAndMany) {
  for (const int leaves : {2, 16, 17, 100}) {
    for (const int from : {0, leaves / 2, leaves - 1}) {
      TensorDict td = dict({3}), row = dict({});
      for (int i = 0; i < leaves; ++i) {
        td.set({"k" + std::to_string(i)}, at::full({3}, i));
        row.set({"k" + std::to_string(i)}, at::full({}, 1000 + i));
      }
      const std::string first = "k" + std::to_string(from),
                        next = "k" + std::to_string((from + 1) % leaves);
      row.set({next}, td.get({first})[1]);  // a part of what another entry's write changes
      td.set_at(nth(1), row);
      EXPECT_EQ(numbers(td.get({next})),
                (std::vector<double>{double((from + 1) % leaves), double(from),
                                     double((from + 1) % leaves)}));
      EXPECT_EQ(numbers(td.get({first})),
                (std::vector<double>{double(from), 1000.0 + from, double(from)}));
    }
  }
}

TEST(Write, ANewEntryBeginsWithTheBatchSizeOfItsDictionary) {
  TensorDict td = dict({4}), source = dict({4}), inner = dict({4});
  td.set({"a"}, dict({4, 1}));
  inner.set({"b"}, at::ones({4, 2}));
  source.set({"a"}, inner);
  expect_error(Code::shape, "begin with the batch size [4, 1]", [&] { td.set_at({}, source); });
  EXPECT_EQ(td.get_dict({"a"}).node()->entry_names().size(), 0U);
  inner.set({"b"}, at::ones({4, 1, 2}));
  source.set({"a"}, inner);
  td.set_at({}, source);
  EXPECT_EQ(td.get(Path({"a", "b"})).sizes(), SizesView({4, 1, 2}));
}

// What index tensors and masks pick of a nested tensor is a copy, also if its parts follow one another.
TEST(Write, PartsOfANestedTensorByMaskAreCopies) {
  TensorDict td = dict({2});
  td.set({"a"}, at::zeros({2}));
  td.set({"i"}, TensorDict(NodePtr(make_nested_tensor({at::ones({1}), at::ones({3})}))));
  const auto sum = [&] {
    return elements_of(Value(get_nested_tensor(td, Path("i")).node()))->sum().item<double>();
  };
  const Index both{IndexItem::of(mask({1, 1}))}, rows{IndexItem::range(0, 2)};
  fill_(td.index(both), Path("i"), 5);
  EXPECT_EQ(sum(), 4);
  expect_error(Code::unsupported, "nested tensor",
               [&] { fill_(sub_tensordict(td, both), Path("i"), 5); });
  EXPECT_EQ(sum(), 4) << "refused before a write";
  const at::Tensor part = td.index({IndexItem::of(ints({1}).squeeze())}).get({"i"});
  part.zero_();
  EXPECT_EQ(sum(), 4);
  fill_(td.index(rows), Path("i"), 5);
  EXPECT_EQ(sum(), 20) << "a slice shares memory";
}

TEST(Write, CountsAsOneChangeOfEachLeaf) {
  const at::NoGradGuard no_grad;
  TensorDict td = sample();
  const at::Tensor a = td.get({"a"});
  const at::Tensor view = a.select(0, 0);
  const auto before = a._version();
  td.set_at(nth(1), sample().index(nth(0)));
  EXPECT_EQ(a._version(), before + 1);
  td.set_at({IndexItem::of(ints({0, 2}))}, sample().index({IndexItem::range(0, 2)}));
  EXPECT_EQ(view._version(), before + 2);
  td.set_inplace({"a"}, at::zeros({4, 3, 2}));
  EXPECT_EQ(a._version(), before + 3);
}

TEST(Write, RepeatedMemoryIsRefusedAsByLibtorch) {
  for (const bool grad : {false, true}) {
    const at::AutoGradMode mode(grad);
    TensorDict td = dict({3});
    const at::Tensor base = ramp({1, 2});
    td.set({"a"}, base.expand({3, 2}));
    TensorDict value = dict({3});
    value.set({"a"}, ramp({3, 2}) + 9);
    EXPECT_ANY_THROW(td.set_at({IndexItem::range(0, 3)}, value));
    EXPECT_EQ(numbers(base), (std::vector<double>{0, 1}));
  }
}

TEST(Write, AnInferenceTensorIsWrittenInInferenceModeOnly) {
  TensorDict td = dict({3}), row = dict({});
  {
    const c10::InferenceMode inference;
    td.set({"a"}, at::zeros({3, 2}));
  }
  row.set({"a"}, at::ones({2}));
  for (const bool grad : {false, true}) {
    const at::AutoGradMode mode(grad);
    expect_error(Code::torch, "inference", [&] { td.set_at(nth(1), row); });
  }
  const c10::InferenceMode inference;
  EXPECT_EQ(numbers(td.get({"a"}).sum()), (std::vector<double>{0}));
  td.set_at(nth(1), row);
  EXPECT_EQ(numbers(td.get({"a"}).sum()), (std::vector<double>{2}));
}

// The device of the dictionary holds for entries that a write makes.
TEST(Write, NewEntriesAreOnTheDevice) {
  TensorDict td(SizesView{3}, c10::Device(at::kMeta));
  TensorDict row = dict({});
  row.set({"a"}, at::ones({2}));
  row.set({"n", "b"}, at::ones({}));
  td.set_at(nth(1), row);
  EXPECT_TRUE(td.get({"a"}).is_meta());
  EXPECT_TRUE(td.get({"n", "b"}).is_meta());
  EXPECT_EQ(td.get_dict({"n"}).device()->type(), at::kMeta);
  EXPECT_EQ(list(td.get({"a"}).sizes()), (Shape{3, 2}));
}

// A part without positions has the entries of all elements: with a tensor in one and a dictionary in another it could not
// be read.
TEST(Write, ANewEntryOfAPartIsOfOneKindInAllElements) {
  TensorDict last = dict({3});
  last.set({"i"}, at::ones({3}));
  const TensorDict stack(NodePtr(lazy_stack({dict({3}).node(), dict({3}).node(), last.node()}, 0)));
  TensorDict none = sub_tensordict(stack, IndexItem::range(0, 0, 1));
  EXPECT_EQ(code_of([&] { none.set({"i", "a"}, at::ones({0, 3})); }), Code::wrong_entry);
  EXPECT_EQ(code_of([&] { none.set_non_tensor({"i"}, "0"); }), Code::wrong_entry);
  EXPECT_TRUE(none.clone().is_empty());
  EXPECT_TRUE(last.get({"i"}).equal(at::ones({3})));
}

}  // namespace
}  // namespace td
