#include "core/tensor/dtype.h"

#include "core/formats/format.h"
#include "core/tensor/torch_compat.h"

namespace td {

namespace {

constexpr c10::ScalarType missing = c10::ScalarType::Undefined;

// Indexed by DType.
constexpr c10::ScalarType scalar_types[] = {
    missing,
    c10::ScalarType::Byte,
    c10::ScalarType::Char,
    c10::ScalarType::Short,
    c10::ScalarType::Int,
    c10::ScalarType::Long,
    c10::ScalarType::Half,
    c10::ScalarType::Float,
    c10::ScalarType::Double,
    c10::ScalarType::ComplexHalf,
    c10::ScalarType::ComplexFloat,
    c10::ScalarType::ComplexDouble,
    c10::ScalarType::Bool,
    c10::ScalarType::BFloat16,
#if TD_TORCH_HAS_WIDE_UNSIGNED
    c10::ScalarType::UInt16,
    c10::ScalarType::UInt32,
    c10::ScalarType::UInt64,
#else
    missing,
    missing,
    missing,
#endif
#if TD_TORCH_AT_LEAST(2, 1)
    c10::ScalarType::Float8_e5m2,
    c10::ScalarType::Float8_e4m3fn,
#else
    missing,
    missing,
#endif
};
static_assert(std::size(scalar_types) == std::size(dtype_rows) + 1);

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

c10::ScalarType scalar_type(DType dtype) noexcept {
  const auto at = static_cast<std::size_t>(dtype);
  return at < std::size(scalar_types) ? scalar_types[at] : missing;
}

DType dtype_of(c10::ScalarType dtype) noexcept {
  for (std::size_t i = 1; i < std::size(scalar_types); ++i) {
    if (scalar_types[i] == dtype && dtype != missing) return static_cast<DType>(i);
  }
  return DType::other;
}

std::string dtype_name(c10::ScalarType dtype) {
  const DTypeRow* row = find_dtype(dtype_of(dtype));
  return row != nullptr ? std::string(row->torch) : "torch." + lower_case(c10::toString(dtype));
}

std::string_view stored_name(c10::ScalarType dtype) noexcept {
  const DType found = dtype_of(dtype);
  return is_stored(found) ? find_dtype(found)->torch : std::string_view();
}

c10::ScalarType need_scalar_type(DType dtype, std::string_view where) {
  const c10::ScalarType result = scalar_type(dtype);
  if (result == missing) {
    fail(Code::dtype, where, ": ", find_dtype(dtype)->torch, " needs libtorch ",
         is_stored(dtype) ? "2.3" : "2.1", ", this is ", TORCH_VERSION);
  }
  return result;
}

c10::ScalarType parse_dtype(std::string_view name, std::string_view where) {
  return need_scalar_type(format::parse_dtype(name, where), where);
}

}  // namespace td
