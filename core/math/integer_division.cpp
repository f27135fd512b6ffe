#include "core/math/integer_division.h"

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>
#include <ATen/native/TypeProperties.h>

#include <limits>

namespace td::math {

namespace {

c10::ScalarType common_dtype(const c10::IValue& a, const c10::IValue& b) {
  at::native::ResultTypeState state;
  for (const c10::IValue* value : {&a, &b}) {
    state = value->isTensor() ? at::native::update_result_type_state(value->toTensor(), state)
                              : at::native::update_result_type_state(value->toScalar(), state);
  }
  return at::native::result_type(state);
}

// Whether a division of such numbers can end the process, if it is computed where `tensor` is.
bool can_trap(c10::ScalarType dtype, const at::Tensor& tensor) {
  return (dtype == c10::kInt || dtype == c10::kLong) && tensor.is_cpu();
}

// A divisor that no other thread writes into, without -1, and a mask of where -1 was; undefined if nowhere.
struct Safe {
  at::Tensor divisor, replaced;
};

Safe safe_divisor(const at::Tensor& given, c10::ScalarType dtype) {
  if (!can_trap(dtype, given) || !c10::isSignedType(given.scalar_type())) return {given, {}};
  const bool number = given.unsafeGetTensorImpl()->is_wrapped_number();
  at::Tensor own = number ? given : given.clone();
  at::Tensor found = own.eq(-1);
  if (!at::any(found).item().toBool()) return {own, {}};
  return {number ? at::native::wrapped_scalar_tensor(1) : own.masked_fill_(found, 1), found};
}

}  // namespace

at::Tensor divisor(const at::Tensor& a, const at::Tensor& b) {
  return safe_divisor(b, common_dtype(a, b)).divisor;
}

Division division_of(const std::string& name, bool rounds) noexcept {
  std::string_view bare = name;
  if (!bare.empty() && bare.back() == '_') bare.remove_suffix(1);
  if (bare == "aten::lcm") return Division::lcm;
  if (bare == "aten::remainder" || bare == "aten::fmod") return Division::remainder;
  const bool divides = bare == "aten::div" || bare == "aten::divide";
  if (bare == "aten::floor_divide" || (divides && rounds)) return Division::quotient;
  return Division::none;
}

SafeDivision::SafeDivision(Division division, bool in_place, std::vector<c10::IValue>& stack) {
  if (division == Division::lcm) {
    protect_lcm(in_place, stack);
    return;
  }
  c10::IValue& by = stack[1];
  const at::Tensor given =
      by.isTensor() ? by.toTensor() : at::native::wrapped_scalar_tensor(by.toScalar());
  const Safe safe = safe_divisor(given, common_dtype(stack[0], by));
  const bool replaced = safe.replaced.defined();
  if (replaced && division == Division::quotient)
    sign_ = at::ones_like(given, given.options().dtype(at::kLong)).masked_fill_(safe.replaced, -1);
  if (by.isTensor()) {
    by = safe.divisor;
  } else if (replaced) {
    by = 1;
  }
}

// The greatest common divisor of the smallest number and an odd one may be -1 in libtorch. Their least common
// multiple wraps around to the smallest number, as it does with 1 in place of any number but 0.
void SafeDivision::protect_lcm(bool in_place, std::vector<c10::IValue>& stack) {
  const at::Tensor a = stack[0].toTensor(), b = stack[1].toTensor();
  const c10::ScalarType dtype = common_dtype(stack[0], stack[1]);
  if (!can_trap(dtype, a) || !b.is_cpu()) return;
  const at::Tensor own = a.clone();
  if (in_place) target_ = a;
  stack[0] = own;
  const std::int64_t smallest = dtype == c10::kInt ? std::numeric_limits<std::int32_t>::min()
                                                   : std::numeric_limits<std::int64_t>::min();
  const at::Tensor found = own.to(dtype).eq(smallest);
  if (!at::any(found).item().toBool()) return;
  const at::Tensor other = b.to(dtype, /*non_blocking=*/false, /*copy=*/true);
  stack[1] = at::where(found.logical_and(other.ne(0)), at::ones({}, other.options()), other);
}

void SafeDivision::finish(std::vector<c10::IValue>& stack) const {
  if (sign_.defined()) stack[0].toTensor().mul_(sign_.to(stack[0].toTensor().scalar_type()));
  if (target_.defined()) stack[0] = at::Tensor(target_).copy_(stack[0].toTensor());
}

}  // namespace td::math
