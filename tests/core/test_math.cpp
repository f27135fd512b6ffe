// Arithmetic and reductions against plain ATen, and on dictionaries of other kinds.
#include "trees.h"

#include "core/math/math.h"
#include "core/math/reduce.h"

namespace td {
namespace {

using namespace test;

// Leaves of several dtypes and strides: { "f": (4,3,2), "n": { "i": (4,3), "t": (4,3,2) } }.
TensorDict two_dtypes() {
  TensorDict td = dict({4, 3});
  td.set({"f"}, ramp({4, 3, 2}).mul_(0.25).sub_(2));
  td.set({"n", "i"}, ramp({4, 3}, at::kInt));
  td.set({"n", "t"}, ramp({2, 3, 4}, at::kDouble).permute({2, 1, 0}));
  return td;
}

// Compares a result with a function of each leaf.
void expect_each(const TensorDict& result, const TensorDict& source,
                 const std::function<at::Tensor(const at::Tensor&)>& function) {
  const std::vector<std::vector<std::string_view>> paths{{"f"}, {"n", "i"}, {"n", "t"}};
  for (const auto& path : paths) {
    EXPECT_TRUE(equal_tensors(result.get(path), function(source.get(path)))) << show_path(path);
  }
}

class Math : public ::testing::TestWithParam<bool> {
 protected:
  at::AutoGradMode mode_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Modes, Math, ::testing::Bool());

TEST_P(Math, AsAtenDoesIt) {
  const TensorDict td = two_dtypes();
  expect_each(unary(td, Unary::exp_op), td, [](const at::Tensor& x) { return at::exp(x); });
  expect_each(unary(td, Unary::isnan_op), td, [](const at::Tensor& x) { return at::isnan(x); });
  expect_each(binary(td, Binary::add_op, c10::Scalar(1)), td,
              [](const at::Tensor& x) { return at::add(x, 1); });
  expect_each(binary(td, Binary::mul_op, c10::Scalar(1.5)), td,
              [](const at::Tensor& x) { return at::mul(x, 1.5); });
  expect_each(binary(td, Binary::pow_op, c10::Scalar(2)), td,
              [](const at::Tensor& x) { return at::pow(x, 2); });
  expect_each(binary(td, Binary::sub_op, td), td,
              [](const at::Tensor& x) { return at::sub(x, x); });
  expect_each(binary(td, Binary::lt_op, at::scalar_tensor(1)), td,
              [](const at::Tensor& x) { return at::lt(x, 1); });
  expect_each(ternary(td, Ternary::clamp_op, c10::Scalar(0), c10::Scalar(3)), td,
              [](const at::Tensor& x) { return at::clamp(x, 0, 3); });
  const at::Tensor columns = at::tensor(std::vector<float>{1, 2, 3});
  expect_each(binary(td, Binary::add_op, columns), td, [&](const at::Tensor& x) {
    return x.dim() == 2 ? x + columns : x + columns.unsqueeze(-1);
  });
  ReduceOptions options;
  const std::int64_t dims[] = {1, 0};
  options.over = Over::dims;
  options.dims.assign(std::begin(dims), std::end(dims));
  expect_each(reduce(td, Reduction::sum_op, options), td, [](const at::Tensor& x) {
    return x.sum(std::vector<std::int64_t>{0, 1});
  });
}

// In every dtype: done as libtorch does it, or refused before anything has changed.
TEST_P(Math, InPlaceAllOrNothing) {
  const std::vector<Unary> ops = {
#define TD_UNARY(number, NAME, name, doc) Unary::name##_op,
#include "core/math/ops.def"
  };
  for (const Unary op : ops) {
    for (const auto dtype : {at::kBool, at::kByte, at::kInt, at::kLong, at::kHalf, at::kBFloat16,
                             at::kFloat, at::kDouble, at::kComplexFloat}) {
      TensorDict td = dict({3});
      const at::Tensor first = at::ones({3}, at::kFloat), second = at::ones({3}, dtype);
      td.set({"a"}, first.clone());
      td.set({"b"}, second.clone());
      bool done = true;
      try {
        unary_(td, op);
      } catch (const std::exception&) {
        done = false;
      }
      if (done) continue;
      EXPECT_TRUE(equal_tensors(td.get({"a"}), first)) << static_cast<int>(op) << " " << dtype;
      EXPECT_TRUE(equal_tensors(td.get({"b"}), second)) << static_cast<int>(op) << " " << dtype;
    }
  }
}

TEST_P(Math, LazyStacks) {
  std::vector<NodePtr> elements{two_dtypes().node(), unary(two_dtypes(), Unary::neg_op).node()};
  const TensorDict lazy(lazy_stack(elements, 1)), dense(all_dense(lazy.node()));
  const at::Tensor over_batch = ramp({4, 2, 3});
  const auto same = [](const TensorDict& a, const TensorDict& b) {
    return TensorDict(all_dense(a.node())).equal(TensorDict(all_dense(b.node())));
  };
  const TensorDict sum = binary(lazy, Binary::add_op, over_batch);
  EXPECT_EQ(sum.node()->kind(), NodeKind::lazy);
  EXPECT_TRUE(same(sum, binary(dense, Binary::add_op, over_batch)));
  EXPECT_TRUE(same(binary(lazy, Binary::mul_op, dense), binary(dense, Binary::mul_op, lazy)));
  EXPECT_TRUE(all(binary(lazy, Binary::eq_op, dense)));
  EXPECT_FALSE(any(binary(dense, Binary::ne_op, lazy)));
  EXPECT_TRUE(same(unary(lazy, Unary::abs_op), unary(dense, Unary::abs_op)));
  EXPECT_TRUE(same(reduce(lazy, Reduction::sum_op, {}), reduce(dense, Reduction::sum_op, {})));
  TensorDict nested = dict({4});
  nested.set({"n"}, lazy);
  const at::Tensor rows = ramp({4});
  const TensorDict twice = binary(nested, Binary::mul_op, rows);
  EXPECT_TRUE(equal_tensors(twice.get_dict({"n"}).get({"f"}),
                            dense.get({"f"}) * rows.reshape({4, 1, 1, 1})));
  binary_(lazy, Binary::mul_op, c10::Scalar(2));
  EXPECT_TRUE(equal_tensors(TensorDict(elements[0]).get({"f"}), two_dtypes().get({"f"}) * 2));
  binary_(lazy, Binary::sub_op, lazy);
  EXPECT_FALSE(any(TensorDict(elements[1])));
  fill_(lazy, Path({"n", "i"}), 7);
  EXPECT_EQ(numbers(TensorDict(elements[1]).get({"n", "i"})), std::vector<double>(12, 7));
  zero_(lazy);
  EXPECT_FALSE(any(TensorDict(elements[0])));
}

// In the whole the elements have a dimension, so that their dtype wins over that of a tensor without.
TEST(MathKinds, LazyStacksOfSingleNumbersKeepTheirDtype) {
  const auto element = [](int value) {
    TensorDict td = dict({});
    td.set({"a"}, at::full({}, value, at::kShort));
    td.set({"f"}, at::full({}, value, at::kFloat));
    return td.node();
  };
  const TensorDict lazy(lazy_stack({element(5), element(-7)}, 0)), dense(all_dense(lazy.node()));
  for (const at::Tensor& number :
       {at::full({}, 3, at::kLong), at::full({}, 2.5, at::kDouble), at::full({}, 2, at::kChar)}) {
    const TensorDict sum = binary(lazy, Binary::add_op, number),
                     bound = ternary(lazy, Ternary::clamp_op, number, at::full({}, 70000));
    EXPECT_TRUE(TensorDict(all_dense(sum.node())).equal(binary(dense, Binary::add_op, number)));
    EXPECT_EQ(sum.get({"a"}).scalar_type(), at::result_type(dense.get({"a"}), number));
    EXPECT_TRUE(TensorDict(all_dense(bound.node()))
                    .equal(ternary(dense, Ternary::clamp_op, number, at::full({}, 70000))));
  }
  const TensorDict copy = lazy.clone(), most = dense.clone();
  binary_(copy, Binary::maximum_op, at::full({}, -6, at::kLong));
  binary_(most, Binary::maximum_op, at::full({}, -6, at::kLong));
  EXPECT_TRUE(TensorDict(all_dense(copy.node())).equal(most));
  // The same element outside of a stack is a number.
  const NodePtr both = element(5);
  TensorDict td = dict({});
  td.set({"n"}, TensorDict(both));
  td.set({"s"}, TensorDict(lazy_stack({both, both}, 0)));
  const TensorDict sum = binary(td, Binary::add_op, at::full({}, 3, at::kLong));
  EXPECT_EQ(sum.get({"n", "a"}).scalar_type(), at::kLong);
  EXPECT_EQ(sum.get_dict({"s"}).get({"a"}).scalar_type(), at::kShort);
}

TEST(MathKinds, LazyStacksThatTheOtherLacks) {
  std::vector<NodePtr> elements{two_dtypes().node(), two_dtypes().node()};
  TensorDict td = dict({2}), other = dict({2});
  td.set({"lazy"}, TensorDict(lazy_stack(elements, 0)));
  BinaryOptions options;
  options.missing = WalkRules::Missing::fill;
  options.fallback = at::scalar_tensor(1);
  const TensorDict sum = binary(td, Binary::add_op, other, options);
  EXPECT_EQ(sum.get_dict({"lazy"}).node()->kind(), NodeKind::lazy);
  options.fallback = at::scalar_tensor(0, at::kInt);
  binary_(td, Binary::mul_op, other, options);
  EXPECT_FALSE(any(TensorDict(elements[1])));
}

TEST(MathKinds, SubTensorDicts) {
  TensorDict td = dict({4});
  td.set({"x"}, ramp({4}));
  const auto sub_tensordict = [&](Index items) {
    return TensorDict(
        c10::make_intrusive<SubTensorDictNode>(td.node(), std::move(items), SizesView{2}));
  };
  binary_(sub_tensordict({IndexItem::range(1, 3)}), Binary::add_op, c10::Scalar(10));
  EXPECT_EQ(numbers(td.get({"x"})), (std::vector<double>{0, 11, 12, 3}));
  binary_(sub_tensordict({IndexItem::of(ints({3, 0}))}), Binary::add_op, c10::Scalar(100));
  EXPECT_EQ(numbers(td.get({"x"})), (std::vector<double>{100, 11, 12, 103}));
  zero_(sub_tensordict({IndexItem::of(ints({3, 0}))}));
  EXPECT_EQ(numbers(td.get({"x"})), (std::vector<double>{0, 11, 12, 0}));
  EXPECT_EQ(numbers(binary(sub_tensordict({IndexItem::range(1, 3)}), Binary::mul_op, c10::Scalar(2))
                        .get({"x"})),
            (std::vector<double>{22, 24}));
}

TEST(MathKinds, Gradients) {
  const at::AutoGradMode on(true);
  TensorDict td = dict({2});
  td.set({"w"}, at::ones({2}).requires_grad_());
  td.set({"i"}, ints({1, 2}));
  const TensorDict twice = binary(td, Binary::mul_op, c10::Scalar(2));
  EXPECT_TRUE(twice.get({"w"}).requires_grad());
  EXPECT_EQ(code_of([&] { binary_(td, Binary::mul_op, c10::Scalar(2)); }), Code::torch);
  EXPECT_EQ(code_of([&] { zero_(td); }), Code::torch);
  EXPECT_EQ(numbers(td.get({"i"})), (std::vector<double>{1, 2}));
  const at::AutoGradMode off(false);
  const auto version = td.get({"w"})._version();
  zero_(td);
  EXPECT_EQ(td.get({"w"})._version(), version + 1);
}

TEST(MathKinds, NamesOfDimensions) {
  TensorDict td = sample();
  td.node()->set_names({std::string("time"), std::nullopt});
  EXPECT_EQ(binary(td, Binary::add_op, td).node()->names(), td.node()->names());
  ReduceOptions options;
  const std::int64_t last[] = {1}, first[] = {0};
  options.over = Over::dims;
  options.dims.assign(std::begin(last), std::end(last));
  EXPECT_EQ(reduce(td, Reduction::sum_op, options).node()->names(),
            (td::Names{std::string("time")}));
  options.dims.assign(std::begin(first), std::end(first));
  EXPECT_TRUE(reduce(td, Reduction::sum_op, options).node()->names().empty());
}

TEST(MathKinds, OperandsOnAnotherDevice) {
  const TensorDict td = two_dtypes(), away = td.to(c10::Device(c10::kMeta));
  for (const bool recorded : {false, true}) {
    const at::AutoGradMode mode(recorded);
    expect_error(Code::device, "add: the operand for \"f\" is on meta, the tensor on cpu",
                 [&] { binary(td, Binary::add_op, away); });
    expect_error(Code::device, "is on cpu, the tensor on meta", [&] {
      binary(away, Binary::mul_op, at::ones({4, 3}));
    });
    expect_error(Code::device, "add_: the operand for \"f\" is on meta",
                 [&] { binary_(td, Binary::add_op, away); });
    EXPECT_TRUE(binary(away, Binary::add_op, c10::Scalar(1)).get({"f"}).is_meta());
  }
}

TEST(MathKinds, DeepTrees) {
  const TensorDict deep = chain(10000, {2});
  const std::vector<std::string_view> path(10000, "n");
  EXPECT_EQ(numbers(binary(deep, Binary::add_op, deep).get(Path(path))),
            (std::vector<double>{2, 2}));
  unary_(deep, Unary::neg_op);
  EXPECT_EQ(numbers(deep.get(Path(path))), (std::vector<double>{-1, -1}));
  EXPECT_EQ(reduce_leaves(deep, Reduction::sum_op, {}).item().toDouble(), -2);
  EXPECT_TRUE(all(binary(deep, Binary::eq_op, at::full({2}, -1))));
  zero_(deep);
  EXPECT_FALSE(any(deep));
}

}  // namespace
}  // namespace td
