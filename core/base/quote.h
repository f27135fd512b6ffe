// core/base/quote.h: a text in quotes, for JSON and for messages.
#pragma once

#include <string>
#include <string_view>

namespace td {

// Escaped as Python's orjson does.
std::string quote(std::string_view text);
void append_quoted(std::string& out, std::string_view text);

}  // namespace td
