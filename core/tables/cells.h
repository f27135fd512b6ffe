// core/tables/cells.h: formats cells of a table.
#pragma once

#include "core/formats/digits.h"
#include "core/formats/plain.h"
#include "core/tables/table.h"

#include <cmath>
#include <string>
#include <string_view>

namespace td {

// NaN is a missing value. JSON has the words of Python's json for infinities.
template <class T>
void append_real_cell(std::string& text, T number, TableFormat format) {
  if (format == TableFormat::json && !std::isfinite(number)) {
    text += std::isnan(number) ? "null" : number < 0 ? "-Infinity" : "Infinity";
  } else if (format == TableFormat::csv && std::isnan(number)) {
    return;  // a missing value
  } else {
    append_shortest(text, number);
  }
}

// Quotes a name only if necessary.
void append_csv_name(std::string& text, std::string_view name);
void append_value(std::string& text, const Plain& value, TableFormat format);

}  // namespace td
