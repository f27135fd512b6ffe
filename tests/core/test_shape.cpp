// Operations on the batch dimensions: what they give, what is shared, what is refused.
#include "core/shape/join.h"
#include "trees.h"

namespace td {
namespace {

using namespace test;

using Shape = std::vector<std::int64_t>;

// Batch size [4,3], feature dimensions, and a member with one more batch dimension.
TensorDict deep_sample() {
  TensorDict td = sample();
  TensorDict m = dict({4, 3, 5});
  m.set({"c"}, ramp({4, 3, 5, 2}));
  td.set({"m"}, m);
  td.set_non_tensor({"s"}, "\"text\"");
  return td;
}

// Sizes that every entry must have when the batch [4,3] became `batch`.
void expect_batch(const TensorDict& td, const Shape& batch) {
  const auto with = [&](std::initializer_list<std::int64_t> rest) {
    Shape sizes = batch;
    sizes.insert(sizes.end(), rest);
    return sizes;
  };
  EXPECT_EQ(list(td.batch_size()), batch);
  EXPECT_EQ(list(td.get({"a"}).sizes()), with({2}));
  EXPECT_EQ(list(td.get_dict({"n"}).batch_size()), batch);
  EXPECT_EQ(list(td.get({"n", "b"}).sizes()), batch);
  EXPECT_EQ(list(td.get_dict({"m"}).batch_size()), with({5}));
  EXPECT_EQ(list(td.get({"m", "c"}).sizes()), with({5, 2}));
  EXPECT_EQ(td.get_non_tensor({"s"}), "\"text\"");
}

class Shapes : public ::testing::TestWithParam<bool> {
 protected:
  at::AutoGradMode mode_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Modes, Shapes, ::testing::Bool());

TEST_P(Shapes, ActOnTheBatchAlone) {
  const TensorDict td = deep_sample();
  expect_batch(td.view(SizesView{12}), {12});
  expect_batch(td.view(SizesView{-1}), {12});
  expect_batch(td.view(SizesView{2, -1, 1}), {2, 6, 1});
  expect_batch(td.reshape(SizesView{3, 4}), {3, 4});
  expect_batch(td.permute(SizesView{1, 0}), {3, 4});
  expect_batch(td.permute(SizesView{-1, 0}), {3, 4});
  expect_batch(td.transpose(0, -1), {3, 4});
  expect_batch(td.unsqueeze(0), {1, 4, 3});
  expect_batch(td.unsqueeze(-1), {4, 3, 1});
  expect_batch(td.unsqueeze(1), {4, 1, 3});
  expect_batch(td.unsqueeze(0).unsqueeze(-1).squeeze(), {4, 3});
  expect_batch(td.unsqueeze(1).squeeze(1), {4, 3});
  expect_batch(td.expand(SizesView{2, 4, 3}), {2, 4, 3});
  expect_batch(td.unsqueeze(0).expand(SizesView{5, 4, 3}), {5, 4, 3});
  const std::vector<TensorDict> columns = td.unbind(-1);
  ASSERT_EQ(columns.size(), 3U);
  for (const TensorDict& column : columns) expect_batch(column, {4});
}

TEST_P(Shapes, AnInverseGivesTheSameContent) {
  const TensorDict td = deep_sample();
  EXPECT_TRUE(td.view(SizesView{12}).view(SizesView{4, 3}).equal(td));
  EXPECT_TRUE(td.transpose(0, 1).transpose(1, 0).equal(td));
  EXPECT_TRUE(td.permute(SizesView{1, 0})
                  .reshape(SizesView{12})
                  .reshape(SizesView{3, 4})
                  .permute(SizesView{1, 0})
                  .equal(td));
  EXPECT_TRUE(td.unsqueeze(1).squeeze(1).equal(td));
  EXPECT_TRUE(td::stack(td.unbind(1), 1).equal(td));
}

TEST_P(Shapes, WhatChangesNothingIsTheSameDictionary) {
  const TensorDict td = deep_sample();
  EXPECT_TRUE(td.view(SizesView{4, 3}).is_same(td));
  EXPECT_TRUE(td.reshape(SizesView{4, -1}).is_same(td));
  EXPECT_TRUE(td.permute(SizesView{0, 1}).is_same(td));
  EXPECT_TRUE(td.permute({}).is_same(td));
  EXPECT_TRUE(td.transpose(1, 1).is_same(td));
  EXPECT_TRUE(td.squeeze(0).is_same(td)) << "its size is not 1";
  EXPECT_TRUE(td.squeeze().is_same(td));
  EXPECT_TRUE(dict({}).permute({}).batch_size().empty());
}

TEST_P(Shapes, ShareMemoryWhereTheyCan) {
  const TensorDict td = sample();
  const at::Tensor& a = td.get({"a"});
  for (const TensorDict& view :
       {td.view(SizesView{12}), td.reshape(SizesView{6, 2}), td.transpose(0, 1), td.unsqueeze(1),
        td.expand(SizesView{2, 4, 3})}) {
    EXPECT_TRUE(view.get({"a"}).is_alias_of(a));
    EXPECT_TRUE(share_version(view.get({"a"}), a));
  }
  EXPECT_TRUE(td.unbind(0)[1].get({"a"}).is_alias_of(a));
  EXPECT_EQ(td.expand(SizesView{2, 4, 3}).get({"a"}).stride(0), 0);
  const TensorDict turned = td.transpose(0, 1);
  EXPECT_FALSE(turned.reshape(SizesView{12}).get({"a"}).is_alias_of(a));
  EXPECT_EQ(numbers(turned.reshape(SizesView{12}).get({"n", "b"})),
            (std::vector<double>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  expect_error(Code::shape, "use reshape", [&] { turned.view(SizesView{12}); });
}

TEST_P(Shapes, Refused) {
  const TensorDict td = sample();
  expect_error(Code::shape, "[5, 2]", [&] { td.view(SizesView{5, 2}); });
  expect_error(Code::shape, "[-1, -1]", [&] { td.view(SizesView{-1, -1}); });
  expect_error(Code::shape, "[-2, 6]", [&] { td.reshape(SizesView{-2, 6}); });
  expect_error(Code::shape, "[5, -1]", [&] { td.reshape(SizesView{5, -1}); });
  expect_error(Code::shape, "[0, -1]", [&] { td.reshape(SizesView{0, -1}); });
  expect_error(Code::shape, "", [&] { td.reshape(SizesView{std::int64_t{1} << 62, 4, 3}); });
  expect_error(Code::shape, "twice", [&] { td.permute(SizesView{0, 0}); });
  expect_error(Code::shape, "", [&] { td.permute(SizesView{0, 2}); });
  expect_error(Code::shape, "", [&] { td.permute(SizesView{0, 1, 2}); });
  expect_error(Code::shape, "dimension 2", [&] { td.transpose(0, 2); });
  expect_error(Code::index, "dimension 2", [&] { td.squeeze(2); });
  expect_error(Code::index, "dimension 3", [&] { td.unsqueeze(3); });
  expect_error(Code::index, "dimension -4", [&] { td.unsqueeze(-4); });
  expect_error(Code::index, "dimension 2", [&] { td.unbind(2); });
  expect_error(Code::index, "", [&] { dict({}).unbind(0); });
  expect_error(Code::shape, "[3]", [&] { td.expand(SizesView{3}); });
  expect_error(Code::shape, "[5, 3]", [&] { td.expand(SizesView{5, 3}); });
  EXPECT_EQ(td.expand(SizesView{-1, 3}).batch_size(), SizesView({4, 3}));
  expect_error(Code::shape, "[-1, 4, 3]", [&] { td.expand(SizesView{-1, 4, 3}); });
  EXPECT_TRUE(td.equal(sample()));
}

TEST_P(Shapes, ZeroSizes) {
  TensorDict td = dict({0, 3});
  td.set({"a"}, at::ones({0, 3, 2}));
  EXPECT_EQ(list(td.view(SizesView{3, 0}).get({"a"}).sizes()), (Shape{3, 0, 2}));
  EXPECT_EQ(list(td.reshape(SizesView{-1, 3}).get({"a"}).sizes()), (Shape{0, 3, 2}));
  EXPECT_EQ(list(td.transpose(0, 1).get({"a"}).sizes()), (Shape{3, 0, 2}));
  EXPECT_EQ(td.unbind(0).size(), 0U);
  EXPECT_EQ(td.unbind(1).size(), 3U);
  EXPECT_EQ(list(td.unbind(1)[2].get({"a"}).sizes()), (Shape{0, 2}));
}

TEST_P(Shapes, WithoutEntriesOnlyTheBatchSizeChanges) {
  const TensorDict td = dict({4, 3});
  EXPECT_EQ(list(td.view(SizesView{2, 6}).batch_size()), (Shape{2, 6}));
  EXPECT_EQ(list(td.expand(SizesView{7, 4, 3}).batch_size()), (Shape{7, 4, 3}));
  EXPECT_EQ(list(td.unbind(0)[3].batch_size()), (Shape{3}));
}

TEST(Shape, ContiguousReusesWhatIsContiguous) {
  const TensorDict td = sample();
  const TensorDict same = td.contiguous();
  EXPECT_FALSE(same.is_same(td));
  EXPECT_TRUE(same.get({"a"}).is_alias_of(td.get({"a"})));
  const TensorDict turned = td.transpose(0, 1).contiguous();
  EXPECT_TRUE(turned.get({"a"}).is_contiguous());
  EXPECT_FALSE(turned.get({"a"}).is_alias_of(td.get({"a"})));
  EXPECT_TRUE(turned.equal(td.transpose(0, 1)));
}

TEST(Shape, NamesAreSharedNotCopied) {
  const TensorDict td = sample();
  const Schema* names = as_dense(td.node().get())->schema();
  EXPECT_EQ(as_dense(td.view(SizesView{12}).node().get())->schema(), names);
  EXPECT_EQ(as_dense(td.unbind(0)[0].node().get())->schema(), names);
  TensorDict row = td.unbind(0)[0];
  row.set({"more"}, at::ones({3}));
  EXPECT_EQ(td.kind_of({"more"}), EntryKind::none);
}

}  // namespace
}  // namespace td
