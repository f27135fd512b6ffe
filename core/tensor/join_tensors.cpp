#include "core/tensor/join_tensors.h"

#include "core/tensor/fast_path.h"
#include "core/tensor/rows.h"

#include <ATen/ATen.h>

namespace td {

at::Tensor join_tensors(Join kind, c10::ArrayRef<const at::Tensor*> tensors, std::int64_t dim,
                        SizesView sizes, bool fast) {
  const at::Tensor& first = *tensors[0];
  for (const at::Tensor* tensor : tensors) {
    fast = fast && fast::plain_cpu(*tensor) && tensor->dtype() == first.dtype() &&
           tensor->is_contiguous();
  }
  if (!fast) {
    std::vector<at::Tensor> list;
    for (const at::Tensor* tensor : tensors) list.push_back(*tensor);
    return kind == Join::stack ? at::stack(list, dim) : at::cat(list, dim);
  }
  at::Tensor result = fast::make_dense(sizes, first.scalar_type());
  if (result.numel() == 0) return result;
  std::size_t outer = 1;
  for (std::int64_t i = 0; i < dim; ++i) outer *= static_cast<std::size_t>(sizes[i]);
  c10::SmallVector<rows::Block, 8> blocks;
  for (const at::Tensor* tensor : tensors) {
    blocks.push_back({static_cast<const char*>(tensor->data_ptr()), tensor->nbytes() / outer});
  }
  rows::interleave(static_cast<char*>(result.data_ptr()), blocks, outer);
  return result;
}

}  // namespace td
