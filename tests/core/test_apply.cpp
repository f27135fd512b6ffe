// A function over every leaf: order, paths, what a missing result drops, what a failure leaves.
#include "core/apply/apply.h"
#include "core/keys/entries.h"
#include "core/tree/kinds.h"
#include "core/tree/names.h"
#include "trees.h"

namespace td {
namespace {

using namespace test;

using Strings = std::vector<std::string>;

Strings all_names(const TensorDict& td) {
  Strings names;
  for (const KeyList::Key& key : list_keys(td, {true, false, false}).keys) {
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
  td.set_non_tensor({"s"}, "\"text\"");
  return td;
}

TEST(Apply, CallsInTheOrderOfTheKeysWithFullPaths) {
  TensorDict td = mixed();
  td.set({"z"}, at::ones({4, 3}));
  Strings seen;
  const TensorDict twice = apply(td, {}, [&](Path path, const at::Tensor& leaf) {
    seen.push_back(show_path(path));
    return leaf * 2;
  });
  EXPECT_EQ(seen, (Strings{"\"a\"", "\"n\"/\"b\"", "\"z\""}));
  EXPECT_EQ(all_names(twice), all_names(td));
  EXPECT_EQ(twice.get_non_tensor({"s"}), "\"text\"");
  EXPECT_EQ(numbers(twice.get({"n", "b"}))[11], 22);
  EXPECT_EQ(numbers(td.get({"n", "b"}))[11], 11);
  EXPECT_FALSE(twice.is_locked());
}

TEST(Apply, ReturningTheLeafSharesIt) {
  const TensorDict td = mixed();
  const TensorDict same = apply(td, {}, [](Path, const at::Tensor& leaf) { return leaf; });
  EXPECT_TRUE(same.get({"a"}).is_same(td.get({"a"})));
  EXPECT_FALSE(same.get_dict({"n"}).is_same(td.get_dict({"n"})));
}

TEST(Apply, AMissingResultDropsTheEntry) {
  const TensorDict td = mixed();
  const auto filtered = [&](FilterEmpty filter, bool everything) {
    return all_names(apply(td, {false, filter, false}, [&](Path path, const at::Tensor& leaf) {
      return everything || path.back() == "b" ? at::Tensor() : leaf;
    }));
  };
  EXPECT_EQ(filtered(FilterEmpty::no, false), (Strings{"a", "n", "n.m", "e", "s"}));
  EXPECT_EQ(filtered(FilterEmpty::yes, false), (Strings{"a", "s"}));
  EXPECT_EQ(filtered(FilterEmpty::unset, false), (Strings{"a", "n", "n.m", "e", "s"}))
      << "m was empty before, so n keeps it";
  EXPECT_EQ(filtered(FilterEmpty::unset, true), (Strings{"n", "n.m", "e", "s"}));
  EXPECT_EQ(filtered(FilterEmpty::yes, true), (Strings{"s"}));
}

TEST(Apply, ADictionaryThatLosesEverythingIsDropped) {
  const TensorDict td = sample();
  const TensorDict left = apply(td, {}, [](Path path, const at::Tensor& leaf) {
    return path.size() > 1 ? at::Tensor() : leaf;
  });
  EXPECT_EQ(all_names(left), (Strings{"a"}));
}

TEST(Apply, InPlaceKeepsTensorsAndDtypes) {
  for (const bool grad : {false, true}) {
    const at::AutoGradMode mode(grad);
    const TensorDict td = sample();
    const at::Tensor a = td.get({"a"}), b = td.get({"n", "b"});
    const TensorDict same =
        apply(td, {true, FilterEmpty::unset, false}, [](Path, const at::Tensor& leaf) {
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
    apply(td, {}, [](Path, const at::Tensor& leaf) { return leaf.transpose(0, 1); });
  });
  expect_error(Code::shape, "\"n\"/\"b\"", [&] {
    apply(td, {},
          [](Path path, const at::Tensor& leaf) { return path.size() == 2 ? leaf.sum() : leaf; });
  });
  expect_error(Code::shape, "cannot be written", [&] {
    apply(td, {true, FilterEmpty::unset, false},
          [](Path, const at::Tensor&) { return at::ones({9}); });
  });
  const TensorDict more =
      apply(td, {}, [](Path, const at::Tensor& leaf) { return leaf.unsqueeze(-1); });
  EXPECT_EQ(more.get({"a"}).dim(), 4);
}

TEST(Apply, AFailureOfTheFunctionChangesNothing) {
  for (const bool inplace : {false, true}) {
    const TensorDict td = sample();
    EXPECT_THROW(apply(td, {inplace, FilterEmpty::unset, false},
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
  const TensorDict meta = apply(td.to(c10::Device(at::kMeta)), {},
                                [](Path, const at::Tensor&) { return at::ones({3}); });
  EXPECT_TRUE(meta.get({"a"}).is_meta());
  EXPECT_EQ(meta.device()->type(), at::kMeta);
}

TEST(Apply, MayCallTheLibraryOnWhatItWalks) {
  const TensorDict td = sample();
  const TensorDict result = apply(td, {}, [&](Path path, const at::Tensor& leaf) {
    EXPECT_TRUE(td.get(path).is_same(leaf));
    return apply(td, {}, [](Path, const at::Tensor& inner) { return inner + 1; }).get(path);
  });
  EXPECT_EQ(numbers(result.get({"n", "b"}))[0], 1);
}

ApplyManyFn first_source() {
  return [](Path, c10::ArrayRef<Value> sources) { return sources[0]; };
}

// Two dictionaries { "x": (3), "only<k>": … } of different keys, side by side.
TensorDict lazy_pair() {
  std::vector<NodePtr> elements;
  for (const char* name : {"only0", "only1"}) {
    TensorDict td = dict({3});
    td.set({"x"}, at::ones({3}));
    td.set({name}, at::ones({3}));
    elements.push_back(td.node());
  }
  return TensorDict(NodePtr(lazy_stack(std::move(elements), 0)));
}

TEST(Apply, ElementsOfALazyStackAreWalkedOneByOne) {
  TensorDict td = dict({2, 3});
  td.set({"lazy"}, lazy_pair());
  Strings seen;
  const auto result = apply(td, {}, {}, [&](Path path, c10::ArrayRef<Value> sources) {
    seen.push_back(show_path(path));
    return Value(sources[0].tensor() * 2);
  });
  EXPECT_EQ(seen, (Strings{"\"lazy\"/\"x\"", "\"lazy\"/\"only0\"", "\"lazy\"/\"x\"",
                           "\"lazy\"/\"only1\""}));
  const TensorDict lazy = result->get_dict({"lazy"});
  ASSERT_EQ(lazy.node()->kind(), NodeKind::lazy);
  EXPECT_EQ(numbers(lazy.get({"x"})), std::vector<double>(6, 2));

  ApplyManyOptions options;
  options.inplace = true;
  apply(td, {}, options,
        [](Path, c10::ArrayRef<Value> sources) { return Value(sources[0].tensor() + 4); });
  EXPECT_EQ(numbers(td.get_dict({"lazy"}).get({"x"})), std::vector<double>(6, 5));

  options = {};
  options.batch_size = Sizes{2};  // read out: the keys that all elements have
  EXPECT_EQ(all_names(*apply(td, {}, options, first_source())), (Strings{"lazy", "lazy.x"}));
}

TEST(Apply, ADictionaryIsWrittenIntoTheOneThatIsThere) {
  TensorDict td = dict({2, 3});
  td.set({"lazy"}, lazy_pair());
  ApplyManyOptions options;
  options.inplace = options.call_on_nested = true;
  const auto give = [&](const char* key) {
    return [=](Path, c10::ArrayRef<Value>) {
      TensorDict made = dict({2, 3});
      made.set({key}, ramp({2, 3}));
      return Value(made.node());
    };
  };
  const auto* lazy = as_lazy(td.get_dict({"lazy"}).node().get());
  const at::Tensor x = TensorDict(lazy->elements()[1]).get({"x"});
  apply(td, {}, options, give("x"));
  EXPECT_EQ(numbers(x), (std::vector<double>{3, 4, 5}));
  expect_error(Code::key_not_found, "\"lazy\"/\"none\"",
               [&] { apply(td, {}, options, give("none")); });
}

TEST(Apply, AnElementThatLosesEverythingStaysEmptyBesideOthers) {
  TensorDict td = dict({2, 3});
  td.set({"lazy"}, lazy_pair());
  const auto keep = [&](const std::string& name) {
    return apply(td, {}, {}, [&](Path path, c10::ArrayRef<Value> sources) {
      return path.back() == name ? sources[0] : Value();
    });
  };
  const auto result = keep("only1");
  const TensorDict lazy = result->get_dict({"lazy"});
  EXPECT_EQ(list(lazy.batch_size()), (std::vector<std::int64_t>{2, 3}));
  EXPECT_TRUE(all_names(lazy).empty());
  EXPECT_FALSE(keep("none")) << "the stack is gone, and the root with it";
}

TEST(Apply, OthersBesideALazyStackAreTakenApart) {
  const TensorDict td = lazy_pair();
  TensorDict other = dict({2, 3});
  other.set({"x"}, ramp({2, 3}));
  ApplyManyOptions options;
  options.fill_missing = true;
  const auto result = apply(td, {other}, options, [](Path, c10::ArrayRef<Value> sources) {
    const at::Tensor& beside = sources[1].tensor();
    return Value(beside.defined() ? sources[0].tensor() + beside : sources[0].tensor());
  });
  EXPECT_EQ(numbers(result->get({"x"})), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Apply, ASubTensorDictIsWrittenThrough) {
  TensorDict td = sample();
  const std::vector<IndexItem> rows{IndexItem::of(ints({2, 0}))};
  const TensorDict part(NodePtr(
      c10::make_intrusive<SubTensorDictNode>(td.node(), rows, td.index(rows).batch_size())));
  const TensorDict same = apply(part, {true, FilterEmpty::unset, false},
                                [](Path, const at::Tensor& leaf) { return leaf * 0 - 1; });
  EXPECT_TRUE(same.is_same(part));
  EXPECT_EQ(numbers(td.get({"n", "b"}).select(1, 0)), (std::vector<double>{-1, 3, -1, 9}));
  EXPECT_EQ(numbers(apply(part, {}, [](Path, const at::Tensor& leaf) { return leaf + 2; })
                        .get({"n", "b"}))[0],
            1);
}

TEST(Apply, NamesAndTensorclassesFollow) {
  TensorDict td = mixed();
  set_names(td, {std::string("time"), std::nullopt});
  const auto names = [](const std::optional<TensorDict>& result, Path path) {
    return show_names(names_of(*result->get_dict(path).node()), 2);
  };
  const std::string before = show_names(names_of(*td.get_dict({"n"}).node()), 2);
  EXPECT_EQ(names(apply(td, {}, {}, first_source()), {"n"}), before);
  ApplyManyOptions options;
  options.names = td::Names{std::nullopt, std::string("env")};
  const auto result = apply(td, {}, options, first_source());
  EXPECT_EQ(show_names(names_of(*result->node()), 2),
            show_names(td::Names{std::nullopt, std::string("env")}, 2));
  options.names->resize(1);
  expect_error(Code::invalid_argument, "1 names", [&] { apply(td, {}, options, first_source()); });
  options.names.reset();
  options.batch_size = Sizes{4, 3};
  EXPECT_TRUE(apply(td, {}, options, first_source())->node()->names().empty());
  EXPECT_EQ(apply(td, {}, options, first_source())->get_non_tensor({"s"}), "\"text\"");
}

TEST(Apply, TenThousandLevels) {
  const TensorDict deep = chain(10000, {2});
  const auto result = apply(deep, {deep, deep}, {}, [](Path path, c10::ArrayRef<Value> sources) {
    EXPECT_EQ(path.size(), 10000U);
    return Value(sources[1].tensor() + sources[2].tensor());
  });
  EXPECT_TRUE(result);
}

TEST(Apply, WhatCannotBePutIntoOutLeavesItAsItWas) {
  TensorDict out = dict({4, 3});
  out.set({"n"}, at::ones({4, 3}));
  ApplyManyOptions options;
  options.out = out;
  expect_error(Code::key_exists, "\"n\"", [&] { apply(sample(), {}, options, first_source()); });
  EXPECT_EQ(all_names(out), (Strings{"n"}));
  options.out = dict({4, 3});
  options.out->lock();
  expect_error(Code::locked, "locked", [&] { apply(sample(), {}, options, first_source()); });
}

}  // namespace
}  // namespace td
