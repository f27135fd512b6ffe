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
  std::int8_t
      safetensors_place;     // in the format's own order, by which tensors are sorted; -1: none
  std::string_view arrow;    // "f", in Arrow's C data interface
  std::string_view storage;  // "FloatStorage", of torch.save
  std::int8_t dlpack;        // type code, with as many bits as `bytes` has; -1: none
};

inline constexpr DTypeRow dtype_rows[] = {
    {DType::uint8, NumberKind::natural, 1, "torch.uint8", "u1", "U8", 4, "C", "ByteStorage", 1},
    {DType::int8, NumberKind::whole, 1, "torch.int8", "i1", "I8", 5, "c", "CharStorage", 0},
    {DType::int16, NumberKind::whole, 2, "torch.int16", "i2", "I16", 9, "s", "ShortStorage", 0},
    {DType::int32, NumberKind::whole, 4, "torch.int32", "i4", "I32", 13, "i", "IntStorage", 0},
    {DType::int64, NumberKind::whole, 8, "torch.int64", "i8", "I64", 18, "l", "LongStorage", 0},
    {DType::float16, NumberKind::real, 2, "torch.float16", "f2", "F16", 11, "e", "HalfStorage", 2},
    {DType::float32, NumberKind::real, 4, "torch.float32", "f4", "F32", 15, "f", "FloatStorage", 2},
    {DType::float64, NumberKind::real, 8, "torch.float64", "f8", "F64", 17, "g", "DoubleStorage",
     2},
    {DType::complex32, NumberKind::complex, 4, "torch.complex32", "", "", -1, "",
     "ComplexHalfStorage", 5},
    {DType::complex64, NumberKind::complex, 8, "torch.complex64", "c8", "C64", 16, "",
     "ComplexFloatStorage", 5},
    {DType::complex128, NumberKind::complex, 16, "torch.complex128", "c16", "", -1, "",
     "ComplexDoubleStorage", 5},
    {DType::boolean, NumberKind::truth, 1, "torch.bool", "b1", "BOOL", 0, "b", "BoolStorage", 6},
    {DType::bfloat16, NumberKind::real, 2, "torch.bfloat16", "", "BF16", 12, "", "BFloat16Storage",
     4},
    {DType::uint16, NumberKind::natural, 2, "torch.uint16", "u2", "U16", 10, "S", "", 1},
    {DType::uint32, NumberKind::natural, 4, "torch.uint32", "u4", "U32", 14, "I", "", 1},
    {DType::uint64, NumberKind::natural, 8, "torch.uint64", "u8", "U64", 19, "L", "", 1},
    {DType::float8_e5m2, NumberKind::real, 1, "torch.float8_e5m2", "", "F8_E5M2", 6, "", "", -1},
    {DType::float8_e4m3fn, NumberKind::real, 1, "torch.float8_e4m3fn", "", "F8_E4M3", 7, "", "",
     -1},
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

// The first dtype of a kind and size. nullptr if no dtype matches.
constexpr const DTypeRow* find_dtype(NumberKind kind, std::size_t bytes) noexcept {
  for (const DTypeRow& row : dtype_rows) {
    if (row.kind == kind && row.bytes == bytes) return &row;
  }
  return nullptr;
}

// Whether folders, archives and consolidated files can store the dtype.
constexpr bool is_stored(DType dtype) noexcept {
  return dtype > DType::other && dtype <= DType::uint64;
}

}  // namespace td
