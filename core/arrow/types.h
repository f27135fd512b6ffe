// core/arrow/types.h: the formats of Arrow's schemas, and validation of a producer's data.
#pragma once

#include "core/arrow/abi.h"
#include "core/base/error.h"

#include <c10/core/ScalarType.h>

#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace td::arrow {

inline constexpr const char* extension_key = "ARROW:extension:name";
inline constexpr const char* json_extension = "arrow.json";
// Metadata of a struct: non-tensor values shared by all rows, as a JSON object.
inline constexpr const char* values_key = "tensordict.non_tensor";

// A static string such as "f"; nullptr if Arrow lacks the dtype.
const char* format_of(c10::ScalarType dtype) noexcept;

enum class Kind {
  numbers,  // of a dtype
  wide,     // unsigned numbers of `bytes` bytes that this libtorch lacks
  bits,     // bool
  bytes,    // of fixed length
  text,
  binary,
  view,    // text, inline or in one of several buffers
  nulls,   // only nulls
  list,    // of fixed length
  ragged,  // lists with offsets
  fields,
  other,
};

struct Type {
  Kind kind = Kind::other;
  c10::ScalarType dtype =
      c10::ScalarType::Undefined;  // of numbers; for widths without a dtype the one used instead
  std::int64_t size = 0;           // of a list, bytes, offset or wide number
  std::string_view why = {};       // Kind::other, ragged: why it cannot be read
};

// The location of a column in messages: its name and the columns around it.
struct Place {
  const Place* above = nullptr;  // nullptr: the record batch
  std::string_view name = {};
  std::size_t depth = 0;
};
std::ostream& operator<<(std::ostream& out, const Place& place);

// Parses any text; `other` if dictionaries cannot hold the type.
Type type_of(std::string_view format) noexcept;

// The value of a key, if present. Code::format for invalid lengths.
std::optional<std::string_view> metadata_value(const char* metadata, std::string_view key,
                                               const Place& where);

// Checks that an array has the buffers and children of its type, and `count` elements from `start` on. Throws
// Code::format.
void check_array(const Array* array, const Schema& schema, const Type& type, std::int64_t start,
                 std::int64_t count, const Place& where);
void check_schema(const Schema* schema, const Place& where);

}  // namespace td::arrow
