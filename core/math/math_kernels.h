// The operations of core/math/ops.def as functions.
#pragma once

#include "core/math/math.h"
#include "core/tree/sink.h"

#include <ATen/ATen.h>

namespace td::math {

// Arguments of a kernel. Unused ones are undefined.
struct Extra {
  c10::Scalar scale = 1;                       // alpha, or the factor of addcmul and addcdiv
  std::optional<c10::Scalar> numbers[3] = {};  // operands that are plain numbers
};

enum class Result : std::uint8_t { value, truth, comparison };

// How an operand bounds the values: they are at least it, or at most.
enum class Bound : std::uint8_t { none, lower, upper };

struct Kernel {
  const char* name;
  at::Tensor (*out)(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c, const Extra& x);
  // nullptr: no in-place variant
  void (*in)(at::Tensor& a, const at::Tensor& b, const at::Tensor& c, const Extra& x);
  Result result;
  bool any_dtype;  // accepts floats; the result is then a float
  bool scaled;     // uses alpha
  Bound b = Bound::none, c = Bound::none;
};

// Throw Code::invalid_argument for an unknown number.
const Kernel& kernel_of(Unary op);
const Kernel& kernel_of(Binary op);
const Kernel& kernel_of(Ternary op);

// An operation with its operands.
struct Call {
  const Kernel& kernel;
  c10::ArrayRef<const Operand*> operands;  // of b and c
  Extra extra = {};
  WalkRules::Missing missing = WalkRules::Missing::error;
  at::Tensor fallback = {};
};
TensorDict run(const TensorDict& td, const Call& call);
void run_in_place(const TensorDict& td, const Call& call);

}  // namespace td::math
