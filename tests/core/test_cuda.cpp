// On a GPU: what random operations do there is what they do on the CPU. Without one each test is skipped.
#include "random_operation.h"

#include "core/consolidated/consolidate.h"
#include "core/math/gradient.h"
#include "core/math/math.h"
#include "core/math/reduce.h"
#include "core/memmap/memmap.h"
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

TEST(Cuda, RandomOperationsGiveWhatTheCpuGives) {
  NEEDS_GPU();
  int both = 0, only_here = 0;
  std::map<std::string, int> refused;
  for (std::uint64_t seed = 0; seed < 4000 && !HasFailure(); ++seed) {
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
  td.set({"a"}, at::ones({4, 3}, at::TensorOptions().device(gpu).requires_grad(true)));
  td.set({"n", "b"}, at::ones({4}, at::TensorOptions().device(gpu).requires_grad(true)));
  const at::Tensor a = td.get({"a"}), b = td.get({"n", "b"});
  const TensorDict twice = binary(td, Binary::mul_op, c10::Scalar(2));
  (twice.get({"a"}).sum() + twice.get({"n", "b"}).sum()).backward();
  EXPECT_EQ(numbers(a.grad()), std::vector<double>(12, 2));
  EXPECT_EQ(numbers(b.grad()), std::vector<double>(4, 2));
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
