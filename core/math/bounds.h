// core/math/bounds.h: bounds of values that a dtype cannot hold, in which they would wrap around.
#pragma once

#include "core/math/math_kernels.h"

namespace td::math {

// The operands b and c of a kernel for one leaf, which outlive this. A scalar bound of integers beyond all that
// the dtype of the result holds becomes the last one that restricts nothing.
class FittingBounds {
 public:
  // Throws Code::dtype for any other bound that does not fit: no value of the dtype can meet it.
  FittingBounds(const Kernel& kernel, const at::Tensor& a, const at::Tensor& b,
                const at::Tensor& c);
  const at::Tensor& b() const noexcept { return own_b_.defined() ? own_b_ : b_; }
  const at::Tensor& c() const noexcept { return own_c_.defined() ? own_c_ : c_; }

 private:
  const at::Tensor &b_, &c_;
  at::Tensor own_b_, own_c_;
};

}  // namespace td::math
