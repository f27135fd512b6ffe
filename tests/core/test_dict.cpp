// Entries: what can be stored where, what is refused, and that a refusal changes nothing.
#include "core/keys/entries.h"
#include "trees.h"

namespace td {
namespace {

using namespace test;

std::vector<std::string> names(const TensorDict& td, const KeyQuery& options = {}) {
  std::vector<std::string> result;
  for (const KeyList::Key& key : list_keys(td, options).keys) {
    std::string text;
    for (const std::string& name : key.path) text += (text.empty() ? "" : ".") + name;
    result.push_back(text);
  }
  return result;
}

using Strings = std::vector<std::string>;

TEST(Dict, KeepsTheTensorItWasGiven) {
  TensorDict td = dict({3});
  const at::Tensor a = at::zeros({3, 4});
  td.set({"a"}, a);
  EXPECT_TRUE(td.get({"a"}).is_same(a));
  const at::Tensor b = at::ones({3, 4});
  td.set({"a"}, b);
  EXPECT_TRUE(td.get({"a"}).is_same(b));
  EXPECT_EQ(numbers(a)[0], 0) << "replacing an entry does not write into the old tensor";
}

TEST(Dict, AnyTextIsAName) {
  TensorDict td = dict({2});
  for (const char* name : {"", "a.b", "a/b", " ", "\xc3\xa9", "..", "%"}) {
    const std::string_view view(name);
    td.set(view, at::ones({2}));
    EXPECT_EQ(td.kind_of(view), EntryKind::tensor) << name;
  }
  EXPECT_EQ(list_keys(td).keys.size(), 7U);
  expect_error(Code::key_invalid, "UTF-8", [&] { td.set({"\xff"}, at::ones({2})); });
  expect_error(Code::key_invalid, "NUL",
               [&] { td.set({std::string_view("a\0b", 3)}, at::ones({2})); });
  expect_error(Code::key_invalid, "no name", [&] { td.set(Path(), at::ones({2})); });
  EXPECT_EQ(list_keys(td).keys.size(), 7U);
}

TEST(Dict, ListsKeysInTheOrderOfTheirInsertion) {
  TensorDict td = dict({3});
  td.set({"z"}, at::ones({3}));
  td.set({"n", "c"}, at::ones({3}));
  td.set({"n", "b"}, at::ones({3}));
  td.set({"a"}, at::ones({3}));
  td.set({"n", "empty"}, dict({3}));
  td.set_non_tensor({"s"}, "\"text\"");
  EXPECT_EQ(names(td), (Strings{"z", "n", "a", "s"}));
  EXPECT_EQ(names(td, {true, false, false}),
            (Strings{"z", "n", "n.c", "n.b", "n.empty", "a", "s"}));
  EXPECT_EQ(names(td, {true, true, false}), (Strings{"z", "n.c", "n.b", "a"}));
  EXPECT_EQ(names(td, {true, true, true}), (Strings{"a", "n.b", "n.c", "z"}));
  td.remove({"n", "c"});
  td.set({"z"}, at::zeros({3}));
  EXPECT_EQ(names(td, {true, true, false}), (Strings{"z", "n.b", "a"}));
}

TEST(Dict, FailedLookupSaysWhere) {
  TensorDict td = sample();
  expect_error(Code::key_not_found, "\"n\" holds \"b\"", [&] { td.get({"n", "q"}); });
  expect_error(Code::key_not_found, "the dictionary holds \"a\", \"n\"", [&] {
    td.get({"q", "b"});
  });
  expect_error(Code::wrong_entry, "\"a\" is not a dictionary", [&] { td.get({"a", "b"}); });
  expect_error(Code::wrong_entry, "is a dictionary, not a tensor", [&] { td.get({"n"}); });
  expect_error(Code::wrong_entry, "is a tensor, not a dictionary", [&] { td.get_dict({"a"}); });
  EXPECT_EQ(td.kind_of({"a", "b"}), EntryKind::none);
  EXPECT_EQ(td.kind_of({"n", "b"}), EntryKind::tensor);
}

TEST(Dict, NestedSetMakesTheDictionariesOnTheWay) {
  TensorDict td = dict({3});
  td.set({"x", "y", "z"}, at::ones({3, 2}));
  EXPECT_EQ(list(td.get_dict({"x"}).batch_size()), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(list(td.get_dict({"x", "y"}).batch_size()), (std::vector<std::int64_t>{3}));
}

TEST(Dict, FailedSetLeavesNothing) {
  TensorDict td = dict({3});
  td.set({"leaf"}, at::ones({3}));
  expect_error(Code::shape, "[4]", [&] { td.set({"x", "y", "z"}, at::ones({4})); });
  expect_error(Code::key_exists, "\"leaf\"", [&] { td.set({"leaf", "y"}, at::ones({3})); });
  TensorDict other = dict({4});
  other.set({"a"}, at::ones({4}));
  expect_error(Code::shape, "batch size [4]", [&] { td.set({"p", "q"}, other); });
  expect_error(Code::shape, "", [&] { td.set({"leaf"}, at::ones({4})); });
  EXPECT_EQ(names(td, {true, false, false}), (Strings{"leaf"}));
  EXPECT_EQ(td.get({"leaf"}).dim(), 1);
}

TEST(Dict, InPlaceKeepsTheTensorAndItsDtype) {
  TensorDict td = sample();
  const at::Tensor a = td.get({"a"});
  td.set_inplace({"a"}, at::full({2}, 7, at::kInt));
  EXPECT_TRUE(td.get({"a"}).is_same(a));
  EXPECT_EQ(a.scalar_type(), at::kFloat);
  EXPECT_EQ(numbers(a), std::vector<double>(24, 7));
  td.set_inplace({"a"}, a);  // a tensor onto itself
  EXPECT_EQ(numbers(a), std::vector<double>(24, 7));
  expect_error(Code::shape, "[3]", [&] { td.set_inplace({"a"}, at::ones({3})); });
  expect_error(Code::key_not_found, "zz", [&] { td.set_inplace({"zz"}, at::ones({3})); });
  expect_error(Code::wrong_entry, "", [&] { td.set_inplace({"n"}, at::ones({4, 3})); });
}

TEST(Dict, InPlaceReadsOverlappingMemoryFirst) {
  TensorDict td = dict({});
  const at::Tensor base = ramp({6});
  td.set({"a"}, base.slice(0, 1, 6));
  td.set_inplace({"a"}, base.slice(0, 0, 5));
  EXPECT_EQ(numbers(base), (std::vector<double>{0, 0, 1, 2, 3, 4}));
}

TEST(Dict, InPlaceIntoRepeatedMemoryIsRefusedAsByLibtorch) {
  const at::NoGradGuard no_grad;
  TensorDict td = dict({2});
  const at::Tensor base = ramp({1});
  td.set({"a"}, base.expand({2}));
  EXPECT_ANY_THROW(td.set_inplace({"a"}, ramp({2})));
  EXPECT_EQ(numbers(base), (std::vector<double>{0}));
}

TEST(Dict, BatchSizeChangesAsAWhole) {
  TensorDict td = dict({3});
  td.set({"a"}, at::ones({3, 4}));
  td.set({"n", "b"}, at::ones({3, 4, 5}));
  td.set({"m", "c"}, at::ones({3, 4}));
  td.set({"z"}, at::ones({3}));
  expect_error(Code::shape, "\"z\"", [&] { td.set_batch_size(SizesView{3, 4}); });
  EXPECT_EQ(list(td.batch_size()), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(list(td.get_dict({"n"}).batch_size()), (std::vector<std::int64_t>{3}));
  td.remove({"z"});
  td.set_batch_size(SizesView{3, 4});
  EXPECT_EQ(list(td.get_dict({"n"}).batch_size()), (std::vector<std::int64_t>{3, 4}));
  td.set_batch_size(SizesView{3});
  EXPECT_EQ(list(td.get_dict({"n"}).batch_size()), (std::vector<std::int64_t>{3, 4}))
      << "shrinking leaves nested ones";
  expect_error(Code::shape, "negative", [&] { td.set_batch_size(SizesView{-1}); });
  expect_error(Code::shape, "negative", [&] { dict({-1}); });
}

TEST(Dict, AMemberOfAnotherBatchSizeIsStoredAsACopy) {
  TensorDict n = dict({});
  n.set({"b"}, at::ones({3, 4}));
  TensorDict td = dict({3});
  td.set({"n"}, n);
  EXPECT_FALSE(td.get_dict({"n"}).is_same(n));
  EXPECT_EQ(list(td.get_dict({"n"}).batch_size()), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(n.batch_size().size(), 0U);
  EXPECT_TRUE(td.get({"n", "b"}).is_same(n.get({"b"})));
  TensorDict fits = dict({3, 4});
  td.set({"fits"}, fits);
  EXPECT_TRUE(td.get_dict({"fits"}).is_same(fits));
}

TEST(Dict, NeverLiesInsideItself) {
  TensorDict td = dict({});
  td.set({"n", "m"}, dict({}));
  const TensorDict inner = td.get_dict({"n"});
  expect_error(Code::cycle, "", [&] { td.set({"self"}, td); });
  expect_error(Code::cycle, "", [&] { td.set({"n", "m", "up"}, td); });
  expect_error(Code::cycle, "", [&] { td.get_dict({"n", "m"}).set({"up"}, td); });
  expect_error(Code::cycle, "", [&] { td.set({"n", "x", "up"}, inner); });
  EXPECT_EQ(names(td, {true, false, false}), (Strings{"n", "n.m"}));
  td.set({"twice"}, inner);  // one node at two places is no cycle
  EXPECT_TRUE(td.get_dict({"twice"}).is_same(inner));
}

TEST(Dict, TheDeviceOfADictionaryIsImposed) {
  TensorDict td(SizesView{3}, c10::Device(at::kMeta));
  TensorDict inner = dict({3});
  const at::Tensor leaf = at::ones({3});
  inner.set({"b"}, leaf);
  td.set({"a"}, at::ones({3, 2}));
  td.set({"n"}, inner);
  td.set({"made", "c"}, at::ones({3}));
  EXPECT_TRUE(td.get({"a"}).is_meta());
  EXPECT_TRUE(td.get({"n", "b"}).is_meta());
  EXPECT_TRUE(td.get({"made", "c"}).is_meta());
  EXPECT_EQ(td.get_dict({"n"}).device()->type(), at::kMeta);
  EXPECT_TRUE(inner.get({"b"}).is_same(leaf)) << "the original stays where it is";
  EXPECT_FALSE(inner.device());
  td.clear_device();
  EXPECT_FALSE(td.device());
  EXPECT_FALSE(td.get_dict({"n"}).device());
  EXPECT_TRUE(td.get({"a"}).is_meta());
  td.set({"cpu"}, at::ones({3}));
  EXPECT_TRUE(td.get({"cpu"}).is_cpu());
}

TEST(Dict, EmptinessAndBytes) {
  TensorDict td = dict({0});
  td.set({"n"}, dict({0}));
  EXPECT_TRUE(td.is_empty());
  td.set({"n", "a"}, at::ones({0, 4}));
  EXPECT_FALSE(td.is_empty());
  EXPECT_EQ(td.nbytes(), 0U);
  EXPECT_EQ(sample().nbytes(), 4U * 24 + 8U * 12);
}

TEST(Dict, CopiesOfTheHandleSpeakOfOneDictionary) {
  TensorDict td = sample();
  TensorDict again = td;
  again.set({"c"}, at::ones({4, 3}));
  EXPECT_EQ(td.kind_of({"c"}), EntryKind::tensor);
  TensorDict copy = td.clone(false);
  copy.remove({"c"});
  EXPECT_EQ(td.kind_of({"c"}), EntryKind::tensor) << "names are copied before they change";
  EXPECT_TRUE(copy.get({"a"}).is_same(td.get({"a"})));
  EXPECT_FALSE(copy.get_dict({"n"}).is_same(td.get_dict({"n"})));
}

TEST(Dict, EqualComparesKeysShapesDtypesAndValues) {
  const TensorDict td = sample();
  EXPECT_TRUE(td.equal(td.clone()));
  TensorDict other = td.clone();
  other.set_inplace({"n", "b"}, ramp({4, 3}) + 1);
  EXPECT_FALSE(td.equal(other));
  other = td.clone();
  other.set({"a"}, td.get({"a"}).to(at::kDouble));
  EXPECT_FALSE(td.equal(other));
  other = td.clone();
  other.set_batch_size(SizesView{4});
  EXPECT_FALSE(td.equal(other));
  TensorDict turned = dict({4, 3});  // the order of the keys does not count
  turned.set({"n", "b"}, td.get({"n", "b"}));
  turned.set({"a"}, td.get({"a"}));
  EXPECT_TRUE(td.equal(turned));
}

}  // namespace
}  // namespace td
