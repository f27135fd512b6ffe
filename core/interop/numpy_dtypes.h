// core/interop/numpy_dtypes.h: what NumPy calls the dtypes of libtorch, without the order of their bytes.
#pragma once

#include "core/tensor/torch_compat.h"

#include <string_view>

namespace td::numpy {

struct DType {
  std::string_view code;
  c10::ScalarType dtype;
};
inline constexpr DType dtypes[] = {
    {"b1", c10::ScalarType::Bool},
    {"u1", c10::ScalarType::Byte},
    {"i1", c10::ScalarType::Char},
    {"i2", c10::ScalarType::Short},
    {"i4", c10::ScalarType::Int},
    {"i8", c10::ScalarType::Long},
    {"f2", c10::ScalarType::Half},
    {"f4", c10::ScalarType::Float},
    {"f8", c10::ScalarType::Double},
    {"c8", c10::ScalarType::ComplexFloat},
    {"c16", c10::ScalarType::ComplexDouble},
#if TD_TORCH_HAS_WIDE_UNSIGNED
    {"u2", c10::ScalarType::UInt16},
    {"u4", c10::ScalarType::UInt32},
    {"u8", c10::ScalarType::UInt64},
#endif
};

}  // namespace td::numpy
