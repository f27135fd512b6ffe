// Memory of others as tensors.
#include "trees.h"

#include "core/tensor/foreign.h"

#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace td {
namespace {

using namespace test;

void expect_alike(const at::Tensor& ours, const at::Tensor& theirs) {
  EXPECT_EQ(ours.sizes(), theirs.sizes());
  EXPECT_EQ(ours.strides(), theirs.strides());
  EXPECT_EQ(ours.scalar_type(), theirs.scalar_type());
  EXPECT_EQ(ours.key_set(), theirs.key_set());
  EXPECT_EQ(ours.data_ptr(), theirs.data_ptr());
  EXPECT_EQ(ours.storage().nbytes(), theirs.storage().nbytes());
  EXPECT_EQ(ours.storage().resizable(), theirs.storage().resizable());
  EXPECT_EQ(ours.is_contiguous(), theirs.is_contiguous());
  EXPECT_EQ(ours.is_non_overlapping_and_dense(), theirs.is_non_overlapping_and_dense());
  EXPECT_EQ(ours.is_inference(), theirs.is_inference());
  EXPECT_EQ(ours._version(), theirs._version());
}

TEST(Foreign, MemoryBecomesWhatFromBlobMakes) {
  alignas(16) char memory[4096] = {};
  const std::pair<Sizes, std::optional<Sizes>> shapes[] = {
      {{}, std::nullopt},    {{7}, std::nullopt},     {{3, 1, 5}, std::nullopt},
      {{3, 4}, Sizes{1, 3}}, {{3, 4}, Sizes{0, 1}},   {{2, 3}, Sizes{10, 2}},
      {{5}, Sizes{0}},       {{1, 1}, Sizes{77, 99}}, {{2, 2, 2}, Sizes{4, 2, 1}},
  };
  for (const c10::ScalarType dtype : {at::kFloat, at::kLong, at::kBool, at::kComplexDouble}) {
    for (const auto& [sizes, strides] : shapes) {
      const auto options = at::TensorOptions(dtype);
      const at::Tensor theirs = strides ? at::from_blob(memory, sizes, *strides, options)
                                        : at::from_blob(memory, sizes, options);
      const std::optional<SizesView> given =
          strides ? std::optional<SizesView>(*strides) : std::nullopt;
      expect_alike(from_memory(memory, dtype, sizes, given, at::kCPU, nullptr), theirs);
    }
  }
}

TEST(Foreign, TheOwnerIsLetGoWithTheLastTensor) {
  const auto memory = std::make_shared<std::array<float, 6>>();
  at::Tensor tensor =
      from_memory(memory->data(), at::kFloat, {2, 3}, std::nullopt, at::kCPU, memory);
  at::Tensor view = tensor.select(0, 1);
  EXPECT_EQ(memory.use_count(), 2);
  tensor.fill_(4);
  EXPECT_EQ((*memory)[5], 4);
  tensor.reset();
  EXPECT_EQ(memory.use_count(), 2);
  view.reset();
  EXPECT_EQ(memory.use_count(), 1);
  // Nothing is kept for a tensor without elements, or for one that is refused.
  from_memory(memory->data(), at::kFloat, {0, 3}, std::nullopt, at::kCPU, memory);
  EXPECT_THROW(from_memory(memory->data(), at::kFloat, {2, -3}, std::nullopt, at::kCPU, memory),
               Error);
  EXPECT_THROW(from_memory(memory->data(), at::kFloat, {2}, Sizes{INT64_MAX / 2}, at::kCPU, memory),
               Error);
  EXPECT_EQ(memory.use_count(), 1);
}

}  // namespace
}  // namespace td
