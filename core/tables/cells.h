// core/tables/cells.h: formats cells of a table.
#pragma once

#include "core/tables/table.h"

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace td {

// The shortest text that parses to the same number.
template <class T>
void append_table_number(std::string& text, T number) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);
  text.append(buffer, end.ptr);
}

// A floating-point number keeps a sign of its type: 1.0, not 1.
template <class T>
void append_table_real(std::string& text, T number) {
  const std::size_t begin = text.size();
  append_table_number(text, number);
  if (std::isfinite(number) && text.find_first_of(".e", begin) == std::string::npos) text += ".0";
}

// JSON writes null for NaN and infinities.
template <class T>
void append_real_cell(std::string& text, T number, TableFormat format) {
  if (format == TableFormat::json && !std::isfinite(number)) {
    text += "null";
  } else if (format == TableFormat::csv && std::isnan(number)) {
    return;  // a missing value
  } else {
    append_table_real(text, number);
  }
}

// Quotes a name only if necessary.
void append_csv_name(std::string& text, std::string_view name);
// A non-tensor value, given as JSON.
void append_value(std::string& text, const std::string& json, TableFormat format);

}  // namespace td
