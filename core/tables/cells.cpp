#include "core/tables/cells.h"

#include "core/formats/json_tree.h"

namespace td {

namespace {

void append_csv_text(std::string& text, std::string_view cell) {
  text += '"';
  for (const char c : cell) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

}  // namespace

void append_csv_name(std::string& text, std::string_view name) {
  if (name.find_first_of(",\"\r\n") == std::string_view::npos && !name.empty()) {
    text += name;
  } else {
    append_csv_text(text, name);
  }
}

void append_value(std::string& text, const std::string& value, TableFormat format) {
  if (format == TableFormat::json) {
    text += value;
    return;
  }
  const char first = value.empty() ? 'n' : value.front();
  if (first == 'n') return;  // null: a missing value
  if (first == '"') {
    append_csv_text(text, json::unquoted(value, "a value"));
  } else if (first == '[' || first == '{') {
    append_csv_text(text, value);
  } else {
    text += value;
  }
}

}  // namespace td
