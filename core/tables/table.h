// core/tables/table.h: tables in text files, one row for each batch element.
#pragma once

#include "core/tree/tensordict.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace td {

enum class TableFormat {
  csv,   // a header line, commas, quotes where needed (RFC 4180)
  json,  // a list of objects
};

struct TableOptions {
  TableFormat format = TableFormat::csv;
  std::string_view separator = {};      // joins names of nested keys; empty: names are not split
  std::uint32_t max_depth = 1000;       // for reading
  std::uint32_t max_entries = 1000000;  // for reading, of all levels
  bool flatten = false;  // a column for each element of a row; allows several batch dimensions
};

// Columns become int64 if all values are integers (uint64 if one is larger), float64 if all are numbers or missing, bool
// if all are bools; else non-tensor values for each row, as do integers that none of these holds exactly. Quoted CSV cells
// are text.
TensorDict read_table(std::string_view text, const TableOptions& options);
std::string write_table(const TensorDict& td, const TableOptions& options);

TensorDict load_table(const std::string& file, const TableOptions& options);
void save_table(const TensorDict& td, const std::string& file, const TableOptions& options);

}  // namespace td
