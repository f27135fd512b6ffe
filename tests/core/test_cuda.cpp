// On a GPU: what random operations do there is what they do on the CPU. Without one each test is skipped.
#include "random_operation.h"

#include "core/consolidated/consolidate.h"
#include "core/math/call.h"
#include "core/math/gradient.h"
#include "core/math/math.h"
#include "core/math/reduce.h"
#include "core/memmap/memmap.h"
#include "core/nn/optimizer.h"
#include "core/nn/script.h"
#include "core/shape/convert.h"
#include "core/shape/join.h"
#include "core/tensor/device.h"

#include <gtest/gtest.h>

#include <map>

namespace td {
namespace {

using namespace test;

const c10::Device gpu(at::kCUDA);

#define NEEDS_GPU() \
  if (!device_available(at::kCUDA)) GTEST_SKIP() << "libtorch sees no CUDA device"

std::map<std::string, at::Tensor> leaves_of(const TensorDict& td) {
  std::map<std::string, at::Tensor> leaves;
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    if (!value.is_node()) leaves.emplace(show_path(path), value.tensor());
  });
  return leaves;
}

bool close(const at::Tensor& on_gpu, const at::Tensor& on_host) {
  if (on_gpu.sizes() != on_host.sizes() || on_gpu.scalar_type() != on_host.scalar_type())
    return false;
  const at::Tensor here = on_gpu.to(at::kCPU);
  if (content(here) == content(on_host)) return true;
  const c10::ScalarType dtype = on_host.scalar_type();
  if (!c10::isFloatingType(dtype) && !c10::isComplexType(dtype)) return false;
  const c10::ScalarType wide =
      c10::isComplexType(dtype) ? at::kComplexDouble : c10::ScalarType(at::kDouble);
  return at::allclose(here.to(wide), on_host.to(wide), 1e-2, 1e-2, /*equal_nan=*/true);
}

void expect_close(const TensorDict& on_gpu, const TensorDict& on_host, const std::string& what) {
  EXPECT_EQ(list(on_gpu.batch_size()), list(on_host.batch_size())) << what;
  const auto there = leaves_of(on_gpu), here = leaves_of(on_host);
  ASSERT_EQ(there.size(), here.size()) << what;
  for (const auto& [name, tensor] : here) {
    const auto found = there.find(name);
    ASSERT_NE(found, there.end()) << what << ": " << name;
    EXPECT_TRUE(close(found->second, tensor)) << what << ": " << name << "\n"
                                              << found->second << "\n"
                                              << tensor;
  }
}

// {"k0": (4,1), "k1": (4,2), …, "n": {…}}, without zeros.
TensorDict small_leaves() {
  TensorDict td = dict({4});
  for (std::int64_t i = 0; i < 12; ++i) {
    const std::string name = "k" + std::to_string(i);
    const at::Tensor leaf = at::rand({4, i + 1}) + 0.5;
    i % 3 == 0 ? td.set({"n", name}, leaf) : td.set({name}, leaf);
  }
  return td;
}

// What became of the call; "" for none that failed.
std::string attempt(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace

// In parts, which may run side by side. In every other one gradients are not recorded: operators then take all leaves at once.
class CudaRandom : public testing::TestWithParam<int> {};

TEST_P(CudaRandom, OperationsGiveWhatTheCpuGives) {
  NEEDS_GPU();
  constexpr std::uint64_t seeds = 500;
  const at::AutoGradMode recorded(GetParam() % 2 == 0);
  int both = 0, only_here = 0;
  std::map<std::string, int> refused;
  const std::uint64_t first = static_cast<std::uint64_t>(GetParam()) * seeds;
  for (std::uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) {
    Random random(seed);
    const Operation operation = random_operation(random);
    Trees there, here;
    for (const TensorDict& source : operation.sources) {
      there.push_back(source.to(gpu));
      here.push_back(source.to(gpu).to(at::kCPU));  // no more overlap than there
    }
    Trees made_there, made_here;
    const std::string failed = attempt([&] { made_here = operation.on_trees(here); });
    const std::string failed_there = attempt([&] { made_there = operation.on_trees(there); });
    const std::string what = operation.name + ", seed " + std::to_string(seed);
    if (failed.empty() && !failed_there.empty()) {
      ++only_here;
      if (++refused[operation.name] <= 2) std::cout << what << ": " << failed_there << "\n";
      continue;
    }
    if (!failed.empty()) continue;
    ++both;
    ASSERT_EQ(made_there.size(), made_here.size()) << what;
    for (std::size_t i = 0; i < made_here.size(); ++i)
      expect_close(made_there[i], made_here[i], what);
    for (std::size_t i = 0; i < here.size(); ++i)
      expect_close(there[i], here[i], what + ", source");
  }
  std::cout << both << " compared, " << only_here << " only on the CPU\n";
  EXPECT_LT(only_here * 10, both) << "libtorch has fewer kernels there, but not that few";
}

INSTANTIATE_TEST_SUITE_P(Seeds, CudaRandom, testing::Range(0, 8));

TEST(Cuda, MovesInOneCopy) {
  NEEDS_GPU();
  const TensorDict packed = consolidate(sample());
  const TensorDict there = packed.to(gpu);
  EXPECT_TRUE(there.node()->locked());
  EXPECT_TRUE(there.get({"a"}).storage().is_alias_of(there.get({"n", "b"}).storage()));
  expect_close(there, packed, "there");
  const TensorDict back = there.to(at::kCPU);
  EXPECT_TRUE(back.get({"a"}).storage().is_alias_of(back.get({"n", "b"}).storage()));
  expect_close(back, packed, "back");
}

TEST(Cuda, PinnedMemory) {
  NEEDS_GPU();
  ConvertOptions options;
  options.pin = true;
  const TensorDict pinned = convert(sample(), options);
  EXPECT_TRUE(pinned.get({"a"}).is_pinned());
  options.pin = false;
  options.device = gpu;
  options.non_blocking = true;
  const TensorDict there = convert(pinned, options);
  EXPECT_TRUE(there.get({"n", "b"}).is_cuda());
  expect_close(there, sample(), "there");
  ConsolidateOptions packing;
  packing.pinned = true;
  EXPECT_TRUE(consolidate(sample(), packing).get({"a"}).is_pinned());
}

TEST(Cuda, AStreamIsRecorded) {
  NEEDS_GPU();
  const TensorDict there = sample().to(gpu);
  record_stream(there, *there.device(), 0);
  expect_close(there, sample(), "recorded");
}

TEST(Cuda, SavesFromThere) {
  NEEDS_GPU();
  const TempFolder folder;
  const TensorDict there = sample().to(gpu);
  memmap(there, folder("saved"));
  expect_close(load_memmap(folder("saved")), sample(), "loaded");
}

TEST(Cuda, GradientsComeBack) {
  NEEDS_GPU();
  TensorDict td = dict({4});
  td.set({"a"}, at::ones({4, 3}, gpu).requires_grad_());
  td.set({"n", "b"}, at::ones({4}, gpu).requires_grad_());
  const at::Tensor a = td.get({"a"}), b = td.get({"n", "b"});
  const TensorDict twice = binary(td, Binary::mul_op, c10::Scalar(2));
  (twice.get({"a"}).sum() + twice.get({"n", "b"}).sum()).backward();
  EXPECT_EQ(numbers(a.grad()), std::vector<double>(12, 2));
  EXPECT_EQ(numbers(b.grad()), std::vector<double>(4, 2));
}

// Operators that take all leaves at once there, against a call for each leaf and against the CPU.
TEST(Cuda, OneCallForAllLeaves) {
  NEEDS_GPU();
  using Kind = CallArgument::Kind;
  const at::NoGradGuard no_grad;
  CallOptions each;
  each.fuse = Fuse::never;
  const TensorDict here = small_leaves(), there = here.to(gpu);
  const auto arguments = [](const TensorDict& td) {
    const auto number = [](double value) { return CallArgument::of(Kind::real, value); };
    const CallArgument alpha = CallArgument::of(Kind::real, 3.0, "alpha");
    return std::vector<std::pair<std::string, std::vector<CallArgument>>>{
        {"sqrt", {}},
        {"exp", {}},
        {"neg", {}},
        {"add", {number(2)}},
        {"mul", {number(0.5)}},
        {"div", {number(3)}},
        {"sub", {CallArgument::of(td)}},
        {"add", {CallArgument::of(td), alpha}},
        {"div", {CallArgument::of(td)}},
        {"addcmul", {CallArgument::of(td), CallArgument::of(td)}},
        {"addcdiv", {CallArgument::of(td), CallArgument::of(td)}}};
  };
  const auto calls = arguments(here), calls_there = arguments(there);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string name = "aten::" + calls[i].first;
    const TensorDict one = call(there, name, calls_there[i].second);
    expect_close(one, call(here, name, calls[i].second), name);
    expect_close(one, call(there, name, calls_there[i].second, each).to(at::kCPU), name);
    const TensorDict written = there.clone(), written_here = here.clone();
    call_inplace(written, name + "_", calls_there[i].second);
    call_inplace(written_here, name + "_", calls[i].second);
    expect_close(written, written_here, name + "_");
  }
  expect_close(call(there, "aten::maximum", {CallArgument::of(there)}), here, "maximum");
}

// Small leaves side by side there, against a call for each: the bits are the same.
TEST(Cuda, SmallLeavesTogether) {
  NEEDS_GPU();
  const TensorDict there = small_leaves().to(gpu);
  const auto both = [&](const std::function<TensorDict()>& f, const std::string& what) {
    TensorDict together, alone;
    {
      const at::NoGradGuard no_grad;
      together = f();
    }
    alone = f();
    const auto one = leaves_of(together), other = leaves_of(alone);
    ASSERT_EQ(one.size(), other.size());
    for (const auto& [name, leaf] : one) EXPECT_TRUE(leaf.equal(other.at(name))) << what << name;
    EXPECT_GT(together.get({"k1"}).storage().nbytes(), together.get({"k1"}).nbytes()) << what;
    EXPECT_EQ(alone.get({"k1"}).storage().nbytes(), alone.get({"k1"}).nbytes()) << what;
  };
  both([&] { return binary(there, Binary::add_op, c10::Scalar(1)); }, "add ");
  both([&] { return binary(there, Binary::div_op, c10::Scalar(3)); }, "div ");
  both([&] { return binary(there, Binary::mul_op, there); }, "mul ");
  both([&] { return binary(there, Binary::gt_op, c10::Scalar(0.8)); }, "gt ");
  both([&] { return unary(there, Unary::sqrt_op); }, "sqrt ");
  both([&] { return ternary(there, Ternary::clamp_op, c10::Scalar(0.7), c10::Scalar(1.2)); },
       "clamp ");
  const TensorDict written = there.clone(), other = there.clone();
  binary_(other, Binary::add_op, c10::Scalar(1));
  const at::NoGradGuard no_grad;
  binary_(written, Binary::add_op, c10::Scalar(1));
  for (const auto& [name, leaf] : leaves_of(written))
    EXPECT_TRUE(leaf.equal(leaves_of(other).at(name))) << name;
  EXPECT_TRUE(call(there, "aten::clamp", {CallArgument::of(CallArgument::Kind::real, 0.7)})
                  .get({"k1"})
                  .is_cuda());
}

TEST(Cuda, ViewsAreMadeWhenTheyAreRead) {
  NEEDS_GPU();
  const at::NoGradGuard no_grad;
  const TensorDict here = sample(), there = here.to(gpu);
  const TensorDict row = there.index(IndexItem::at(2));
  expect_close(row, here.index(IndexItem::at(2)), "index");
  EXPECT_TRUE(row.get({"a"}).is_alias_of(there.get({"a"})));
  row.get({"n", "b"}).zero_();
  EXPECT_EQ(numbers(there.get({"n", "b"})[2]), std::vector<double>(3, 0));
  expect_close(there.permute(SizesView{1, 0}).unbind(0)[1],
               there.to(at::kCPU).permute(SizesView{1, 0}).unbind(0)[1], "unbind");
  expect_close(there.index(IndexItem::range(1, 3)).to(at::kCPU),
               there.to(at::kCPU).index(IndexItem::range(1, 3)), "moved");
}

TEST(Cuda, StepsOfAnOptimizer) {
  NEEDS_GPU();
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::sgd}) {
    OptimizerOptions options(kind);
    options.lr = 0.1;
    if (kind == OptimizerKind::sgd) options.momentum = 0.9;
    TensorDict here = dict({}), there = dict({});
    std::vector<at::Tensor> params, params_there;
    for (std::int64_t i = 0; i < 10; ++i) {
      const std::string name = "p" + std::to_string(i);
      const at::Tensor values = at::randn({1 + i * 7, 3});
      params.push_back(values.clone().requires_grad_());
      params_there.push_back(values.to(gpu).requires_grad_());
      here.set({name}, params.back());
      there.set({name}, params_there.back());
    }
    Optimizer own(here, options), own_there(there, options);
    for (int step = 0; step < 4; ++step) {
      for (std::size_t i = 0; i < params.size(); ++i) {
        if (step == 2 && i == 3) continue;
        params[i].mutable_grad() = at::randn(params[i].sizes());
        params_there[i].mutable_grad() = params[i].grad().to(gpu);
      }
      own.step();
      own_there.step();
      for (std::size_t i = 0; i < params.size(); ++i)
        EXPECT_TRUE(close(params_there[i].detach(), params[i].detach()))
            << i << " in step " << step;
      if (step == 1) own_there.load_state(own_there.state().to(at::kCPU));
    }
    expect_close(own_there.state(), own.state(), "state");
  }
}

TEST(Cuda, AModuleRunsThere) {
  NEEDS_GPU();
  const std::string folder = TD_TEST_DATA "/../golden2/data/modules/";
  ScriptOptions options;
  options.device = gpu;
  const ModulePtr module = load_script(folder + "mlp.pt", options);
  const TensorDict td = load_memmap(folder + "mlp_data");
  expect_close(module->call(td.to(gpu)), load_script(folder + "mlp.pt")->call(td), "module");
}

TEST(Cuda, MixedDevicesAreRefusedWithTheirNames) {
  NEEDS_GPU();
  const TensorDict there = sample().to(gpu);
  expect_error(Code::device, "cuda:0", [&] { binary(there, Binary::add_op, Operand(sample())); });
  TensorDict free = dict({4});
  free.set({"a"}, at::ones({4}));
  free.set({"b"}, at::ones({4}, gpu));
  EXPECT_EQ(numbers(unary(free, Unary::neg_op).get({"b"})), std::vector<double>(4, -1));
}

}  // namespace td
