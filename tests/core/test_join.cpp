// Stack and cat: several dictionaries of the same keys become one.
#include "core/apply/apply.h"
#include "core/keys/entries.h"
#include "core/shape/join.h"
#include "core/tree/lazy_ops.h"
#include "trees.h"

namespace td {
namespace {

using namespace test;

using Shape = std::vector<std::int64_t>;
using Trees = std::vector<TensorDict>;

TensorDict shifted(double by) {
  return apply(sample(), {},
               [&](Path, const at::Tensor& leaf) { return (leaf + by).to(leaf.scalar_type()); });
}

class JoinTest : public ::testing::TestWithParam<bool> {
 protected:
  at::AutoGradMode mode_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Modes, JoinTest, ::testing::Bool());

TEST_P(JoinTest, StackMakesADimension) {
  const Trees two{sample(), shifted(100)};
  const TensorDict front = td::stack(two, 0);
  EXPECT_EQ(list(front.batch_size()), (Shape{2, 4, 3}));
  EXPECT_EQ(list(front.get_dict({"n"}).batch_size()), (Shape{2, 4, 3}));
  EXPECT_TRUE(front.index({IndexItem::at(1)}).equal(two[1]));
  const TensorDict back = td::stack(two, -1);
  EXPECT_EQ(list(back.get({"a"}).sizes()), (Shape{4, 3, 2, 2}));
  EXPECT_TRUE(back.index({IndexItem::ellipsis(), IndexItem::at(0)}).equal(two[0]));
  const TensorDict middle = td::stack(two, 1);
  EXPECT_EQ(list(middle.get({"n", "b"}).sizes()), (Shape{4, 2, 3}));
  EXPECT_FALSE(front.get({"a"}).is_alias_of(two[0].get({"a"})));
}

TEST_P(JoinTest, AStackWhoseElementGotAnotherBatchSizeIsRefused) {
  TensorDict one = dict({1, 1});
  const TensorDict other = dict({1, 1});
  const Trees stacks{TensorDict(NodePtr(lazy_stack({one.node(), other.node()}, 2)))};
  one.set_batch_size({1});
  for (std::int64_t dim = 0; dim < 4; ++dim) {
    expect_error(Code::shape, "now has batch size [1]", [&] { td::stack(stacks, dim); });
    if (dim < 3) expect_error(Code::shape, "now has batch size [1]", [&] { td::cat(stacks, dim); });
  }
}

TEST_P(JoinTest, CatMakesADimensionLonger) {
  const Trees parts{sample(), sample().index({IndexItem::range(0, 0)}),
                    shifted(100).index({IndexItem::range(1, 3)})};
  const TensorDict rows = td::cat(parts, 0);
  EXPECT_EQ(list(rows.batch_size()), (Shape{6, 3}));
  EXPECT_TRUE(rows.index({IndexItem::range(0, 4)}).equal(parts[0]));
  EXPECT_TRUE(rows.index({IndexItem::range(4, {})}).equal(parts[2]));
  const Trees pair{sample(), shifted(100)};
  const TensorDict columns = td::cat(pair, -1);
  EXPECT_EQ(list(columns.get({"a"}).sizes()), (Shape{4, 6, 2}));
  EXPECT_EQ(numbers(columns.get({"n", "b"}).select(0, 0)),
            (std::vector<double>{0, 1, 2, 100, 101, 102}));
}

TEST_P(JoinTest, OneOrTheSameTwice) {
  const TensorDict td = sample();
  EXPECT_TRUE(td::stack(td, 0).index({IndexItem::at(0)}).equal(td));
  EXPECT_TRUE(td::cat(td, 0).equal(td));
  EXPECT_FALSE(td::cat(td, 0).get({"a"}).is_alias_of(td.get({"a"})));
  TensorDict both = td::stack(Trees{td, td}, 0);
  both.fill_at({IndexItem::at(0)}, at::zeros({}));
  EXPECT_TRUE(both.index({IndexItem::at(1)}).equal(td));
}

TEST_P(JoinTest, KeysInAnotherOrder) {
  TensorDict turned = dict({4, 3});
  turned.set({"n", "b"}, sample().get({"n", "b"}));
  turned.set({"a"}, sample().get({"a"}));
  const TensorDict both = td::stack(Trees{sample(), turned}, 0);
  EXPECT_EQ(list_keys(both).keys[0].path[0], "a");
  EXPECT_TRUE(both.index({IndexItem::at(1)}).equal(sample()));
}

TEST_P(JoinTest, DtypesArePromoted) {
  TensorDict whole = dict({2}), real = dict({2});
  whole.set({"a"}, ramp({2}, at::kInt));
  real.set({"a"}, ramp({2}, at::kDouble) + 0.5);
  for (const TensorDict& joined :
       {td::stack(Trees{whole, real}, 0), td::cat(Trees{whole, real}, 0)}) {
    EXPECT_EQ(joined.get({"a"}).scalar_type(), at::kDouble);
    EXPECT_EQ(numbers(joined.get({"a"})), (std::vector<double>{0, 1, 0.5, 1.5}));
  }
}

TEST_P(JoinTest, AnyLayout) {
  const TensorDict turned = sample().transpose(0, 1), dense = turned.contiguous();
  EXPECT_TRUE(td::stack(Trees{turned, dense}, 1).equal(td::stack(Trees{dense, dense}, 1)));
  EXPECT_TRUE(td::cat(Trees{turned, dense}, 1).equal(td::cat(Trees{dense, dense}, 1)));
}

TEST_P(JoinTest, Refused) {
  const TensorDict td = sample();
  expect_error(Code::invalid_argument, "at least one", [&] { td::stack({}, 0); });
  expect_error(Code::invalid_argument, "at least one", [&] { td::cat({}, 0); });
  expect_error(Code::index, "dimension 3", [&] { td::stack(td, 3); });
  expect_error(Code::index, "dimension 2", [&] { td::cat(td, 2); });
  expect_error(Code::index, "dimension 0", [&] { td::cat(dict({}), 0); });
  expect_error(Code::shape, "batch sizes", [&] { td::stack(Trees{td, td.transpose(0, 1)}, 0); });
  expect_error(Code::shape, "batch sizes", [&] { td::cat(Trees{td, td.transpose(0, 1)}, 0); });
  TensorDict other = td.clone(false);
  other.set({"more"}, at::ones({4, 3}));
  expect_error(Code::key_not_found, "more", [&] { td::stack(Trees{td, other}, 0); });
  expect_error(Code::key_not_found, "more", [&] { td::cat(Trees{other, td}, 0); });
  other = td.clone(false);
  other.get_dict({"n"}).remove({"b"});
  other.get_dict({"n"}).set({"x"}, at::ones({4, 3}));
  expect_error(Code::key_not_found, "\"", [&] { td::stack(Trees{td, other}, 0); });
  other = td.clone(false);
  other.set({"a"}, at::ones({4, 3, 7}));
  expect_error(Code::shape, "\"a\"", [&] { td::stack(Trees{td, other}, 0); });
  other = td.clone(false);
  other.set({"n"}, at::ones({4, 3}));
  expect_error(Code::wrong_entry, "\"n\"", [&] { td::stack(Trees{td, other}, 0); });
  other = td.clone(false);
  TensorDict longer = dict({4, 3, 2});
  longer.set({"b"}, at::ones({4, 3, 2}));
  other.set({"n"}, longer);
  expect_error(Code::shape, "\"n\"", [&] { td::stack(Trees{td, other}, 0); });
}

TEST_P(JoinTest, TheDeviceIsTheCommonOneOrNone) {
  TensorDict one(SizesView{2}, c10::Device(at::kCPU)), two(SizesView{2}, c10::Device(at::kCPU)),
      none = dict({2});
  EXPECT_EQ(td::stack(Trees{one, two}, 0).device()->type(), at::kCPU);
  EXPECT_FALSE(td::stack(Trees{one, none}, 0).device());
  EXPECT_FALSE(td::cat(Trees{none, two}, 0).device());
}

// A value for each element of the batch, also when all are equal; cat keeps one that is the same.
TEST_P(JoinTest, ValuesThatAreNoTensors) {
  TensorDict one = dict({2}), two = dict({2});
  one.set_non_tensor({"s"}, "\"x\"");
  two.set_non_tensor({"s"}, "\"x\"");
  const Trees equal{one, two};
  EXPECT_EQ(td::stack(equal, 0).get_non_tensor({"s"}), R"([["x", "x"], ["x", "x"]])");
  const TensorDict long_one = td::cat(equal, 0);
  EXPECT_EQ(as_dense(long_one.node().get())->find("s")->node()->kind(), NodeKind::non_tensor);
  two.set_non_tensor({"s"}, "\"y\"");
  const Trees unequal{one, two};
  EXPECT_EQ(td::stack(unequal, 1).get_non_tensor({"s"}), R"([["x", "y"], ["x", "y"]])");
  EXPECT_EQ(td::cat(unequal, 0).get_non_tensor({"s"}), R"(["x", "x", "y", "y"])");
}

}  // namespace
}  // namespace td
