#include "core/tensor/scalar.h"

#include "core/base/error.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <cstdio>
#include <stdexcept>

namespace td {

namespace {

std::string show(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

// What every dtype has room for.
bool fits_anywhere(const c10::Scalar& number) {
  if (number.isBoolean()) return true;
  if (number.isIntegral(/*includeBool=*/false)) {
    const std::int64_t value = number.toLong();
    return value >= 0 && value <= 127;
  }
  return number.isFloatingPoint() && number.toDouble() >= 0 && number.toDouble() <= 127;
}

}  // namespace

std::string show_number(const c10::Scalar& number) {
  if (number.isBoolean()) return number.toBool() ? "True" : "False";
  if (number.isIntegral(/*includeBool=*/false)) return std::to_string(number.toLong());
  if (!number.isComplex()) return show(number.toDouble());
  const c10::complex<double> value = number.toComplexDouble();
  return show(value.real()) + (value.imag() < 0 ? "" : "+") + show(value.imag()) + "j";
}

at::Tensor padded_by(const at::Tensor& tensor, c10::IntArrayRef amounts, double number,
                     std::string_view what) {
  for (const std::int64_t amount : amounts) {
    if (amount > 0) require_fits(number, tensor.scalar_type(), what);
  }
  return at::constant_pad_nd(tensor, amounts, number);
}

void require_fits(const c10::Scalar& number, c10::ScalarType dtype, std::string_view what) {
  if (fits_anywhere(number)) return;
  try {
    at::empty({}, dtype).fill_(number);
  } catch (const std::runtime_error&) {  // what c10::Scalar throws; errors of libtorch are none
    fail(Code::dtype, what, ": the number ", show_number(number), " does not fit into ",
         dtype_name(dtype));
  }
}

}  // namespace td
