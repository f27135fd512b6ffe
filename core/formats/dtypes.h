// core/formats/dtypes.h: the only table of dtypes and their names in other formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace td {

// Up to uint64, values equal td_dtype in the C ABI; folders and archives can store these.
enum class DType : std::int32_t {
  other = 0,
  uint8,
  int8,
  int16,
  int32,
  int64,
  float16,
  float32,
  float64,
  complex32,
  complex64,
  complex128,
  boolean,
  bfloat16,
  uint16,
  uint32,
  uint64,
  float8_e5m2,
  float8_e4m3fn,
};

enum class NumberKind : std::uint8_t { truth, whole, natural, real, complex };

// A name is empty if the format lacks the dtype.
struct DTypeRow {
  DType dtype;
  NumberKind kind;
  std::uint8_t bytes;
  std::string_view torch;        // "torch.float32"
  std::string_view numpy;        // "f4", without byte order
  std::string_view safetensors;  // "F32"
  const char* arrow;             // "f", in Arrow's C data interface; or nullptr
};

inline constexpr DTypeRow dtype_rows[] = {
    {DType::uint8, NumberKind::natural, 1, "torch.uint8", "u1", "U8", "C"},
    {DType::int8, NumberKind::whole, 1, "torch.int8", "i1", "I8", "c"},
    {DType::int16, NumberKind::whole, 2, "torch.int16", "i2", "I16", "s"},
    {DType::int32, NumberKind::whole, 4, "torch.int32", "i4", "I32", "i"},
    {DType::int64, NumberKind::whole, 8, "torch.int64", "i8", "I64", "l"},
    {DType::float16, NumberKind::real, 2, "torch.float16", "f2", "F16", "e"},
    {DType::float32, NumberKind::real, 4, "torch.float32", "f4", "F32", "f"},
    {DType::float64, NumberKind::real, 8, "torch.float64", "f8", "F64", "g"},
    {DType::complex32, NumberKind::complex, 4, "torch.complex32", {}, {}, nullptr},
    {DType::complex64, NumberKind::complex, 8, "torch.complex64", "c8", "C64", nullptr},
    {DType::complex128, NumberKind::complex, 16, "torch.complex128", "c16", {}, nullptr},
    {DType::boolean, NumberKind::truth, 1, "torch.bool", "b1", "BOOL", "b"},
    {DType::bfloat16, NumberKind::real, 2, "torch.bfloat16", {}, "BF16", nullptr},
    {DType::uint16, NumberKind::natural, 2, "torch.uint16", "u2", "U16", "S"},
    {DType::uint32, NumberKind::natural, 4, "torch.uint32", "u4", "U32", "I"},
    {DType::uint64, NumberKind::natural, 8, "torch.uint64", "u8", "U64", "L"},
    {DType::float8_e5m2, NumberKind::real, 1, "torch.float8_e5m2", {}, "F8_E5M2", nullptr},
    {DType::float8_e4m3fn, NumberKind::real, 1, "torch.float8_e4m3fn", {}, "F8_E4M3", nullptr},
};

// nullptr for DType::other.
constexpr const DTypeRow* find_dtype(DType dtype) noexcept {
  const auto at = static_cast<std::size_t>(dtype);  // negative numbers become huge
  return at == 0 || at > std::size(dtype_rows) ? nullptr : &dtype_rows[at - 1];
}

// The row with `name` in a column: find_dtype(&DTypeRow::numpy, "f4"). nullptr if no row has it.
constexpr const DTypeRow* find_dtype(std::string_view DTypeRow::*column,
                                     std::string_view name) noexcept {
  if (name.empty()) return nullptr;
  for (const DTypeRow& row : dtype_rows) {
    if (row.*column == name) return &row;
  }
  return nullptr;
}

// Whether folders, archives and consolidated files can store the dtype.
constexpr bool is_stored(DType dtype) noexcept {
  return dtype > DType::other && dtype <= DType::uint64;
}

}  // namespace td
