#include "core/base/quote.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace td {

namespace {

constexpr char lower_hex[] = "0123456789abcdef";

void append_unit(std::string& out, std::uint32_t unit) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += lower_hex[(unit >> shift) & 15];
}

// The character that begins at a place of valid UTF-8, which moves behind it.
std::uint32_t next_character(std::string_view text, std::size_t& at) {
  const auto byte = [&] { return static_cast<unsigned char>(text[at++]); };
  const std::uint32_t first = byte();
  const int more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  std::uint32_t character = more == 0 ? first : first & (0x3fU >> more);
  for (int i = 0; i < more && at < text.size(); ++i) character = character << 6 | (byte() & 0x3fU);
  return character;
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\f': out += "\\f"; break;
      case '\r': out += "\\r"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += lower_hex[static_cast<unsigned char>(c) >> 4];
          out += lower_hex[static_cast<unsigned char>(c) & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

std::string quote(std::string_view text) {
  std::string result;
  append_quoted(result, text);
  return result;
}

void escape_beyond_ascii(std::string& text, std::size_t from) {
  constexpr char last = '~';
  const auto beyond = [](char c) { return static_cast<unsigned char>(c) > last; };
  if (std::none_of(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), beyond)) return;
  const std::string escaped = std::exchange(text, text.substr(0, from));
  for (std::size_t at = from; at < escaped.size();) {
    const std::uint32_t character = next_character(escaped, at);
    if (character <= last) {
      text += static_cast<char>(character);
    } else if (character < 0x10000) {
      append_unit(text, character);
    } else {
      append_unit(text, 0xd7c0 + (character >> 10));
      append_unit(text, 0xdc00 | (character & 0x3ff));
    }
  }
}

}  // namespace td
