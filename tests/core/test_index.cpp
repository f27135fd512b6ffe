// Indexing as Python's tensordict does it: what each index gives, what is refused, what is written.
#include "trees.h"

#include <ATen/TensorIndexing.h>

namespace td {
namespace {

using namespace test;

using Shape = std::vector<std::int64_t>;

IndexItem at(std::int64_t position) { return IndexItem::at(position); }
IndexItem range(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                std::optional<std::int64_t> step = {}) {
  return IndexItem::range(start, stop, step);
}
IndexItem all() { return range({}, {}); }
IndexItem none() { return IndexItem::none(); }
IndexItem dots() { return IndexItem::ellipsis(); }
IndexItem of(at::Tensor tensor) { return IndexItem::of(std::move(tensor)); }

Shape with(Shape batch, std::int64_t last) {
  batch.push_back(last);
  return batch;
}

struct Row {
  const char* name;
  Index index;
  Shape batch;
  std::vector<double> first;  // of leaf "a", the element 0 along its feature dimension
  bool copies = false;
};

// Batch size [4,3]; leaf "a" holds i * 3 + j at [i, j, 0] and the same + 100 at [i, j, 1].
TensorDict table() {
  TensorDict td = dict({4, 3});
  const at::Tensor base = ramp({4, 3});
  td.set({"a"}, at::stack({base, base + 100}, 2));
  TensorDict n = dict({4, 3, 5});
  n.set({"b"}, ramp({4, 3, 5}));
  td.set({"n"}, n);
  return td;
}

const std::vector<Row>& rows() {
  static const auto* const made = new std::vector<Row>{
      {"0", {at(0)}, {3}, {0, 1, 2}},
      {"-1", {at(-1)}, {3}, {9, 10, 11}},
      {"1:3", {range(1, 3)}, {2, 3}, {3, 4, 5, 6, 7, 8}},
      {"0:4:2", {range(0, 4, 2)}, {2, 3}, {0, 1, 2, 6, 7, 8}},
      {"-3:-1", {range(-3, -1)}, {2, 3}, {3, 4, 5, 6, 7, 8}},
      {"5:9", {range(5, 9)}, {0, 3}, {}},
      {"3:1", {range(3, 1)}, {0, 3}, {}},
      {"0:4", {range(0, 4)}, {4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
      {"..., 0", {dots(), at(0)}, {4}, {0, 3, 6, 9}},
      {":, 0", {all(), at(0)}, {4}, {0, 3, 6, 9}},
      {"None", {none()}, {1, 4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
      {"None, 0", {none(), at(0)}, {1, 3}, {0, 1, 2}},
      {"0, None", {at(0), none()}, {1, 3}, {0, 1, 2}},
      {"..., None", {dots(), none()}, {4, 3, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
      {"0, 0", {at(0), at(0)}, {}, {0}},
      {"mask of 4", {of(mask({1, 0, 0, 1}))}, {2, 3}, {0, 1, 2, 9, 10, 11}, true},
      {"mask of 4x3",
       {of(mask({1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}).reshape({4, 3}))},
       {3},
       {0, 4, 8},
       true},
      {"bytes as a mask",
       {of(mask({1, 0, 0, 1}).to(at::kByte))},
       {2, 3},
       {0, 1, 2, 9, 10, 11},
       true},
      {"0, mask of 3", {at(0), of(mask({0, 1, 1}))}, {2}, {1, 2}, true},
      {":, mask of 3", {all(), of(mask({0, 1, 1}))}, {4, 2}, {1, 2, 4, 5, 7, 8, 10, 11}, true},
      {"[0, 3]", {of(ints({0, 3}))}, {2, 3}, {0, 1, 2, 9, 10, 11}, true},
      {"[-1, 0] as int32", {of(ints({-1, 0}).to(at::kInt))}, {2, 3}, {9, 10, 11, 0, 1, 2}, true},
      {"tensor without dimensions", {of(at::full({}, 2, at::kLong))}, {3}, {6, 7, 8}, true},
      {"tensor of 2x2",
       {of(ints({0, 1, 2, 3}).reshape({2, 2}))},
       {2, 2, 3},
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
       true},
      {"empty tensor", {of(ints({}))}, {0, 3}, {}, true},
      {"[0, 1], [1, 2]", {of(ints({0, 1})), of(ints({1, 2}))}, {2}, {1, 5}, true},
      {"2x1, 3",
       {of(ints({0, 3}).reshape({2, 1})), of(ints({0, 1, 2}))},
       {2, 3},
       {0, 1, 2, 9, 10, 11},
       true},
      {"tensor, None, tensor", {of(ints({0, 1})), none(), of(ints({1, 2}))}, {2, 1}, {1, 5}, true},
      {"True", {IndexItem::boolean(true)}, {1, 4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, true},
      {"False", {IndexItem::boolean(false)}, {0, 4, 3}, {}, true},
      {"mask without dimensions",
       {of(at::full({}, true, at::kBool))},
       {1, 4, 3},
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
       true},
  };
  return *made;
}

class ReadIndex : public ::testing::TestWithParam<bool> {
 protected:
  at::AutoGradMode mode_{GetParam()};
};

TEST_P(ReadIndex, Table) {
  const TensorDict td = table();
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    const TensorDict part = td.index(row.index);
    EXPECT_EQ(list(part.batch_size()), row.batch);
    EXPECT_EQ(list(part.get({"a"}).sizes()), with(row.batch, 2));
    EXPECT_EQ(numbers(part.get({"a"}).select(-1, 0)), row.first);
    EXPECT_EQ(part.get({"a"}).is_alias_of(td.get({"a"})), !row.copies);
    EXPECT_EQ(list(part.get_dict({"n"}).batch_size()), with(row.batch, 5));
    EXPECT_EQ(list(part.get({"n", "b"}).sizes()), with(row.batch, 5));
    EXPECT_FALSE(part.is_same(td));
    EXPECT_EQ(list(dict({4, 3}).index(row.index).batch_size()), row.batch) << "without entries";
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, ReadIndex, ::testing::Bool());

TEST(Index, NothingButEverythingIsTheSameDictionary) {
  const TensorDict td = table();
  for (const Index& index :
       {Index{}, Index{dots()}, Index{all()}, Index{all(), all()}, Index{all(), dots()}}) {
    EXPECT_TRUE(td.index(index).is_same(td));
  }
  const TensorDict scalar = dict({});
  EXPECT_TRUE(scalar.index(Index{dots()}).is_same(scalar));
  EXPECT_EQ(list(scalar.index(Index{none(), none()}).batch_size()), (Shape{1, 1}));
  EXPECT_EQ(list(scalar.index(Index{IndexItem::boolean(false)}).batch_size()), (Shape{0}));
}

TEST(Index, Refused) {
  const TensorDict td = table();
  const std::pair<const char*, Index> refused[] = {
      {"too many indices: 3", {at(0), at(0), at(0)}},
      {"too many indices: 3", {of(mask({1, 0, 0, 1})), at(0), at(0)}},
      {"index 4 is out of range for dimension 0", {at(4)}},
      {"index -4 is out of range for dimension 1", {at(0), at(-4)}},
      {"index 5 is out of range", {of(ints({0, 5}))}},
      {"index -5 is out of range", {of(at::full({}, -5, at::kLong))}},
      {"one ellipsis", {dots(), dots()}},
      {"step -1", {range({}, {}, -1)}},
      {"step 0", {range({}, {}, 0)}},
      {"mask of shape [3]", {of(mask({1, 0, 0}))}},
      {"mask of shape [3, 4]", {of(mask({1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}).reshape({3, 4}))}},
      {"cannot be broadcast", {of(ints({0, 1})), of(ints({0, 1, 2}))}},
      {"integers or booleans", {of(at::ones({2}))}},
  };
  for (const auto& [why, index] : refused)
    expect_error(Code::index, why, [&, &i = index] { td.index(i); });
  expect_error(Code::index, "too many", [&] { dict({}).index(Index{at(0)}); });
  expect_error(Code::device, "meta", [&] {
    td.index(Index{of(at::empty({2}, at::TensorOptions(at::kMeta).dtype(at::kLong)))});
  });
  expect_error(Code::null_argument, "", [&] { td.index(Index{of(at::Tensor())}); });
}

TEST(Index, ShapesOfTensorsStandWhereLibtorchPutsThem) {
  TensorDict td = dict({2, 3, 4, 5});
  td.set({"a"}, ramp({2, 3, 4, 5, 2}));
  const at::Tensor i = ints({0, 1}), j = ints({1, 0}), scalar = at::full({}, 1, at::kLong);
  using at::indexing::None;
  using at::indexing::Slice;
  const at::Tensor& a = td.get({"a"});
  const std::tuple<const char*, Index, at::Tensor> cases[] = {
      {"side by side", {all(), of(i), of(j)}, a.index({Slice(), i, j})},
      {"a slice between", {of(i), all(), of(j)}, a.index({i, Slice(), j})},
      {"a slice between, in the middle",
       {all(), of(i), all(), of(j)},
       a.index({Slice(), i, Slice(), j})},
      {"an integer between", {of(i), at(1), of(j)}, a.index({i, 1, j})},
      {"a new dimension between", {of(i), none(), of(j)}, a.index({i, None, j})},
      {"a mask and a tensor", {of(mask({1, 1})), of(j)}, a.index({mask({1, 1}), j})},
      {"no dimensions, then a slice, then a tensor",
       {of(scalar), all(), of(j)},
       a.index({scalar, Slice(), j})},
      {"a truth and a tensor", {IndexItem::boolean(true), of(j)}, a.index({true, j})},
      {"at the end", {dots(), of(i), of(j)}, a.index({Slice(), Slice(), i, j})},
  };
  for (const bool grad : {false, true}) {
    const at::AutoGradMode mode(grad);
    for (const auto& [name, index, expected] : cases) {
      SCOPED_TRACE(name);
      const TensorDict part = td.index(index);
      EXPECT_EQ(list(part.get({"a"}).sizes()), list(expected.sizes()));
      EXPECT_EQ(list(part.batch_size()),
                list(expected.sizes().slice(0, static_cast<std::size_t>(expected.dim()) - 1)));
      EXPECT_EQ(content(part.get({"a"})), content(expected));
    }
  }
}

TEST(Index, AViewIsWrittenThrough) {
  const at::NoGradGuard no_grad;
  TensorDict td = table();
  const auto version = td.get({"a"})._version();
  const TensorDict row = td.index(Index{at(2)});
  const TensorDict second = row.index(Index{at(1)});
  second.get({"a"}).fill_(-1);
  EXPECT_EQ(td.get({"a"})[2][1][0].item<float>(), -1);
  EXPECT_EQ(td.get({"a"})._version(), version + 1);
  EXPECT_TRUE(share_version(second.get({"a"}), td.get({"a"})));
  EXPECT_TRUE(share_version(td.get({"a"}), row.get({"a"})));
}

TEST(Index, TheTextOfAnIndex) {
  const TensorDict td = table();
  const std::pair<const char*, Shape> texts[] = {
      {"", {4, 3}},         {"0", {3}},          {"-1, 1", {}},
      {" 1 : 3 ", {2, 3}},  {"::2", {2, 3}},     {"..., ::2, None", {4, 2, 1}},
      {"None,", {1, 4, 3}}, {"True", {1, 4, 3}}, {"False, 0", {0, 3}},
      {":,-1:", {4, 1}},    {"...", {4, 3}},
  };
  for (const auto& [text, batch] : texts)
    EXPECT_EQ(list(td.index(parse_index(text)).batch_size()), batch) << text;
  const std::pair<const char*, const char*> wrong[] = {
      {"1 2", "character 3"},     {"a", "character 1"},
      {"1,,2", "character 3"},    {"99999999999999999999", "too large"},
      {"0:1:2:3", "character 6"},
  };
  for (const auto& [text, why] : wrong)
    expect_error(Code::index, why, [&, t = text] { parse_index(t); });
}

}  // namespace
}  // namespace td
