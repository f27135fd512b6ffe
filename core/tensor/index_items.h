// core/tensor/index_items.h: what the items of an index ask of a batch. For the core's own sources.
#pragma once

#include "core/tensor/index.h"

#include <algorithm>

namespace td {

inline bool is_mask(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBool || tensor.scalar_type() == at::kByte;
}

// How many dimensions of the batch an item uses up.
inline std::int64_t dims_used(const IndexItem& item) {
  switch (item.kind) {
    case IndexKind::integer:
    case IndexKind::slice: return 1;
    case IndexKind::tensor:
      if (!item.tensor.defined())
        fail(Code::null_argument, "an index item of kind tensor has no tensor");
      return is_mask(item.tensor) ? item.tensor.dim() : 1;
    default: return 0;
  }
}

// A tensor of a caller as an index: copied to the CPU, since another thread may write into it after its positions
// were checked. What can be no index stays as it is; the plan refuses it.
at::Tensor copied_index(const at::Tensor& tensor);

// ":", which changes nothing.
inline bool is_bare(const IndexItem& item) {
  return item.kind == IndexKind::slice && !item.start && !item.stop && !item.step;
}

// Whether an index holds nothing but `...` and `:`.
inline bool is_whole(c10::ArrayRef<IndexItem> items) {
  return std::all_of(items.begin(), items.end(), [](const IndexItem& item) {
    return item.kind == IndexKind::ellipsis || is_bare(item);
  });
}

}  // namespace td
