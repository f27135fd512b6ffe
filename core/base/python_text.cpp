#include "core/base/python_text.h"

#include <nlohmann/json.hpp>

namespace td {

namespace {

using Json = nlohmann::ordered_json;

// Python prefers single quotes, and takes double ones when that saves it an escape.
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

// Depth is bounded by what the reader of the format lets through.
std::string repr(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_string()) return repr(value.get_ref<const std::string&>());
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& item : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += repr(item.key()) + ": ";
    text += repr(item.value());
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace

std::string python_text(std::string_view json) {
  const Json value = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::string(json);
  return value.is_string() ? value.get<std::string>() : repr(value);
}

}  // namespace td
