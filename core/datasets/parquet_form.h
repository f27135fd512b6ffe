// core/datasets/parquet_form.h: what the footer of a file of Parquet tells of its columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace td::datasets {

// A file begins and ends with it.
constexpr std::string_view parquet_magic = "PAR1";

namespace parquet_codec {
constexpr std::int64_t uncompressed = 0, snappy = 1, gzip = 2, zstd = 6;
}  // namespace parquet_codec

struct ParquetLeaf {
  std::int64_t type = 0;
  std::vector<std::string> path;
  std::int64_t in_row = 0;  // values
  std::int64_t codec = parquet_codec::uncompressed;
};

// What the footer of a whole file tells. It borrows from that file.
struct ParquetForm {
  std::vector<ParquetLeaf> leaves;
  std::int64_t version = 1;
  std::string_view schema, pairs, writer, orders;  // as they stand there
};

// `file` is a whole file of at least one row, with the same number of values in each row. Code::format if it is no such file;
// `where` begins the message.
ParquetForm read_parquet_form(std::string_view file, const std::string& where);

// How many rows a file says that it has, which is ahead of its list of row groups. Nothing if it is no such file.
std::optional<std::int64_t> rows_of_parquet(std::string_view file);

}  // namespace td::datasets
