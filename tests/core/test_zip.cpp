// Several trees side by side.
#include "trees.h"

#include "core/keys/entries.h"
#include "core/tree/zip.h"

namespace td {
namespace {

using namespace test;
using Missing = WalkRules::Missing;

class Sum final : public ZipOp {
 public:
  at::Tensor leaf(const Here& here, Tensors tensors) const override {
    seen += seen.empty() ? "" : " ";
    for (const std::string_view name : here.path()) seen += name;
    at::Tensor sum;
    for (const at::Tensor* tensor : tensors) {
      if (tensor == nullptr) continue;
      sum = sum.defined() ? sum + *tensor : *tensor;
    }
    return drop == here.path().back() ? at::Tensor() : sum;
  }
  mutable std::string seen;
  std::string_view drop;
};

TensorDict zipped(const std::vector<TensorDict>& trees, const Sum& op, WalkRules policy = {}) {
  std::vector<NodePtr> nodes;
  for (const TensorDict& tree : trees) nodes.push_back(tree.node());
  return TensorDict(zip(nodes, op, policy));
}

// { "c": 1, "n": { "b": 1, "d": 1 } }
TensorDict other() {
  TensorDict td = dict({4, 3});
  td.set({"c"}, at::ones({4, 3}));
  td.set({"n", "d"}, at::ones({4, 3}));
  td.set({"n", "b"}, at::ones({4, 3}));
  return td;
}

TEST(Zip, SameKeysInAnyOrder) {
  TensorDict a = sample(), b = dict({4, 3});
  b.set({"n", "b"}, ramp({4, 3}, at::kLong));
  b.set({"a"}, ramp({4, 3, 2}));
  const Sum op;
  const TensorDict sum = zipped({a, b, a}, op);
  EXPECT_EQ(op.seen, "a nb");
  EXPECT_EQ(as_dense(sum.node().get())->schema(), as_dense(a.node().get())->schema());
  EXPECT_EQ(numbers(sum.get({"n", "b"})), numbers(3 * a.get({"n", "b"})));
}

TEST(Zip, KeysThatAreMissing) {
  const TensorDict a = sample(), b = other();
  const Sum op;
  EXPECT_EQ(code_of([&] { zipped({a, b}, op); }), Code::key_not_found);
  EXPECT_EQ(code_of([&] { zipped({a, a.index({})}, op); }), Code::ok);
  WalkRules policy;
  policy.missing = Missing::intersect;
  EXPECT_EQ(list_keys(zipped({a, b}, op, policy), {true, true, true}).keys.size(), 1u);
  policy.missing = Missing::fill;
  op.seen.clear();
  const TensorDict all = zipped({a, b}, op, policy);
  EXPECT_EQ(op.seen, "a nb nd c");
  EXPECT_EQ(list_keys(all, {true, true, true}).keys.size(), 4u);
  EXPECT_EQ(numbers(all.get({"n", "d"})), numbers(at::ones({4, 3})));
  policy.ignore_extra = true;
  op.seen.clear();
  zipped({a, b}, op, policy);
  EXPECT_EQ(op.seen, "a nb");
  policy.missing = Missing::error;
  TensorDict more = sample();
  more.set({"n", "more"}, at::ones({4, 3}));
  EXPECT_EQ(code_of([&] { zipped({a, more}, op, policy); }), Code::ok);
  EXPECT_EQ(code_of([&] { zipped({a, more}, op); }), Code::key_not_found);
  EXPECT_EQ(code_of([&] { zipped({more, a}, op, policy); }), Code::key_not_found);
}

TEST(Zip, WholeDictionariesThatAreMissing) {
  TensorDict a = sample(), b = sample();
  b.remove({"n"});
  WalkRules policy;
  policy.missing = Missing::fill;
  for (const auto& pair : {std::pair(a, b), std::pair(b, a)}) {
    const TensorDict all = zipped({pair.first, pair.second}, Sum(), policy);
    EXPECT_EQ(numbers(all.get({"n", "b"})), numbers(a.get({"n", "b"})));
  }
}

TEST(Zip, UndefinedResultsAreDropped) {
  Sum op;
  op.drop = "a";
  const TensorDict left = zipped({sample(), sample()}, op);
  EXPECT_EQ(left.kind_of({"a"}), EntryKind::none);
  EXPECT_EQ(left.kind_of({"n", "b"}), EntryKind::tensor);
}

TEST(Zip, ValuesAreCarriedOver) {
  TensorDict a = sample(), b = sample();
  a.set_non_tensor({"n", "text"}, "\"x\"");
  b.set_non_tensor({"n", "text"}, "\"y\"");
  EXPECT_EQ(zipped({a, b}, Sum()).get_non_tensor({"n", "text"}), "\"x\"");
  TensorDict c = sample();
  c.set({"n", "text"}, at::ones({4, 3}));
  EXPECT_EQ(zipped({a, c}, Sum()).get_non_tensor({"n", "text"}), "\"x\"");
  EXPECT_EQ(code_of([&] { zipped({c, a}, Sum()); }), Code::wrong_entry);
}

TEST(Zip, LazyStacks) {
  std::vector<NodePtr> elements{sample().node(), sample().node()};
  const TensorDict lazy(lazy_stack(elements, 1)), dense(all_dense(lazy.node()));
  const TensorDict sum = zipped({lazy, dense}, Sum());
  EXPECT_EQ(sum.node()->kind(), NodeKind::lazy);
  const TensorDict other_way = zipped({dense, lazy}, Sum());
  EXPECT_EQ(other_way.node()->kind(), NodeKind::dense);
  EXPECT_TRUE(TensorDict(all_dense(sum.node())).equal(other_way));
  EXPECT_EQ(zipped({lazy, lazy}, Sum()).node()->kind(), NodeKind::lazy);
  visit_zip({lazy.node(), dense.node()}, Take::elements,
            [](const Here&, Tensors tensors) { tensors[0]->zero_(); });
  EXPECT_EQ(numbers(TensorDict(elements[1]).get({"n", "b"})), std::vector<double>(12, 0));
}

TEST(Zip, DeepTrees) {
  const TensorDict deep = chain(10000, {2});
  const TensorDict sum = zipped({deep, deep}, Sum());
  const std::vector<std::string_view> path(10000, "n");
  EXPECT_EQ(numbers(sum.get(Path(path))), (std::vector<double>{2, 2}));
}

}  // namespace
}  // namespace td
