// core/tensor/dtype.h: libtorch's dtypes and their names.
#pragma once

#include "core/formats/dtypes.h"

#include <c10/core/ScalarType.h>

#include <string>
#include <string_view>

namespace td {

// Undefined if this libtorch lacks the dtype.
c10::ScalarType scalar_type(DType dtype) noexcept;
// Throws Code::dtype if this libtorch lacks the dtype. `where` begins the message.
c10::ScalarType need_scalar_type(DType dtype, std::string_view where);
// DType::other for dtypes that are not in the table.
DType dtype_of(c10::ScalarType dtype) noexcept;

// PyTorch's name: "torch.float32".
std::string dtype_name(c10::ScalarType dtype);

// The name if folders can store the dtype, else empty.
std::string_view stored_name(c10::ScalarType dtype) noexcept;
// Throws Code::format for an unknown name, Code::dtype for a dtype that this libtorch lacks,
// Code::unsupported for quantised ones. `where` begins the message.
c10::ScalarType parse_dtype(std::string_view name, std::string_view where);

}  // namespace td
