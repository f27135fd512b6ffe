#include "core/math/integer_division.h"

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>
#include <ATen/native/TypeProperties.h>

#include <algorithm>

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

// A mask of the divisors that are -1; undefined if no divisor is, or if no division can trap.
at::Tensor minus_ones(const at::Tensor& divisor, c10::ScalarType dtype) {
  if ((dtype != c10::kInt && dtype != c10::kLong) || !divisor.is_cpu()) return {};
  at::Tensor found = divisor.eq(-1);
  return at::any(found).item().toBool() ? found : at::Tensor();
}

at::Tensor with_ones(const at::Tensor& divisor, const at::Tensor& where) {
  if (divisor.unsafeGetTensorImpl()->is_wrapped_number())
    return at::native::wrapped_scalar_tensor(1);
  return divisor.masked_fill(where, 1);
}

}  // namespace

at::Tensor divisor(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor where = minus_ones(b, common_dtype(a, b));
  return where.defined() ? with_ones(b, where) : b;
}

Division division_of(const std::string& name, bool rounds) noexcept {
  std::string_view bare = name;
  if (!bare.empty() && bare.back() == '_') bare.remove_suffix(1);
  if (bare == "aten::remainder" || bare == "aten::fmod") return Division::remainder;
  const bool divides = bare == "aten::div" || bare == "aten::divide";
  if (bare == "aten::floor_divide" || (divides && rounds)) return Division::quotient;
  return Division::none;
}

SafeDivision::SafeDivision(Division division, std::vector<c10::IValue>& stack) {
  c10::IValue& by = stack[1];
  const at::Tensor given =
      by.isTensor() ? by.toTensor() : at::native::wrapped_scalar_tensor(by.toScalar());
  const at::Tensor where = minus_ones(given, common_dtype(stack[0], by));
  if (!where.defined()) return;
  if (division == Division::quotient)
    sign_ = at::ones_like(given, given.options().dtype(at::kLong)).masked_fill_(where, -1);
  by = by.isTensor() ? c10::IValue(with_ones(given, where)) : c10::IValue(1);
}

void SafeDivision::finish(std::vector<c10::IValue>& stack) const {
  if (sign_.defined()) stack[0].toTensor().mul_(sign_.to(stack[0].toTensor().scalar_type()));
}

}  // namespace td::math
