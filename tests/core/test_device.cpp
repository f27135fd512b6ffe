// Devices. Where libtorch sees no CUDA the meta device stands in for what it can.
#include "trees.h"

#include "core/inspect/print.h"
#include "core/shape/join.h"
#include "core/tensor/device.h"
#include "core/tensor/foreign.h"

namespace td {
namespace {

using namespace test;

const c10::Device meta(at::kMeta), cpu(at::kCPU), cuda(at::kCUDA);

#define NEEDS_CUDA() \
  if (!device_available(at::kCUDA)) GTEST_SKIP() << "libtorch sees no CUDA device"

TEST(Device, NamesAreResolved) {
  EXPECT_EQ(resolve_device(cpu), cpu);
  EXPECT_EQ(resolve_device(c10::Device(at::kCPU, 0)), cpu) << "the CPU has no number";
  EXPECT_EQ(resolve_device(meta), meta);
#ifdef NDEBUG  // else libtorch's own assertion is quicker
  expect_error(Code::device, "only one", [] { resolve_device(c10::Device(at::kCPU, 1)); });
#endif
  expect_error(Code::device, "xla", [] { resolve_device(c10::Device(at::kXLA)); });
  expect_error(Code::device, "xla", [] { TensorDict(SizesView{}, c10::Device(at::kXLA)); });
  if (!device_available(at::kCUDA)) {
    expect_error(Code::device, "cuda", [] { sample().to(cuda); });
  }
}

TEST(Device, ToMovesEverythingAndKeepsTheSource) {
  TensorDict td = sample();
  const TensorDict moved = td.to(meta);
  EXPECT_EQ(moved.device(), std::optional(meta));
  EXPECT_EQ(moved.get_dict({"n"}).device(), std::optional(meta));
  EXPECT_TRUE(moved.get({"n", "b"}).is_meta());
  EXPECT_EQ(list(moved.get({"a"}).sizes()), (std::vector<std::int64_t>{4, 3, 2}));
  EXPECT_TRUE(moved.to(meta).is_same(moved));
  EXPECT_FALSE(td.device());
  EXPECT_TRUE(td.get({"a"}).is_cpu());
  const TensorDict placed = td.to(cpu);  // no device before: another dictionary, the same tensors
  EXPECT_FALSE(placed.is_same(td));
  EXPECT_TRUE(placed.get({"a"}).is_same(td.get({"a"})));
  EXPECT_EQ(placed.get_dict({"n"}).device(), std::optional(cpu));
}

TEST(Device, ResultsKeepIt) {
  const TensorDict td = sample().to(meta);
  const std::vector<TensorDict> two{td, td};
  for (const TensorDict& result :
       {td.index({IndexItem::at(0)}), td.view(SizesView{12}), td.unbind(0)[0], td.clone(),
        td.to(at::kDouble), td.contiguous(), td::stack(two, 0), td::cat(two, 0)}) {
    EXPECT_EQ(result.device(), std::optional(meta));
    EXPECT_EQ(result.get_dict({"n"}).device(), std::optional(meta));
    EXPECT_TRUE(result.get({"n", "b"}).is_meta());
  }
}

// Shapes, strides and sharing of leaves without memory, on both paths.
TEST(Device, MetaTakesTheSameOperations) {
  for (const bool grad : {false, true}) {
    const at::AutoGradMode mode(grad);
    TensorDict td = sample().to(meta);
    const TensorDict view = td.transpose(0, 1).index({IndexItem::range(1, 3)});
    EXPECT_EQ(list(view.get({"a"}).sizes()), (std::vector<std::int64_t>{2, 4, 2}));
    EXPECT_EQ(list(view.get({"a"}).strides()), (std::vector<std::int64_t>{2, 6, 1}));
    EXPECT_EQ(view.get({"a"}).storage_offset(), 2);
    const TensorDict picked = td.index({IndexItem::of(ints({3, 0}))});
    EXPECT_EQ(list(picked.get({"a"}).sizes()), (std::vector<std::int64_t>{2, 3, 2}));
    EXPECT_TRUE(picked.get({"a"}).is_meta());
    td.fill_at({IndexItem::at(0)}, at::zeros({}, at::TensorOptions(meta)));
    EXPECT_TRUE(td.equal(td.clone())) << "without memory only shapes and dtypes can be compared";
  }
}

TEST(Device, CudaThereAndBack) {
  NEEDS_CUDA();
  TensorDict td = sample();
  const TensorDict moved = td.to(cuda);
  EXPECT_TRUE(moved.device()->has_index());
  EXPECT_TRUE(moved.get({"a"}).is_cuda());
  const TensorDict back = moved.to(cpu);
  back.node()->set_device(std::nullopt);
  EXPECT_EQ(content(back.get({"a"})), content(td.get({"a"})));
  EXPECT_TRUE(moved.to(cuda).is_same(moved));
  EXPECT_EQ(numbers(moved.to(cpu, /*non_blocking=*/true).get({"n", "b"})).size(), 12U);
}

TEST(Device, CudaTakesEveryOperation) {
  NEEDS_CUDA();
  for (const bool grad : {false, true}) {
    const at::AutoGradMode mode(grad);
    const TensorDict host = sample();
    TensorDict td = host.to(cuda);
    const auto same = [](const TensorDict& on_gpu, const TensorDict& on_host) {
      EXPECT_TRUE(on_gpu.get({"a"}).is_cuda());
      EXPECT_EQ(list(on_gpu.batch_size()), list(on_host.batch_size()));
      EXPECT_EQ(numbers(on_gpu.get({"a"})), numbers(on_host.get({"a"})));
      EXPECT_EQ(numbers(on_gpu.get({"n", "b"})), numbers(on_host.get({"n", "b"})));
    };
    const Index picks[] = {{IndexItem::at(1)},
                           {IndexItem::range(1, {}, 2)},
                           {IndexItem::of(ints({3, -4}))},
                           {IndexItem::of(mask({1, 0, 1, 0}))},
                           {IndexItem::of(ints({0, 1})), IndexItem::of(ints({2, 1}))},
                           {IndexItem::of(ints({2}).to(cuda))}};
    for (const Index& index : picks) same(td.index(index), host.index(index));
    same(td.view(SizesView{12}), host.view(SizesView{12}));
    same(td.transpose(0, 1).reshape(SizesView{12}), host.transpose(0, 1).reshape(SizesView{12}));
    same(td.unbind(1)[2], host.unbind(1)[2]);
    same(td::stack(td.unbind(1), 1), host);
    same(td::cat(td.unbind(1), 0), td::cat(host.unbind(1), 0));
    same(td.clone(), host);
    TensorDict target = host.clone();
    target.set_at({IndexItem::at(0)}, host.index({IndexItem::at(2)}));
    td.set_at({IndexItem::at(0)}, host.index({IndexItem::at(2)}));  // a value on the host
    same(td, target);
    td.fill_at({IndexItem::of(mask({0, 1, 0, 0}))}, at::full({}, 5));
    target.fill_at({IndexItem::of(mask({0, 1, 0, 0}))}, at::full({}, 5));
    same(td, target);
    EXPECT_TRUE(td.get({"a"}).is_cuda());
  }
}

TEST(Device, CudaPrintsAsShared) {
  NEEDS_CUDA();
  EXPECT_NE(print(sample().to(cuda), print_options(PrintForm::detailed, 0, 0, false))
                .find("device=cuda:0, dtype=torch.float32, is_shared=True"),
            std::string::npos);
}

TEST(Device, CudaMemoryIsCopiedOut) {
  NEEDS_CUDA();
  std::vector<float> values(24);
  copy_out(sample().to(cuda).get({"a"}), values.data(), values.size() * sizeof(float));
  EXPECT_EQ(values[23], 23);
}

}  // namespace
}  // namespace td
