// core/tensor/dtype.h: dtypes of libtorch, and their names.
#pragma once

#include "core/formats/dtypes.h"

#include <c10/core/ScalarType.h>

#include <string>
#include <string_view>

namespace td {

// Undefined where this libtorch has no such dtype.
c10::ScalarType scalar_type(DType dtype) noexcept;
// The same; throws Code::dtype where there is none. `where` begins the message.
c10::ScalarType need_scalar_type(DType dtype, std::string_view where);
// DType::other for a dtype without a row in the table.
DType dtype_of(c10::ScalarType dtype) noexcept;

// As PyTorch prints it: "torch.float32".
std::string dtype_name(c10::ScalarType dtype);

// The same for dtypes that folders can store. Empty: they cannot store this one.
std::string_view stored_name(c10::ScalarType dtype) noexcept;
// Throws Code::format for a name without meaning, Code::dtype for a dtype that this libtorch lacks, and
// Code::unsupported for quantised ones. `where` begins the message.
c10::ScalarType parse_dtype(std::string_view name, std::string_view where);

}  // namespace td
