#include "core/tensor/scalar.h"

#include "core/base/error.h"
#include "core/formats/digits.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <stdexcept>

namespace td {

namespace {

std::string show(double number) {
  std::string text;
  append_rounded(text, number, 9);
  return text;
}

// Whether every dtype can hold the number.
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
  if (!fits(number, dtype)) {
    fail(Code::dtype, what, ": the number ", show_number(number), " does not fit into ",
         dtype_name(dtype));
  }
}

bool fits(const c10::Scalar& number, c10::ScalarType dtype) {
  if (fits_anywhere(number)) return true;
  if (c10::isIntegralType(dtype, /*includeBool=*/false)) {
    // libtorch lets negative integers wrap around in unsigned dtypes.
    const bool negative = number.isIntegral(/*includeBool=*/true) && number.toLong() < 0;
    if (negative && !c10::isSignedType(dtype)) return false;
  }
#define TD_CONVERT(type, name) \
  case c10::ScalarType::name: (void)number.to<type>(); return true;
  try {
    switch (dtype) {
      AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(TD_CONVERT)
      default: at::empty({}, dtype).fill_(number); return true;
    }
  } catch (const std::runtime_error&) {  // thrown for a number that is too large
    return false;
  }
#undef TD_CONVERT
}

}  // namespace td
