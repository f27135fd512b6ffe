// core/base/quote.h: quoted text for JSON and messages.
#pragma once

#include <string>
#include <string_view>

namespace td {

// Escapes as Python's orjson does.
std::string quote(std::string_view text);
void append_quoted(std::string& out, std::string_view text);

}  // namespace td
