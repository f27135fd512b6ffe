// core/tree/leaf_op.h: an operation on leaves, made of a function.
#pragma once

#include "core/tree/nested_tensor.h"

#include <utility>

namespace td {

// `F` maps a leaf to the result's leaf.
template <class F>
class LeafOp final : public BatchOp {
 public:
  // `each_element`: may also receive the values of a nested tensor, in one dimension.
  explicit LeafOp(F f, bool each_element = false) : f_(std::move(f)), each_element_(each_element) {}
  Sizes batch(SizesView before) const override { return Sizes(before.begin(), before.end()); }
  at::Tensor leaf(const at::Tensor& before) const override { return f_(before); }
  bool keeps_batch() const override { return true; }
  Value nested_tensor(const NestedTensorNode& node) const override {
    return each_element_ ? each_value(node, *this, f_) : BatchOp::nested_tensor(node);
  }

 private:
  F f_;
  bool each_element_;
};

}  // namespace td
