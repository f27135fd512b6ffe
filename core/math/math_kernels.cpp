#include "core/math/math_kernels.h"

#include "core/math/integer_division.h"
#include "core/tensor/torch_compat.h"

namespace td::math {

namespace {

using MaybeTensor = compat::optional<at::Tensor>;
using MaybeNumber = compat::optional<c10::Scalar>;

// Squaring is faster than a power by a tensor that holds 2.
at::Tensor power(const at::Tensor& a, const at::Tensor& b, const Extra& x) {
  return x.numbers[1] ? at::pow(a, *x.numbers[1]) : at::pow(a, b);
}
void power_(at::Tensor& a, const at::Tensor& b, const Extra& x) {
  if (x.numbers[1]) {
    a.pow_(*x.numbers[1]);
  } else {
    a.pow_(b);
  }
}

// lerp needs equal dtypes, and addcdiv a float: converts scalars to the dtype of float leaves.
at::Tensor like(const at::Tensor& a, const at::Tensor& b) {
  const bool follows =
      b.dim() == 0 && at::isFloatingType(a.scalar_type()) && !at::isComplexType(b.scalar_type());
  return follows ? b.to(a.scalar_type()) : b;
}
at::Tensor interpolate(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c,
                       const Extra& x) {
  return x.numbers[2] ? at::lerp(a, like(a, b), *x.numbers[2])
                      : at::lerp(a, like(a, b), like(a, c));
}
void interpolate_(at::Tensor& a, const at::Tensor& b, const at::Tensor& c, const Extra& x) {
  if (x.numbers[2]) {
    a.lerp_(like(a, b), *x.numbers[2]);
  } else {
    a.lerp_(like(a, b), like(a, c));
  }
}

// Bounding floats by numbers is several times as fast as by tensors that hold them. Integers may have got other bounds.
bool by_numbers(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c, const Extra& x) {
  return at::isFloatingType(a.scalar_type()) && (x.numbers[1] || !b.defined()) &&
         (x.numbers[2] || !c.defined());
}
MaybeNumber number(const std::optional<c10::Scalar>& one) {
  return one ? MaybeNumber(*one) : MaybeNumber();
}
at::Tensor bounded(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c, const Extra& x) {
  return by_numbers(a, b, c, x) ? at::clamp(a, number(x.numbers[1]), number(x.numbers[2]))
                                : at::clamp(a, MaybeTensor(b), MaybeTensor(c));
}
void bounded_(at::Tensor& a, const at::Tensor& b, const at::Tensor& c, const Extra& x) {
  if (by_numbers(a, b, c, x)) {
    a.clamp_(number(x.numbers[1]), number(x.numbers[2]));
  } else {
    a.clamp_(MaybeTensor(b), MaybeTensor(c));
  }
}

#define TD_OUT(expression)                                      \
  [](const at::Tensor& a, [[maybe_unused]] const at::Tensor& b, \
     [[maybe_unused]] const at::Tensor& c,                      \
     [[maybe_unused]] const Extra& x) -> at::Tensor { return expression; }
#define TD_IN(expression)                                                                       \
  [](at::Tensor& a, [[maybe_unused]] const at::Tensor& b, [[maybe_unused]] const at::Tensor& c, \
     [[maybe_unused]] const Extra& x) -> void { expression; }

struct Row {
  std::int32_t number;
  Kernel kernel;
};

const Row unary_rows[] = {
#define TD_UNARY(number, NAME, name, doc) \
  {number, {#name, TD_OUT(at::name(a)), TD_IN(a.name##_()), Result::value, number != 30, false}},
#define TD_PREDICATE(number, NAME, name, doc) \
  {number, {#name, TD_OUT(at::name(a)), nullptr, Result::truth, true, false}},
#include "core/math/ops.def"
};

const Row binary_rows[] = {
#define TD_BINARY(number, NAME, name, out, in, doc) \
  {number, {#name, TD_OUT(out), TD_IN(in), Result::value, true, number <= 3}},
#define TD_BITWISE(number, NAME, name, out, in, doc) \
  {number, {#name, TD_OUT(out), TD_IN(in), Result::value, false, false}},
#define TD_BOUND(number, NAME, name, side, out, in, doc) \
  {number, {#name, TD_OUT(out), TD_IN(in), Result::value, true, false, Bound::side}},
#define TD_BINARY_OUT(number, NAME, name, out, doc) \
  {number, {#name, TD_OUT(out), nullptr, Result::value, true, number <= 3}},
#define TD_COMPARE(number, NAME, name, doc) \
  {number, {#name, TD_OUT(at::name(a, b)), nullptr, Result::comparison, true, false}},
#include "core/math/ops.def"
};

const Row ternary_rows[] = {
#define TD_TERNARY(number, NAME, name, out, in, doc) \
  {number, {#name, TD_OUT(out), TD_IN(in), Result::value, true, true}},
#define TD_CLAMP(number, NAME, name, out, in, doc) \
  {number, {#name, TD_OUT(out), TD_IN(in), Result::value, true, true, Bound::lower, Bound::upper}},
#include "core/math/ops.def"
};

template <std::size_t n>
const Kernel& find(const Row (&rows)[n], std::int32_t number) {
  for (const Row& row : rows) {
    if (row.number == number) return row.kernel;
  }
  fail(Code::invalid_argument, "operation ", number, " does not exist");
}

}  // namespace

const Kernel& kernel_of(Unary op) { return find(unary_rows, static_cast<std::int32_t>(op)); }
const Kernel& kernel_of(Binary op) { return find(binary_rows, static_cast<std::int32_t>(op)); }
const Kernel& kernel_of(Ternary op) { return find(ternary_rows, static_cast<std::int32_t>(op)); }

}  // namespace td::math
