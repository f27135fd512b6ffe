#include "core/formats/python_text.h"

#include "core/formats/digits.h"

#include <cmath>

namespace td {

namespace {

// Python prefers single quotes, but uses double quotes if that avoids an escape.
std::string repr(std::string_view text) {
  const bool quoted = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = quoted ? '"' : '\'';
  std::string result(1, quote);
  for (const char c : text) {
    switch (c) {
      case '\n': result += "\\n"; break;
      case '\r': result += "\\r"; break;
      case '\t': result += "\\t"; break;
      case '\\': result += "\\\\"; break;
      default:
        if (c == quote) result += '\\';
        result += c;
    }
  }
  return result + quote;
}

// The parser bounds the depth.
std::string repr(const Plain& value) {
  switch (value.kind()) {
    case Plain::null: return "None";
    case Plain::boolean: return value.truth() ? "True" : "False";
    case Plain::text: return repr(value.characters());
    case Plain::integer: return std::to_string(value.integral());
    case Plain::real: {
      std::string text;
      if (!std::isfinite(value.number())) {
        const double number = value.number();
        return std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
      }
      const bool whole = value.characters().find_first_of(".eE") == std::string::npos;
      whole ? void(text = value.characters()) : append_real(text, value.number());
      return text;
    }
    case Plain::list:
    case Plain::object: break;
  }
  const bool is_object = value.is(Plain::object);
  std::string text;
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    if (i != 0) text += ", ";
    if (is_object) text += repr(value.name(i)) + ": ";
    text += repr(value.items()[i]);
  }
  return is_object ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace

std::string python_text(const Plain& value) {
  return value.is(Plain::text) ? std::string(value.characters()) : repr(value);
}

}  // namespace td
