// core/datasets/parquet_rescue.h: a file of Parquet that its writer did not close: a footer is made for the row groups that are
// whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace td::datasets {

struct RescuedTable {
  std::string bytes;                 // a whole file
  std::vector<std::int64_t> groups;  // the rows of each
  std::uint64_t left = 0;            // bytes behind the last one
};

// `like` is a whole file with the same columns, of at least one row, and the same number of values in each row. Values are not
// decoded. At most so many row groups are kept. Code::format if `like` is no such file; `where` begins the message.
RescuedTable rescue_parquet(std::string_view cut, std::string_view like, std::size_t most_groups,
                            const std::string& where);

}  // namespace td::datasets
