// td/leaf_op.h: an operation on leaves alone, made of a function.
#pragma once

#include "td/batch_op.h"

#include <utility>

namespace td {

// `F` is called with each leaf and gives the one of the result.
template <class F>
class LeafOp final : public BatchOp {
 public:
  explicit LeafOp(F f) : f_(std::move(f)) {}
  Sizes batch(SizesView before) const override { return Sizes(before.begin(), before.end()); }
  at::Tensor leaf(const at::Tensor& before) const override { return f_(before); }
  bool keeps_batch() const override { return true; }

 private:
  F f_;
};

}  // namespace td
