// core/tensor/tensor_index.h: the same index rules for one tensor.
#pragma once

#include "core/tensor/index.h"

#include <forward_list>

namespace td {

at::Tensor tensor_index(const at::Tensor& tensor, c10::ArrayRef<IndexItem> items);
void tensor_set_at(const at::Tensor& tensor, c10::ArrayRef<IndexItem> items,
                   const at::Tensor& value);

// The value of an indexed write without leading dimensions of size 1 beyond the `dims` dimensions of the
// part, as in libtorch.
at::Tensor without_leading_ones(at::Tensor source, std::size_t dims);

// Keeps such values for writes that run later.
class FittedValues {
 public:
  // Returns the source, or a view kept here.
  const at::Tensor& fit(const at::Tensor& source, std::size_t dims) {
    if (source.dim() <= static_cast<std::int64_t>(dims)) return source;
    kept_.push_front(without_leading_ones(source, dims));
    return kept_.front();
  }

 private:
  std::forward_list<at::Tensor> kept_;
};

}  // namespace td
