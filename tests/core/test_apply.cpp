// A function over every leaf: order, paths, what a missing result drops, what a failure leaves.
#include "trees.h"

namespace td {
namespace {

using namespace test;

using Names = std::vector<std::string>;

Names all_names(const TensorDict& td) {
  Names names;
  for (const KeyList::Key& key : td.keys({true, false, false}).keys) {
    std::string text;
    for (const std::string& name : key.path) text += (text.empty() ? "" : ".") + name;
    names.push_back(text);
  }
  return names;
}

// { a, n: { b, m: {} }, e: {}, s: "text" }
TensorDict mixed() {
  TensorDict td = sample();
  td.set({"n", "m"}, dict({4, 3}));
  td.set({"e"}, dict({4, 3}));
  td.set_data({"s"}, "\"text\"");
  return td;
}

TEST(Apply, CallsInTheOrderOfTheKeysWithFullPaths) {
  TensorDict td = mixed();
  td.set({"z"}, at::ones({4, 3}));
  Names seen;
  const TensorDict twice = td.apply({}, [&](Path path, const at::Tensor& leaf) {
    seen.push_back(show_path(path));
    return leaf * 2;
  });
  EXPECT_EQ(seen, (Names{"\"a\"", "\"n\"/\"b\"", "\"z\""}));
  EXPECT_EQ(all_names(twice), all_names(td));
  EXPECT_EQ(twice.get_data({"s"}), "\"text\"");
  EXPECT_EQ(numbers(twice.get({"n", "b"}))[11], 22);
  EXPECT_EQ(numbers(td.get({"n", "b"}))[11], 11);
  EXPECT_FALSE(twice.is_locked());
}

TEST(Apply, ReturningTheLeafSharesIt) {
  const TensorDict td = mixed();
  const TensorDict same = td.apply({}, [](Path, const at::Tensor& leaf) { return leaf; });
  EXPECT_TRUE(same.get({"a"}).is_same(td.get({"a"})));
  EXPECT_FALSE(same.get_dict({"n"}).is_same(td.get_dict({"n"})));
}

TEST(Apply, AMissingResultDropsTheEntry) {
  const TensorDict td = mixed();
  const auto filtered = [&](FilterEmpty filter, bool everything) {
    return all_names(td.apply({false, filter, false}, [&](Path path, const at::Tensor& leaf) {
      return everything || path.back() == "b" ? at::Tensor() : leaf;
    }));
  };
  EXPECT_EQ(filtered(FilterEmpty::no, false), (Names{"a", "n", "n.m", "e", "s"}));
  EXPECT_EQ(filtered(FilterEmpty::yes, false), (Names{"a", "s"}));
  EXPECT_EQ(filtered(FilterEmpty::unset, false), (Names{"a", "n", "n.m", "e", "s"}))
      << "m was empty before, so n keeps it";
  EXPECT_EQ(filtered(FilterEmpty::unset, true), (Names{"n", "n.m", "e", "s"}));
  EXPECT_EQ(filtered(FilterEmpty::yes, true), (Names{"s"}));
}

TEST(Apply, ADictionaryThatLosesEverythingIsDropped) {
  const TensorDict td = sample();
  const TensorDict left = td.apply(
      {}, [](Path path, const at::Tensor& leaf) { return path.size() > 1 ? at::Tensor() : leaf; });
  EXPECT_EQ(all_names(left), (Names{"a"}));
}

TEST(Apply, InPlaceKeepsTensorsAndDtypes) {
  for (const bool grad : {false, true}) {
    const at::AutoGradMode mode(grad);
    const TensorDict td = sample();
    const at::Tensor a = td.get({"a"}), b = td.get({"n", "b"});
    const TensorDict same =
        td.apply({true, FilterEmpty::unset, false}, [](Path, const at::Tensor& leaf) {
          return leaf.dim() == 3 ? leaf.sum(2, true) : leaf.to(at::kDouble) + 0.75;
        });
    EXPECT_TRUE(same.is_same(td));
    EXPECT_TRUE(td.get({"a"}).is_same(a));
    EXPECT_EQ(numbers(a.select(2, 1))[0], 1) << "(4,3,1) is broadcast into (4,3,2)";
    EXPECT_EQ(b.scalar_type(), at::kLong);
    EXPECT_EQ(numbers(b)[11], 11);
  }
}

TEST(Apply, ShapesMustKeepTheBatch) {
  const TensorDict td = sample();
  expect_error(Code::shape, "\"a\"", [&] {
    td.apply({}, [](Path, const at::Tensor& leaf) { return leaf.transpose(0, 1); });
  });
  expect_error(Code::shape, "\"n\"/\"b\"", [&] {
    td.apply(
        {}, [](Path path, const at::Tensor& leaf) { return path.size() == 2 ? leaf.sum() : leaf; });
  });
  expect_error(Code::shape, "cannot be written", [&] {
    td.apply({true, FilterEmpty::unset, false},
             [](Path, const at::Tensor&) { return at::ones({9}); });
  });
  const TensorDict more =
      td.apply({}, [](Path, const at::Tensor& leaf) { return leaf.unsqueeze(-1); });
  EXPECT_EQ(more.get({"a"}).dim(), 4);
}

TEST(Apply, AFailureOfTheFunctionChangesNothing) {
  for (const bool inplace : {false, true}) {
    const TensorDict td = sample();
    EXPECT_THROW(td.apply({inplace, FilterEmpty::unset, false},
                          [](Path path, const at::Tensor& leaf) {
                            if (path.size() == 2) throw std::runtime_error("stop");
                            return leaf * 0;
                          }),
                 std::runtime_error);
    EXPECT_TRUE(td.equal(sample()));
  }
}

TEST(Apply, ResultsMoveToTheDevice) {
  TensorDict td(SizesView{3}, c10::Device(at::kCPU));
  td.set({"a"}, at::ones({3}));
  const TensorDict meta = td.to(c10::Device(at::kMeta)).apply({}, [](Path, const at::Tensor&) {
    return at::ones({3});
  });
  EXPECT_TRUE(meta.get({"a"}).is_meta());
  EXPECT_EQ(meta.device()->type(), at::kMeta);
}

TEST(Apply, MayCallTheLibraryOnWhatItWalks) {
  const TensorDict td = sample();
  const TensorDict result = td.apply({}, [&](Path path, const at::Tensor& leaf) {
    EXPECT_TRUE(td.get(path).is_same(leaf));
    return td.apply({}, [](Path, const at::Tensor& inner) { return inner + 1; }).get(path);
  });
  EXPECT_EQ(numbers(result.get({"n", "b"}))[0], 1);
}

}  // namespace
}  // namespace td
