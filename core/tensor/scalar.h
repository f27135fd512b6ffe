// core/tensor/scalar.h: whether a dtype can represent a number.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

#include <string_view>

namespace td {

// uint8 holds neither 300 nor -2; float32 does not hold 1e300.
bool fits(const c10::Scalar& number, c10::ScalarType dtype);

// Throws Code::dtype with the number and the dtype. `what` begins the message.
void require_fits(const c10::Scalar& number, c10::ScalarType dtype, std::string_view what);

// at::constant_pad_nd(). Throws Code::dtype if it pads with a number that does not fit.
at::Tensor padded_by(const at::Tensor& tensor, c10::IntArrayRef amounts, double number,
                     std::string_view what);

// "300", "2.5", "True", "1+2j".
std::string show_number(const c10::Scalar& number);

}  // namespace td
