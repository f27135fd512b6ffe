// core/base/quote.h: quoted text for JSON and messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace td {

// Escapes as Python's orjson does.
std::string quote(std::string_view text);
void append_quoted(std::string& out, std::string_view text);

// Writes \uXXXX for each character beyond ASCII from a place on, as Python's json does.
void escape_beyond_ascii(std::string& text, std::size_t from);

}  // namespace td
