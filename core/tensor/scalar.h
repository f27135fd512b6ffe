// core/tensor/scalar.h: whether a dtype has room for a number.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

#include <string_view>

namespace td {

// Code::dtype, with number and dtype in the message, where libtorch would refuse to fill a tensor of the
// dtype with the number: 300 for uint8, -2 for uint8, 1e300 for float32. `what` begins the message.
void require_fits(const c10::Scalar& number, c10::ScalarType dtype, std::string_view what);

// at::constant_pad_nd(), which is asked about the number first if any of it is needed.
at::Tensor padded_by(const at::Tensor& tensor, c10::IntArrayRef amounts, double number,
                     std::string_view what);

// "300", "2.5", "True", "1+2j".
std::string show_number(const c10::Scalar& number);

}  // namespace td
