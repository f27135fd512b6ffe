#include "core/nn/mapped.h"

#include "core/base/error.h"

#include <ATen/ATen.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/DynamicLayer.h>

namespace td {

namespace functorch = at::functorch;

MappedLevel::MappedLevel(std::int64_t size)
    : size_(size),
      level_(functorch::initAndPushDynamicLayer(functorch::TransformType::Vmap, size,
                                                functorch::RandomnessType::Different)) {}

MappedLevel::~MappedLevel() { functorch::popDynamicLayerAndDeleteMetadata(); }

at::Tensor MappedLevel::wrap(const at::Tensor& tensor) const {
  return functorch::addBatchDim(tensor, 0, level_);
}

at::Tensor MappedLevel::unwrap(const at::Tensor& tensor) const {
  const auto* batched = functorch::maybeGetBatchedImpl(tensor);
  if (batched != nullptr && batched->level() == level_)
    return batched->value().movedim(batched->bdim(), 0);
  std::vector<std::int64_t> sizes = tensor.sizes().vec();
  sizes.insert(sizes.begin(), size_);
  return tensor.expand(sizes);
}

}  // namespace td
