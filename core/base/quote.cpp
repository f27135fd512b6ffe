#include "core/base/quote.h"

namespace td {

namespace {

constexpr char lower_hex[] = "0123456789abcdef";

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

}  // namespace td
