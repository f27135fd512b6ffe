// core/interop/table.h: batches as tables in text files, one row for each element.
#pragma once

#include "core/tree/tensordict.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace td {

enum class TableFormat {
  csv,   // names in the first line, commas, quotes where needed (RFC 4180)
  json,  // a list of objects
};

struct TableOptions {
  TableFormat format = TableFormat::csv;
  std::string_view separator = {};  // between the names of a nested key; empty: names are not split
  std::uint32_t max_depth = 1000;   // reading
  std::uint32_t max_entries = 1000000;  // reading: all levels together
  bool flatten = false;  // a column for each element of a row, and more than one batch dimension
};

// Columns become int64 where all values are whole numbers, float64 where all are numbers or missing, bool,
// else non-tensor values, one for each row. In a CSV file what stands in quotes is text.
TensorDict read_table(std::string_view text, const TableOptions& options);
std::string write_table(const TensorDict& td, const TableOptions& options);

TensorDict load_table(const std::string& file, const TableOptions& options);
void save_table(const TensorDict& td, const std::string& file, const TableOptions& options);

}  // namespace td
