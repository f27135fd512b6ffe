// core/interop/safetensors_dtypes.h: the names of dtypes in safetensors files, in the order in which the reference
// implementation sorts them.
#pragma once

#include "core/formats/format.h"
#include "core/tensor/torch_compat.h"

namespace td::safetensors {

struct DType {
  std::string_view name;
  c10::ScalarType dtype;  // Undefined: this libtorch has none
};

inline constexpr DType dtypes[] = {
    {"BOOL", c10::ScalarType::Bool},
    {"F4", c10::ScalarType::Undefined},
    {"F6_E2M3", c10::ScalarType::Undefined},
    {"F6_E3M2", c10::ScalarType::Undefined},
    {"U8", c10::ScalarType::Byte},
    {"I8", c10::ScalarType::Char},
#if TD_TORCH_AT_LEAST(2, 1)
    {"F8_E5M2", c10::ScalarType::Float8_e5m2},
    {"F8_E4M3", c10::ScalarType::Float8_e4m3fn},
#else
    {"F8_E5M2", c10::ScalarType::Undefined}, {"F8_E4M3", c10::ScalarType::Undefined},
#endif
    {"F8_E8M0", c10::ScalarType::Undefined},
    {"I16", c10::ScalarType::Short},
#if TD_TORCH_HAS_WIDE_UNSIGNED
    {"U16", c10::ScalarType::UInt16},
#else
    {"U16", c10::ScalarType::Undefined},
#endif
    {"F16", c10::ScalarType::Half},
    {"BF16", c10::ScalarType::BFloat16},
    {"I32", c10::ScalarType::Int},
#if TD_TORCH_HAS_WIDE_UNSIGNED
    {"U32", c10::ScalarType::UInt32},
#else
    {"U32", c10::ScalarType::Undefined},
#endif
    {"F32", c10::ScalarType::Float},
    {"C64", c10::ScalarType::ComplexFloat},
    {"F64", c10::ScalarType::Double},
    {"I64", c10::ScalarType::Long},
#if TD_TORCH_HAS_WIDE_UNSIGNED
    {"U64", c10::ScalarType::UInt64},
#else
    {"U64", c10::ScalarType::Undefined},
#endif
};

inline c10::ScalarType parse_dtype(std::string_view name, const std::string& where) {
  for (const DType& row : dtypes) {
    if (row.name != name) continue;
    if (row.dtype != c10::ScalarType::Undefined) return row.dtype;
    fail(Code::dtype, where, ": libtorch ", TORCH_VERSION, " has no dtype ", name);
  }
  fail(Code::format, where, ": no dtype is called ", quote(name));
}

}  // namespace td::safetensors
