// Gradients: recorded when the thread records them, and nothing but the dispatcher when anyone listens.
#include "core/apply/apply.h"
#include "core/keys/entries.h"
#include "core/math/call.h"
#include "core/math/math.h"
#include "core/shape/join.h"
#include "core/shape/shape.h"
#include "trees.h"

namespace td {
namespace {

using namespace test;

TensorDict learnable() {
  TensorDict td = dict({4});
  td.set({"w"}, ramp({4, 2}).set_requires_grad(true));
  td.set({"n", "x"}, ramp({4}));
  return td;
}

// The gradient that sum() of a result sends back to "w".
std::vector<double> gradient(const TensorDict& td, const TensorDict& result) {
  result.get({"w"}).sum().backward();
  return numbers(td.get({"w"}).grad());
}

std::vector<double> halves(std::initializer_list<double> rows) {
  std::vector<double> both;
  for (const double row : rows) {
    both.push_back(row);
    both.push_back(row);
  }
  return both;
}

TEST(Grad, OperationsAreDifferentiable) {
  const at::AutoGradMode grad(true);
  const auto check = [](auto&& operation, const std::vector<double>& expected) {
    const TensorDict td = learnable();
    EXPECT_EQ(gradient(td, operation(td)), expected);
  };
  check([](const TensorDict& td) { return td.index({IndexItem::at(1)}); }, halves({0, 1, 0, 0}));
  check([](const TensorDict& td) { return td.index({IndexItem::range(1, 4, 2)}); },
        halves({0, 1, 0, 1}));
  check(
      [](const TensorDict& td) {
        return td.index({IndexItem::of(ints({2, 2, 0}))});
      },
      halves({1, 0, 2, 0}));
  check(
      [](const TensorDict& td) {
        return td.index({IndexItem::of(mask({1, 0, 0, 1}))});
      },
      halves({1, 0, 0, 1}));
  check(
      [](const TensorDict& td) {
        return td.view(SizesView{2, 2}).transpose(0, 1).reshape(SizesView{4});
      },
      halves({1, 1, 1, 1}));
  check([](const TensorDict& td) { return td.expand(SizesView{3, 4}); }, halves({3, 3, 3, 3}));
  check([](const TensorDict& td) { return td.unbind(0)[2].unsqueeze(0).squeeze(0); },
        halves({0, 0, 1, 0}));
  check([](const TensorDict& td) { return td.clone().contiguous(); }, halves({1, 1, 1, 1}));
  check([](const TensorDict& td) { return td.to(at::kDouble); }, halves({1, 1, 1, 1}));
  check(
      [](const TensorDict& td) {
        return td::stack(std::vector<TensorDict>{td, td}, 0);
      },
      halves({2, 2, 2, 2}));
  check(
      [](const TensorDict& td) {
        return td::cat(std::vector<TensorDict>{td, td.index({IndexItem::range(0, 1)})}, 0);
      },
      halves({2, 1, 1, 1}));
}

// Its strides may be anything; libtorch wants those of a dense tensor.
TEST(Grad, ATensorWithoutElementsIsSeenAsAnotherDtype) {
  const at::AutoGradMode grad(true);
  TensorDict td = dict({0});
  td.set({"a"}, ramp({4, 2}).as_strided({0, 2}, {0, 0}));
  EXPECT_EQ(view_as(td, at::kShort, std::nullopt).get({"a"}).sizes(), (SizesView{0, 4}));
}

TEST(Grad, AWriteIntoALeafThatRequiresGradIsRefused) {
  const at::AutoGradMode grad(true);
  TensorDict td = learnable();
  TensorDict row = dict({});
  row.set({"w"}, at::zeros({2}));
  const char* const why = "\"w\" requires a gradient";
  expect_error(Code::torch, why, [&] { td.set_inplace({"w"}, at::zeros({4, 2})); });
  expect_error(Code::torch, why, [&] { td.set_at({IndexItem::at(0)}, row); });
  expect_error(Code::torch, why,
               [&] { td.set_at({IndexItem::of(ints({0}))}, row.expand(SizesView{1})); });
  expect_error(Code::torch, why, [&] { td.fill_at({}, at::zeros({})); });
  expect_error(Code::torch, why, [&] { td.index({IndexItem::at(0)}).fill_at({}, at::zeros({})); });
  EXPECT_EQ(numbers(td.get({"w"})), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Grad, ARefusedWriteChangesNoOtherLeaf) {
  const at::AutoGradMode grad(true);
  TensorDict td = dict({4});
  td.set({"first"}, ramp({4}));
  td.set({"w"}, learnable().get({"w"}));
  const TensorDict values =
      apply(td, {}, [](Path, const at::Tensor& leaf) { return leaf.detach() + 1; });
  EXPECT_ANY_THROW(td.set_at({}, values));
  EXPECT_ANY_THROW(td.fill_at({IndexItem::of(ints({0}))}, at::full({}, 9)));
  EXPECT_ANY_THROW(apply(td, {true, FilterEmpty::unset, false},
                         [](Path, const at::Tensor& leaf) { return leaf.detach() * 2; }));
  td.set({"w"}, at::zeros({1}).expand({4}));
  EXPECT_ANY_THROW(td.set_at({}, values)) << "shape";
  td.set({"w"}, at::zeros({4}));
  expect_error(Code::device, "meta",
               [&] { td.fill_at({}, at::empty({}, at::TensorOptions(at::kMeta))); });
  EXPECT_EQ(numbers(td.get({"first"})), (std::vector<double>{0, 1, 2, 3}));
}

TEST(Grad, AWriteBelowAnOperationIsRecorded) {
  const at::AutoGradMode grad(true);
  const TensorDict td = learnable();
  TensorDict copy = td.clone();
  TensorDict row = dict({});
  row.set({"w"}, at::zeros({2}));
  copy.set_at({IndexItem::at(3)}, row);
  EXPECT_EQ(gradient(td, copy), halves({1, 1, 1, 0}));
}

TEST(Grad, AWriteThroughAViewReachesTheBase) {
  const at::AutoGradMode grad(true);
  const TensorDict source = learnable();
  TensorDict buffer = dict({4});
  buffer.set({"w"}, at::zeros({4, 2}));
  TensorDict part = buffer.index({IndexItem::range(0, 2)});
  TensorDict values = dict({2});
  values.set({"w"}, source.get({"w"}).slice(0, 0, 2) * 3);
  part.set_at({}, values);
  EXPECT_TRUE(buffer.get({"w"}).requires_grad());
  EXPECT_EQ(gradient(source, buffer), halves({3, 3, 0, 0}));
}

// libtorch itself takes the second view for a leaf once the first was written.
TEST(Grad, WritesIntoViewsOfOneTensorAreRecorded) {
  const at::AutoGradMode grad(true);
  UpdateOptions update_in_place;
  update_in_place.mode = UpdateMode::inplace;
  const std::function<void(TensorDict&, const at::Tensor&)> ways[] = {
      [](TensorDict& td, const at::Tensor& w) { td.fill_at({}, w * 3); },
      [](TensorDict& td, const at::Tensor& w) {
        apply(td, {true, FilterEmpty::unset, false},
              [&](Path, const at::Tensor&) { return w * 3; });
      },
      [&](TensorDict& td, const at::Tensor& w) {
        TensorDict values = dict({2});
        values.set({"a"}, w * 3);
        values.set({"b"}, w * 3);
        update(td, values, update_in_place);
      },
      [](TensorDict& td, const at::Tensor& w) { binary_(td, Binary::add_op, w * 3); },
      [](TensorDict& td, const at::Tensor& w) {
        call_inplace(td, "aten::add_", {CallArgument::of(CallArgument::Kind::tensor, w * 3)});
      },
      // One after the other.
      [](TensorDict& td, const at::Tensor& w) {
        td.set_inplace({"a"}, w * 3);
        td.set_inplace({"b"}, w * 3);
      },
  };
  for (const auto& way : ways) {
    const at::Tensor base = at::zeros({4}), w = at::ones({2}).set_requires_grad(true);
    TensorDict td = dict({2});
    td.set({"a"}, base.slice(0, 0, 2));
    td.set({"b"}, base.slice(0, 2, 4));
    way(td, w);
    EXPECT_EQ(numbers(base), (std::vector<double>{3, 3, 3, 3})) << &way - ways;
    base.sum().backward();
    EXPECT_EQ(numbers(w.grad()), (std::vector<double>{6, 6})) << &way - ways;
  }
}

// What makes another write of the same call impossible is refused before the first one.
TEST(Grad, AWriteThatAnotherMakesImpossibleIsRefusedFirst) {
  const at::AutoGradMode grad(true);
  const at::Tensor base = at::zeros({4});
  TensorDict td = dict({2}), values = dict({2});
  td.set({"a"}, base.slice(0, 0, 2));
  td.set({"b"}, base.split(2)[1]);  // autograd cannot write through one of several results
  values.set({"a"}, at::ones({2}).set_requires_grad(true));
  values.set({"b"}, at::ones({2}));
  expect_error(Code::torch, "would be lost", [&] { td.set_at({}, values); });
  expect_error(Code::torch, "would be lost",
               [&] { call_inplace(td, "aten::add_", {CallArgument::of(values)}); });
  EXPECT_FALSE(base.requires_grad());
  EXPECT_FALSE(any(td));
}

// A tensor that is written into itself needs no gradient, unless another write reaches its memory.
TEST(Grad, ALeafIsWrittenIntoItselfOnlyIfItStaysAsItIs) {
  const at::AutoGradMode grad(true);
  at::Tensor base = at::zeros({4});
  const at::Tensor leaf = at::from_blob(base.data_ptr(), {4}).set_requires_grad(true);
  const auto add_one = [](Path path, const at::Tensor& tensor) {
    return path.back() == "a" ? tensor + 1 : tensor;
  };
  TensorDict td = dict({4});
  td.set({"b"}, leaf);
  td.set({"c"}, leaf);
  apply(td, {true, FilterEmpty::unset, false}, add_one);
  TensorDict all = dict({4});
  all.set({"a"}, base);
  all.set({"b"}, leaf);
  expect_error(Code::torch, "requires a gradient", [&] {
    apply(all, {true, FilterEmpty::unset, false}, add_one);
  });
  EXPECT_EQ(numbers(base), (std::vector<double>{0, 0, 0, 0}));
}

TEST(Grad, AValueNeededForTheGradientMustNotChange) {
  const at::Tensor base = ramp({4});
  TensorDict td = dict({4});
  td.set({"x"}, base);
  const at::Tensor w = at::ones({4}).set_requires_grad(true);
  at::Tensor product;
  {
    const at::AutoGradMode grad(true);
    product = (w * td.get({"x"})).sum();
  }
  {
    const at::NoGradGuard no_grad;
    TensorDict row = dict({});
    row.set({"x"}, at::full({}, 9));
    td.index({IndexItem::range(1, 3)}).set_at({IndexItem::at(0)}, row);
  }
  EXPECT_THROW(product.backward(), c10::Error) << "the version counter tells";
}

TEST(Grad, OffGivesResultsWithout) {
  const at::NoGradGuard no_grad;
  const TensorDict td = learnable();
  const std::vector<TensorDict> two{td, td};
  for (const TensorDict& result :
       {td.index({IndexItem::at(0)}), td.index({IndexItem::of(ints({0}))}),
        td.view(SizesView{2, 2}), td.unbind(0)[0], td.clone(), td.expand(SizesView{2, 4}),
        td::stack(two, 0), td::cat(two, 0)}) {
    EXPECT_FALSE(result.get({"w"}).requires_grad());
    EXPECT_TRUE(result.get({"w"}).is_leaf());
  }
  EXPECT_TRUE(td.clone(false).get({"w"}).requires_grad()) << "the same tensor";
}

TEST(Grad, OffAllowsWritesIntoLeaves) {
  const at::NoGradGuard no_grad;
  TensorDict td = learnable();
  const auto version = td.get({"w"})._version();
  td.fill_at({IndexItem::at(0)}, at::full({}, 7));
  EXPECT_EQ(numbers(td.get({"w"}))[1], 7);
  EXPECT_TRUE(td.get({"w"}).requires_grad());
  EXPECT_EQ(td.get({"w"})._version(), version + 1);
}

TEST(FastPath, IsOffWhenSomebodyListens) {
  {
    const at::AutoGradMode grad(true);
    EXPECT_FALSE(fast::can_skip_dispatcher());
  }
  const at::NoGradGuard no_grad;
  EXPECT_TRUE(fast::can_skip_dispatcher());
  for (const c10::DispatchKey key : {c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
                                     c10::DispatchKey::Tracer, c10::DispatchKey::Python}) {
    const c10::impl::IncludeDispatchKeyGuard guard(key);
    EXPECT_FALSE(fast::can_skip_dispatcher()) << c10::toString(key);
  }
  {
    const c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::ADInplaceOrView);
    EXPECT_FALSE(fast::can_skip_dispatcher());
  }
  {
    const c10::InferenceMode inference;
    EXPECT_FALSE(fast::can_skip_dispatcher());
  }
  EXPECT_TRUE(fast::can_skip_dispatcher());
}

TEST(FastPath, IsOffForTensorsThatAreMoreThanMemory) {
  const at::Tensor complex = ramp({4}, at::kComplexFloat);
  EXPECT_TRUE(fast::plain(complex));
  EXPECT_TRUE(fast::plain(at::empty({2}, at::TensorOptions(at::kMeta))));
  EXPECT_TRUE(fast::plain(ramp({4}).set_requires_grad(true)));
  EXPECT_FALSE(fast::plain(complex.conj()));
  EXPECT_FALSE(fast::plain(at::imag(complex.conj())));  // negative
  EXPECT_FALSE(fast::plain(ramp({4}).to_sparse()));
  EXPECT_FALSE(fast::plain(at::quantize_per_tensor(ramp({4}), 1, 0, at::kQInt8)));
  EXPECT_FALSE(fast::plain(at::Tensor()));
}

// Conjugate and negative views, quantised tensors: no dispatcher of ours, the values of libtorch.
TEST(FastPath, OtherTensorsGoThroughTheDispatcher) {
  const at::NoGradGuard no_grad;
  TensorDict td = dict({4});
  const at::Tensor complex = at::complex(ramp({4}), ramp({4}) + 1);
  td.set({"conj"}, complex.conj());
  td.set({"neg"}, at::imag(complex.conj()));
  td.set({"q"}, at::quantize_per_tensor(ramp({4}), 1, 0, at::kQInt8));
  const TensorDict row = td.index({IndexItem::at(2)});
  EXPECT_EQ(at::real(row.get({"conj"}).resolve_conj()).item<float>(), 2);
  EXPECT_EQ(at::imag(row.get({"conj"}).resolve_conj()).item<float>(), -3);
  EXPECT_EQ(row.get({"neg"}).item<float>(), -3);
  EXPECT_EQ(row.get({"q"}).dequantize().item<float>(), 2);
  const TensorDict picked = td.index({IndexItem::range(1, 4, 2)}).clone();
  EXPECT_EQ(numbers(picked.get({"neg"})), (std::vector<double>{-2, -4}));
  EXPECT_EQ(numbers(picked.get({"q"}).dequantize()), (std::vector<double>{1, 3}));
  const TensorDict both = td::stack(std::vector<TensorDict>{row, row}, 0);
  EXPECT_EQ(numbers(both.get({"neg"})), (std::vector<double>{-3, -3}));
}

}  // namespace
}  // namespace td
