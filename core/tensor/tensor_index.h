// core/tensor/tensor_index.h: the same index rules for one tensor, over all its dimensions.
#pragma once

#include "core/tensor/index.h"

#include <forward_list>

namespace td {

at::Tensor tensor_index(const at::Tensor& tensor, c10::ArrayRef<IndexItem> items);
void tensor_set_at(const at::Tensor& tensor, c10::ArrayRef<IndexItem> items,
                   const at::Tensor& value);

// The value of an indexed write: without the dimensions of size 1 in front that a part of `dims` dimensions
// has no place for, as libtorch has it.
at::Tensor without_leading_ones(at::Tensor source, std::size_t dims);

// The same for many writes, which are done later.
class FittedValues {
 public:
  // The source itself, or what is kept here.
  const at::Tensor& fit(const at::Tensor& source, std::size_t dims) {
    if (source.dim() <= static_cast<std::int64_t>(dims)) return source;
    kept_.push_front(without_leading_ones(source, dims));
    return kept_.front();
  }

 private:
  std::forward_list<at::Tensor> kept_;
};

}  // namespace td
