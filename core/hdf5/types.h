// core/hdf5/types.h: maps HDF5 types to kinds of entries.
#pragma once

#include "core/hdf5/library.h"

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>

namespace td::hdf5 {

enum class Holds : std::uint8_t {
  tensor,
  text,    // strings
  number,  // Python's non-tensor number: bytes with a tag for the dtype
  bytes,   // opaque bytes, and lists of bytes
  fields,  // a record: a dictionary of its fields
  nothing  // not supported
};

struct TypePlan {
  Holds holds = Holds::nothing;
  std::string why;                                     // nothing: the reason
  c10::ScalarType dtype = c10::ScalarType::Undefined;  // of a tensor or number
  Sizes inner;                                         // sizes after those of the dataset
  Id memory;                                           // type in memory; closed for fields
  std::size_t item = 0;                                // bytes of an element in memory
  bool variable = false;  // text or bytes of any length, allocated by the library
  bool blanks = false;    // text: padded with blanks
  bool swapped = false;   // number: in the other byte order
};

TypePlan plan_type(hid_t type, const std::string& where);
// The same, but for numbers of uint64 where libtorch lacks that: int64 with the same bits.
TypePlan plan_bits(hid_t type, TypePlan plan, const std::string& where);

// The type of a tensor in memory and in files; closed if HDF5 lacks it.
Id type_of(c10::ScalarType dtype, const std::string& where);

// Parses and formats tags such as "NUMPY:<i8".
std::optional<std::pair<c10::ScalarType, bool>> dtype_of_tag(std::string_view tag);
std::string tag_of(c10::ScalarType dtype);

}  // namespace td::hdf5
