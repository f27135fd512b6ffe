// core/tree/sub_index.h: the index of a sub-tensordict, independent of the caller's tensors, and composed for
// nested ones.
#pragma once

#include "core/tensor/index.h"

#include <optional>
#include <vector>

namespace td {

// Copies an index: without ellipsis, with positions instead of masks and integers instead of 0-dimensional
// tensors. It must fit the batch size.
std::vector<IndexItem> own_index(c10::ArrayRef<IndexItem> items, SizesView batch);

// The index that selects `second` from the part that `first` selects; both come from own_index(). nullopt if
// the batch size has unknown dimensions (-1, of an uneven lazy stack).
std::optional<std::vector<IndexItem>> compose(c10::ArrayRef<IndexItem> first,
                                              c10::ArrayRef<IndexItem> second, SizesView batch);

}  // namespace td
