#include "core/tables/cells.h"

#include "core/formats/json_text.h"

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

void append_value(std::string& text, const Plain& value, TableFormat format) {
  if (format == TableFormat::json) {
    text += json_text(value);
    return;
  }
  if (value.is(Plain::null)) return;  // a missing value
  if (value.is(Plain::text)) {
    append_csv_text(text, value.characters());
  } else if (value.is(Plain::list) || value.is(Plain::object)) {
    append_csv_text(text, json_text(value));
  } else {
    text += json_text(value);
  }
}

}  // namespace td
