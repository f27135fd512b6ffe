// core/tables/text_cells.h: the cells of a table in a text file, before their columns have a dtype.
#pragma once

#include "core/formats/plain.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace td {

struct TextCell {
  enum Kind : std::uint8_t { missing, whole, large, real, truth, other } kind = missing;
  std::int64_t number = 0;  // of an integer or bool
  double fraction = 0;      // value of an integer or a real
  Plain value;  // of everything except numbers; digits of an integer beyond 64 bits with a sign
};

struct TextColumn {
  std::string name;
  std::vector<TextCell> cells;
};

// CSV, whose first line names the columns. Throws Code::format.
std::vector<TextColumn> read_csv(std::string_view text, std::size_t& rows);

// A JSON list of objects; a name that some lack is missing there. Throws Code::format.
std::vector<TextColumn> read_rows(std::string_view text, std::size_t& rows);

}  // namespace td
