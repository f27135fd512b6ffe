// core/interop/hdf5_types.h: what a type of HDF5 is in a dictionary.
#pragma once

#include "core/interop/hdf5_library.h"

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>

namespace td::hdf5 {

enum class Holds : std::uint8_t {
  tensor,
  text,  // strings
  number,  // what Python's tensordict makes of a number that is no tensor: bytes with the tag of its dtype
  bytes,   // other bytes without meaning
  fields,  // a record: a dictionary of its fields
  nothing  // no place in a dictionary
};

struct TypePlan {
  Holds holds = Holds::nothing;
  std::string why;                                     // nothing: what it is
  c10::ScalarType dtype = c10::ScalarType::Undefined;  // of a tensor, or of a number
  Sizes inner;                                         // sizes behind those of the dataset
  Id memory;              // how its values lie in memory; nothing for fields
  std::size_t item = 0;   // bytes of an element in memory
  bool variable = false;  // text: of any length, allocated by the library
  bool blanks = false;    // text: filled up with blanks
  bool swapped = false;   // number: in the other byte order
};

TypePlan plan_type(hid_t type, const std::string& where);

// How a tensor lies in memory, and in files that we write; closed where HDF5 has no such type.
Id type_of(c10::ScalarType dtype, const std::string& where);

// The dtype of "NUMPY:<i8", and back.
std::optional<std::pair<c10::ScalarType, bool>> dtype_of_tag(std::string_view tag);
std::string tag_of(c10::ScalarType dtype);

}  // namespace td::hdf5
