// core/tree/sub_index.h: the index of a sub-tensordict: its own, whatever becomes of the tensors it was given
// with, and one alone, whatever it is a part of.
#pragma once

#include "core/tensor/index.h"

#include <optional>
#include <vector>

namespace td {

// The same index without an ellipsis, with copies of its tensors: positions in place of masks, numbers in
// place of tensors without dimensions. It must fit the batch size.
std::vector<IndexItem> own_index(c10::ArrayRef<IndexItem> items, SizesView batch);

// One index that picks what `second` picks of the part that `first` picks. Both are own. Nothing for a
// batch size with dimensions of unknown size (-1, of a lazy stack whose elements differ).
std::optional<std::vector<IndexItem>> compose(c10::ArrayRef<IndexItem> first,
                                              c10::ArrayRef<IndexItem> second, SizesView batch);

}  // namespace td
