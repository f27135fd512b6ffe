// core/tree/kept.h: the tensors that a node keeps alive, whether read or not.
#pragma once

#include "core/tree/nested_tensor.h"

namespace td {

// Calls `f(const at::Tensor&)` for the tensors that the node alone holds. Leaves that views share are kept alive by
// these, too. Makes no leaf of a view.
template <class F>
void for_each_kept(const Node& node, F&& f) {
  const DenseNode* dense = as_dense(&node);
  if (dense == nullptr) return for_each_tensor(node, f);
  if (dense->row().use_count() == 1) dense->row()->each_kept(f);
}

}  // namespace td
