// core/formats/json_text.h: JSON text from and to plain values.
#pragma once

#include "core/base/quote.h"
#include "core/base/sizes.h"
#include "core/formats/plain.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace td {

// Limit for the nesting of non-tensor data, whatever the caller allows: printing recurses.
inline constexpr std::size_t max_json_depth = 1000;

// Whether an object may repeat a member.
enum class Repeated { refused, kept };

// Throws Code::format for invalid JSON, deeper nesting than `max_depth`, and repeated members.
Plain read_json(std::string_view text, const std::string& where, std::size_t max_depth = 64,
                Repeated repeated = Repeated::refused);

// A value of any data: as deep as values may be, with repeated members.
inline Plain read_value(std::string_view text, const std::string& where) {
  return read_json(text, where, max_json_depth, Repeated::kept);
}

// Compact; numbers have the digits of the original text.
std::string json_text(const Plain& value);
// The same for a file: throws Code::format for deeper nesting than read_value() takes. `where` begins the message.
std::string json_text(const Plain& value, const std::string& where);
// As Python's json.dumps writes it.
std::string python_json(const Plain& value);
bool is_deeper(const Plain& value, std::size_t levels);

// Names of dimensions as formats have them: a list with null for those without a name; null if no dimension has one.
Plain plain_names(const Names& names);

// The first elements of a list; other values unchanged.
Plain head_of_list(const Plain& value, std::size_t length);

}  // namespace td
