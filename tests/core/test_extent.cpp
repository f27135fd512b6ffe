// Trees that are very deep or very wide: nothing recurses, nothing is searched name by name.
#include "core/apply/apply.h"
#include "core/inspect/print.h"
#include "core/keys/entries.h"
#include "core/shape/join.h"
#include "trees.h"

namespace td {
namespace {

using namespace test;

constexpr std::size_t very_deep = 10000;

const at::Tensor& bottom(const TensorDict& td) {
  const DenseNode* node = as_dense(td.node().get());
  while (node->value(0).is_node()) node = as_dense(node->value(0).node().get());
  return node->value(0).tensor();
}

class Deep : public ::testing::TestWithParam<bool> {
 protected:
  at::AutoGradMode mode_{GetParam()};
};

TEST_P(Deep, EveryOperationGoesDown) {
  TensorDict td = chain(very_deep, SizesView{2});
  const TensorDict copy = td.clone();
  EXPECT_EQ(td.nbytes(), 8U);
  EXPECT_FALSE(td.is_empty());
  EXPECT_TRUE(td.equal(copy));
  EXPECT_FALSE(bottom(td).is_alias_of(bottom(copy)));
  const TensorDict row = td.index({IndexItem::at(1)});
  EXPECT_EQ(bottom(row).dim(), 0);
  EXPECT_TRUE(bottom(row).is_alias_of(bottom(td)));
  EXPECT_EQ(bottom(td.index({IndexItem::of(ints({1, 1, 0}))})).size(0), 3);
  EXPECT_EQ(list(bottom(td.unsqueeze(0)).sizes()), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(list(bottom(td.view(SizesView{2, 1})).sizes()), (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(td.unbind(0).size(), 2U);
  const std::vector<TensorDict> both{td, copy};
  EXPECT_EQ(list(bottom(td::stack(both, 0)).sizes()), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(list(bottom(td::cat(both, 0)).sizes()), (std::vector<std::int64_t>{4}));
  EXPECT_EQ(bottom(td.to(at::kDouble)).scalar_type(), at::kDouble);
  EXPECT_TRUE(bottom(td.to(c10::Device(at::kMeta))).is_meta());
  std::size_t seen = 0;
  const TensorDict twice = apply(td, {}, [&](Path path, const at::Tensor& leaf) {
    seen = path.size();
    return leaf * 2;
  });
  EXPECT_EQ(seen, very_deep);
  EXPECT_EQ(numbers(bottom(twice)), (std::vector<double>{2, 2}));
  TensorDict target = td.clone();
  target.set_at({IndexItem::at(0)}, twice.index({IndexItem::at(0)}));
  EXPECT_EQ(numbers(bottom(target)), (std::vector<double>{2, 1}));
  td.lock();
  EXPECT_TRUE(td.get_dict({"n", "n", "n"}).is_locked());
  td.unlock();
  td.set_batch_size({});
  EXPECT_NE(print(td).find("{...}"), std::string::npos) << "very deep ones are cut when printed";
}

TEST_P(Deep, FreeingNeedsNoStack) {
  TensorDict td = chain(100 * very_deep);
  const TensorDict held = td.get_dict({"n", "n"});
  td = dict({});
  EXPECT_FALSE(held.is_empty());
}

INSTANTIATE_TEST_SUITE_P(Modes, Deep, ::testing::Bool());

TEST(Wide, OneDictionaryOfManyKeys) {
  constexpr int n = 100000;
  TensorDict td = dict({2});
  const at::Tensor leaf = at::ones({2});
  for (int i = 0; i < n; ++i) {
    const std::string name = "key" + std::to_string(i);
    td.set(std::string_view(name), leaf);
  }
  EXPECT_EQ(list_keys(td).keys.size(), static_cast<std::size_t>(n));
  EXPECT_EQ(td.nbytes(), std::size_t{8} * n);
  for (const int i : {0, 1, 777, n / 2, n - 1}) {
    const std::string name = "key" + std::to_string(i);
    EXPECT_EQ(td.kind_of(std::string_view(name)), EntryKind::tensor);
    EXPECT_EQ(list_keys(td).keys[static_cast<std::size_t>(i)].path[0], name);
  }
  EXPECT_EQ(td.kind_of({"key100000"}), EntryKind::none);
  const TensorDict row = td.index({IndexItem::at(0)});
  EXPECT_EQ(as_dense(row.node().get())->schema(), as_dense(td.node().get())->schema())
      << "names are shared";
  td.remove({"key0"});
  EXPECT_EQ(list_keys(td).keys[0].path[0], "key1");
  EXPECT_EQ(row.kind_of({"key0"}), EntryKind::tensor);
  EXPECT_EQ(td.kind_of({"key99999"}), EntryKind::tensor);
}

TEST(Wide, NamesAcrossTheSizeWhereATableTakesOver) {
  for (int n = 1; n < 40; ++n) {
    TensorDict td = dict({});
    for (int i = 0; i < n; ++i) {
      const std::string name(static_cast<std::size_t>(i), 'x');
      td.set(std::string_view(name), at::full({}, i));
    }
    for (int gone = 0; gone < n; gone += 3) {
      const std::string name(static_cast<std::size_t>(gone), 'x');
      td.remove(std::string_view(name));
    }
    for (int i = 0; i < n; ++i) {
      const std::string name(static_cast<std::size_t>(i), 'x');
      EXPECT_EQ(td.kind_of(std::string_view(name)),
                i % 3 == 0 ? EntryKind::none : EntryKind::tensor);
      if (i % 3 != 0) {
        EXPECT_EQ(td.get(std::string_view(name)).item<int>(), i);
      }
    }
  }
}

// A node held in two places is walked once where only the graph counts, not once for each path.
TEST(Wide, ManyPathsToOneNode) {
  TensorDict td = dict({});
  td.set({"leaf"}, at::ones({}));
  for (int i = 0; i < 40; ++i) {
    TensorDict above = dict({});
    above.set({"l"}, td);
    above.set({"r"}, td);
    td = above;
  }
  td.lock();
  EXPECT_TRUE(td.get_dict({"l", "r", "l"}).is_locked());
  td.unlock();
  EXPECT_FALSE(td.get_dict({"l", "r", "l"}).is_locked());
}

}  // namespace
}  // namespace td
