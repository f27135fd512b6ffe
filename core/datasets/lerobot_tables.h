// core/datasets/lerobot_tables.h: files of Parquet, as LeRobot has them.
#pragma once

#include "core/arrow/made.h"
#include "core/arrow/types.h"
#include "core/datasets/set_target.h"

#include <string>
#include <vector>

namespace td::datasets {

// Columns of equal lengths as a file, with a row group for each length.
void write_table(SetTarget& target, const std::string& path, std::vector<arrow::Column> columns,
                 std::vector<std::int64_t> groups, const arrow::Pairs& metadata);
// A table of pandas whose index are the texts; a column has their numbers.
void write_tasks(SetTarget& target, const std::string& path, const char* number,
                 const std::vector<std::string>& texts);
// One row group of all rows; none without rows.
std::vector<std::int64_t> whole(std::size_t rows);

}  // namespace td::datasets
