// Operators by name: one call for all leaves where libtorch has one, and trees of every kind.
#include "core/math/call.h"
#include "trees.h"

namespace td {
namespace {

using namespace test;
using Kind = CallArgument::Kind;

CallArgument number(double value) { return CallArgument::of(Kind::real, value); }

TensorDict floats() {
  TensorDict td = dict({4});
  td.set({"a"}, ramp({4, 3}));
  td.set({"n", "b"}, ramp({4}) + 1);
  return td;
}

// One call for all leaves is only taken by itself on a GPU; here it is asked for.
TEST(Call, OneCallForAllLeavesGivesTheSame) {
  const at::NoGradGuard no_grad;
  CallOptions fused;
  fused.fuse = Fuse::always;
  const TensorDict td = floats();
  const std::vector<std::pair<const char*, std::vector<CallArgument>>> calls = {
      {"aten::sqrt", {}},
      {"aten::exp", {}},
      {"aten::add", {number(2)}},
      {"aten::mul", {number(0.5)}},
      {"aten::sub", {CallArgument::of(td)}},
      {"aten::add", {CallArgument::of(td), CallArgument::of(Kind::real, 3.0, "alpha")}},
      {"aten::div", {CallArgument::of(td)}},
      {"aten::maximum", {CallArgument::of(td)}},
      {"aten::addcmul", {CallArgument::of(td), CallArgument::of(td)}},
  };
  for (const auto& [name, arguments] : calls) {
    const TensorDict one = call(td, name, arguments, fused), many = call(td, name, arguments);
    EXPECT_EQ(content(one.get({"n", "b"})), content(many.get({"n", "b"}))) << name;
    EXPECT_EQ(content(one.get({"a"})), content(many.get({"a"}))) << name;
  }
}

TEST(Call, OneCallForAllLeavesInPlace) {
  const at::NoGradGuard no_grad;
  CallOptions fused;
  fused.fuse = Fuse::always;
  const TensorDict td = floats();
  const at::Tensor a = td.get({"a"});
  call_inplace(td, "aten::mul_", {number(2)}, fused);
  EXPECT_EQ(numbers(a)[11], 22);
}

TEST(Call, OneCallForAllLeavesIsNotAlwaysToBeHad) {
  const at::NoGradGuard no_grad;
  CallOptions fused;
  fused.fuse = Fuse::always;
  const TensorDict td = floats();
  const CallArgument twice = CallArgument::of(Kind::integer, 2, "alpha");
  expect_error(Code::unsupported, "aten::cumsum is not available",
               [&] { call(td, "aten::cumsum", {CallArgument::of(Kind::integer, 0)}, fused); });
  expect_error(Code::unsupported, "aten::add is not available", [&] {
    call(td, "aten::add", {number(1), twice}, fused);
  });
}

TEST(Call, LazyStacksAreRead) {
  const at::NoGradGuard no_grad;
  const TensorDict td(lazy_stack({floats().node(), floats().node()}, 0));
  const TensorDict sums = call(td, "aten::sum", {CallArgument::of(Kind::integer, 1, "dim")},
                               CallOptions{Sizes{2}, Fuse::on_device});
  EXPECT_EQ(list(sums.get({"a"}).sizes()), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(numbers(sums.get({"n", "b"})), (std::vector<double>{10, 10}));
}

TEST(Call, TensorsOfTheElementsOfALazyStackAreWritten) {
  const at::NoGradGuard no_grad;
  const TensorDict first = floats();
  const TensorDict td(lazy_stack({first.node(), floats().node()}, 0));
  call_inplace(td, "aten::add_", {number(1)});
  EXPECT_EQ(numbers(first.get({"n", "b"})), (std::vector<double>{2, 3, 4, 5}));
  call_inplace(td, "aten::sub_", {CallArgument::of(call(td, "aten::clone"))});
  EXPECT_EQ(numbers(first.get({"n", "b"})), (std::vector<double>{0, 0, 0, 0}));
}

TEST(Call, ADeepTree) {
  const at::NoGradGuard no_grad;
  const TensorDict td = call(chain(10000, {2}), "aten::neg");
  EXPECT_EQ(numbers(td.get(Path(std::vector<std::string_view>(10000, "n")))),
            (std::vector<double>{-1, -1}));
}

TEST(Call, ADictionaryForgetsItsDeviceWhenTheOperatorMoves) {
  const at::NoGradGuard no_grad;
  TensorDict td({2}, c10::Device(c10::kCPU));
  td.set({"a"}, ramp({2}));
  const TensorDict moved =
      call(td, "aten::to", {CallArgument::of(Kind::device, c10::Device(c10::kMeta), "device")});
  EXPECT_FALSE(moved.device().has_value());
  EXPECT_TRUE(call(td, "aten::neg").device().has_value());
}

}  // namespace
}  // namespace td
