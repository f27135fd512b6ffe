#include "core/formats/python_text.h"

#include "core/formats/json_text.h"
#include "core/formats/json_tree.h"

namespace td {

namespace {

using json::Tree;

// Python prefers single quotes, but uses double quotes if that avoids an escape.
std::string repr(const std::string& text) {
  const bool quoted = text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
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
std::string repr(const Tree& value) {
  switch (value.kind) {
    case Tree::null: return "None";
    case Tree::boolean: return value.truth ? "True" : "False";
    case Tree::text: return repr(value.characters);
    case Tree::integer: return value.characters;
    case Tree::real: {
      std::string text;
      const bool whole = value.characters.find_first_of(".eE") == std::string::npos;
      whole ? void(text = value.characters) : append_real(text, value.number());
      return text;
    }
    case Tree::list:
    case Tree::object: break;
  }
  const bool is_object = value.kind == Tree::object;
  std::string text;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (i != 0) text += ", ";
    if (is_object) text += repr(value.names[i]) + ": ";
    text += repr(value.items[i]);
  }
  return is_object ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace

std::string python_text(std::string_view json) {
  const Tree value = json::read_tree(json, "a value", max_json_depth, json::Twice::kept);
  return value.kind == Tree::text ? value.characters : repr(value);
}

}  // namespace td
