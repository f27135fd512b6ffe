// core/tree/lazy_index.h: an index on a lazy stack, taken apart into what picks elements and what is left for
// each of them.
#pragma once

#include "core/tree/kinds.h"

namespace td {

struct LazyIndex {
  // `dims`: how many dimensions the index speaks of, those of the dictionary that it was given to; an
  // ellipsis stands for what is left of them.
  LazyIndex(c10::ArrayRef<IndexItem> items, std::size_t dims, const LazyNode& lazy);

  // False when picking elements and the rest are not independent of each other: a mask over several
  // dimensions, or index tensors for the stack and for other dimensions.
  bool separable = true;

  std::vector<IndexItem> rest;      // for each element
  bool rest_is_whole = true;        // and it changes nothing
  std::vector<std::int64_t> picks;  // elements, in the order of the result
  Sizes shape;                      // of the picks; none for a single element
  std::int64_t result_dim = 0;      // where the shape stands in the result
};

// dictionary[items] for a node of any kind, read: a sub-tensordict gives the part as it reads, not another
// sub-tensordict.
NodePtr read_at(const NodePtr& node, c10::ArrayRef<IndexItem> items);

// The same for a lazy stack below a dictionary of `dims` dimensions.
NodePtr read_lazy(const LazyNode& lazy, c10::ArrayRef<IndexItem> items, std::size_t dims);

}  // namespace td
