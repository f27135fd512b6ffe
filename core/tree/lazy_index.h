// core/tree/lazy_index.h: splits an index on a lazy stack into the choice of elements and an index for each
// of them.
#pragma once

#include "core/tree/kinds.h"

namespace td {

struct LazyIndex {
  // `dims`: dimensions that an ellipsis may cover, those of the indexed dictionary.
  LazyIndex(c10::ArrayRef<IndexItem> items, std::size_t dims, const LazyNode& lazy);

  // False if the choice of elements depends on the rest: a mask over several dimensions, or index tensors
  // both for the stack and for other dimensions.
  bool separable = true;

  std::vector<IndexItem> rest;      // for each element
  bool rest_is_whole = true;        // it changes nothing
  std::vector<std::int64_t> picks;  // elements, in the order of the result
  Sizes shape;                      // of the picks; empty for a single element
  std::int64_t result_dim = 0;      // position of `shape` in the result
};

// dictionary[items] for any kind of node, read: a sub-tensordict yields the part's content.
NodePtr read_at(const NodePtr& node, c10::ArrayRef<IndexItem> items);

// The same for a lazy stack below a dictionary of `dims` dimensions.
NodePtr read_lazy(const LazyNode& lazy, c10::ArrayRef<IndexItem> items, std::size_t dims);

}  // namespace td
