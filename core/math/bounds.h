// core/math/bounds.h: operands as the dtype of a result wants them: bounds that it cannot hold, and numbers beside elements of
// lazy stacks.
#pragma once

#include "core/math/math_kernels.h"

#include <array>

namespace td::math {

// Which of a, b and c have no dimensions here, and some in the whole: elements of lazy stacks.
using InStack = std::array<bool, 3>;

// The operands b and c of a kernel for one leaf, which outlive this. A scalar bound of integers beyond all that
// the dtype of the result holds becomes the last one that restricts nothing. A tensor without dimensions gets the dtype of
// the result beside a leaf that has some in the whole, since libtorch lets that win.
class FittingBounds {
 public:
  // Throws Code::dtype for any other bound that does not fit: no value of the dtype can meet it.
  FittingBounds(const Kernel& kernel, const at::Tensor& a, const at::Tensor& b, const at::Tensor& c,
                const InStack& in_stack = {});
  const at::Tensor& b() const noexcept { return own_b_.defined() ? own_b_ : b_; }
  const at::Tensor& c() const noexcept { return own_c_.defined() ? own_c_ : c_; }

 private:
  const at::Tensor &b_, &c_;
  at::Tensor own_b_, own_c_;
};

// A real number in the dtype of the floats beside it, rounded as libtorch does, which needs a call of its own for it. Any other
// operand as it is.
at::Tensor in_dtype_of(const at::Tensor& floats, const at::Tensor& operand);

}  // namespace td::math
