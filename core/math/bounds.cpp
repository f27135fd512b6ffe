#include "core/math/bounds.h"

#include "core/tensor/fast_path.h"
#include "core/tensor/scalar.h"

#include <ATen/ScalarOps.h>
#include <ATen/native/TypeProperties.h>

namespace td::math {

namespace {

bool is_scalar_of_another(const at::Tensor& tensor, c10::ScalarType dtype) {
  return tensor.defined() && tensor.dim() == 0 && tensor.scalar_type() != dtype;
}

// Whether an integer lies beyond all integers of the dtype, on the side where it restricts none.
bool restricts_nothing(const c10::Scalar& number, Bound side, c10::ScalarType dtype) {
  if (!c10::isIntegralType(dtype, /*includeBool=*/false) || !number.isIntegral(false)) return false;
  return !fits(number, dtype) && (number.toLong() > 0) == (side == Bound::upper);
}

std::int64_t limit_of(c10::ScalarType dtype, Bound side) {
  const bool with_sign = c10::isSignedType(dtype);
  const std::uint64_t beyond = std::uint64_t{1} << (8 * c10::elementSize(dtype) - with_sign);
  if (side == Bound::upper) return static_cast<std::int64_t>(beyond - 1);
  return with_sign ? -static_cast<std::int64_t>(beyond - 1) - 1 : 0;
}

// libtorch does not bound a tensor on a GPU by a number in main memory.
at::Tensor beside(const at::Tensor& a, const at::Tensor& bound) {
  if (!bound.defined() || !a.is_cuda() || bound.dim() != 0 || !bound.is_cpu()) return {};
  at::Tensor there = at::full({}, bound.item(), bound.options().device(a.device()));
  if (bound.unsafeGetTensorImpl()->is_wrapped_number())
    there.unsafeGetTensorImpl()->set_wrapped_number(true);
  return there;
}

// What takes the place of a bound; undefined if it can stay.
at::Tensor fitting(const char* what, const at::Tensor& bound, Bound side, c10::ScalarType dtype) {
  if (!is_scalar_of_another(bound, dtype)) return {};
  const c10::Scalar number = bound.item();
  if (restricts_nothing(number, side, dtype)) {
    const std::int64_t limit = limit_of(dtype, side);
    return bound.unsafeGetTensorImpl()->is_wrapped_number()
               ? at::native::wrapped_scalar_tensor(limit)
               : at::full_like(bound, limit);
  }
  require_fits(number, dtype, what);
  return {};
}

template <class T>
at::Tensor rounded_to(const at::Tensor& number) {
  at::Tensor made = fast::make_dense({}, c10::CppTypeToScalarType<T>::value);
  const c10::Scalar value = number.item();
  *made.data_ptr<T>() = value.isIntegral(/*includeBool=*/false) ? static_cast<T>(value.toLong())
                                                                : static_cast<T>(value.toDouble());
  return made;
}

}  // namespace

at::Tensor in_dtype_of(const at::Tensor& floats, const at::Tensor& operand) {
  const c10::ScalarType dtype = floats.scalar_type();
  const bool is_number =
      operand.defined() && operand.dim() == 0 && operand.is_cpu() && operand.scalar_type() != dtype;
  // Some operators refuse a bool.
  if (!is_number || operand.scalar_type() == at::kBool || at::isComplexType(operand.scalar_type()))
    return operand;
  if (dtype == at::kFloat) return rounded_to<float>(operand);
  return dtype == at::kDouble ? rounded_to<double>(operand) : operand;
}

FittingBounds::FittingBounds(const Kernel& kernel, const at::Tensor& a, const at::Tensor& b,
                             const at::Tensor& c, const InStack& in_stack)
    : b_(b), c_(c) {
  const bool alone = in_stack == InStack{};
  if (kernel.b == Bound::none && alone) return;
  at::Tensor whole[] = {a, b, c};
  at::native::ResultTypeState state;
  for (std::size_t k = 0; k < 3; ++k) {
    if (in_stack[k]) whole[k] = whole[k].unsqueeze(0);
    if (whole[k].defined()) state = at::native::update_result_type_state(whole[k], state);
  }
  const c10::ScalarType dtype = at::native::result_type(state);
  if (kernel.b != Bound::none) {
    if (is_scalar_of_another(whole[0], dtype)) require_fits(a.item(), dtype, kernel.name);
    own_b_ = fitting(kernel.name, whole[1], kernel.b, dtype);
    own_c_ = fitting(kernel.name, whole[2], kernel.c, dtype);
    if (at::Tensor there = beside(a, this->b()); there.defined()) own_b_ = std::move(there);
    if (at::Tensor there = beside(a, this->c()); there.defined()) own_c_ = std::move(there);
  }
  if (alone) return;
  const auto follow = [&](const at::Tensor& number, at::Tensor& own) {
    if (is_scalar_of_another(number, dtype) && !number.unsafeGetTensorImpl()->is_wrapped_number())
      own = number.to(dtype);
  };
  if (!in_stack[1]) follow(this->b(), own_b_);
  if (!in_stack[2]) follow(this->c(), own_c_);
}

}  // namespace td::math
