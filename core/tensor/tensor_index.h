// core/tensor/tensor_index.h: the same index rules for one tensor, over all its dimensions.
#pragma once

#include "core/tensor/index.h"

namespace td {

at::Tensor tensor_index(const at::Tensor& tensor, c10::ArrayRef<IndexItem> items);
void tensor_set_at(const at::Tensor& tensor, c10::ArrayRef<IndexItem> items,
                   const at::Tensor& value);

}  // namespace td
