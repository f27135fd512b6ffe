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

void append_escape(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\t': out += "\\t"; return;
    case '\n': out += "\\n"; return;
    case '\f': out += "\\f"; return;
    case '\r': out += "\\r"; return;
    default: append_unit(out, static_cast<unsigned char>(c));
  }
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
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, begin, at - begin);
    begin = at + 1;
    append_escape(out, c);
  }
  out.append(text, begin, text.size() - begin);
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
