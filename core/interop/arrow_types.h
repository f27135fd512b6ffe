// core/interop/arrow_types.h: the formats of Arrow's schemas, and checks of what a producer gives.
#pragma once

#include "core/base/error.h"
#include "core/interop/arrow_abi.h"

#include <c10/core/ScalarType.h>

#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace td::arrow {

inline constexpr const char* extension_key = "ARROW:extension:name";
inline constexpr const char* json_extension = "arrow.json";
// On a struct: the non-tensor values that hold for all its rows, as an object of JSON.
inline constexpr const char* values_key = "tensordict.non_tensor";

// "f", as long as the program runs; null when Arrow has none.
const char* format_of(c10::ScalarType dtype) noexcept;

enum class Kind {
  numbers,  // of a dtype
  wide,     // unsigned numbers that this libtorch lacks, of `bytes` each
  bits,     // bool
  bytes,    // of one length
  text,
  binary,
  view,   // text, in place or in one of several buffers
  nulls,  // nothing there
  list,   // of one length
  fields,
  other,
};

struct Type {
  Kind kind = Kind::other;
  c10::ScalarType dtype = c10::ScalarType::Undefined;  // of numbers; of wide ones, what they become
  std::int64_t size = 0;      // of a list, or of bytes; of an offset of text; of a wide number
  std::string_view why = {};  // other: what could be done
};

// Where a column is, for messages: its name and the columns it is in.
struct Place {
  const Place* above = nullptr;  // null: the record batch
  std::string_view name = {};
  std::size_t depth = 0;
};
std::ostream& operator<<(std::ostream& out, const Place& place);

// Of any text; `other` for what has no place in a dictionary.
Type type_of(std::string_view format) noexcept;

// The value of a key, if there. Code::format for lengths that cannot be.
std::optional<std::string_view> metadata_value(const char* metadata, std::string_view key,
                                               const Place& where);

// What one array must have, whatever its values: as many buffers and children as its type says, and
// elements from `start` on for `count` in it. Code::format otherwise.
void check_array(const Array* array, const Schema& schema, const Type& type, std::int64_t start,
                 std::int64_t count, const Place& where);
void check_schema(const Schema* schema, const Place& where);

}  // namespace td::arrow
