// core/tensor/index_items.h: how the items of an index apply to a batch. Internal.
#pragma once

#include "core/tensor/index.h"

#include <algorithm>

namespace td {

inline bool is_mask(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBool || tensor.scalar_type() == at::kByte;
}

// The number of batch dimensions that an item consumes.
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

inline bool is_bare(const IndexItem& item) {
  return item.kind == IndexKind::slice && !item.start && !item.stop && !item.step;
}

// Whether the index is only `...` and `:`.
inline bool is_whole(c10::ArrayRef<IndexItem> items) {
  return std::all_of(items.begin(), items.end(), [](const IndexItem& item) {
    return item.kind == IndexKind::ellipsis || is_bare(item);
  });
}

}  // namespace td
