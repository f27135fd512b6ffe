#include "core/datasets/lerobot_tables.h"

#include "core/arrow/arrow.h"
#include "core/arrow/files.h"
#include "core/datasets/lerobot_columns.h"
#include "core/datasets/save.h"
#include "core/formats/json_text.h"

namespace td::datasets {

void write_table(SetTarget& target, const std::string& path, std::vector<arrow::Column> columns,
                 std::vector<std::int64_t> groups, const arrow::Pairs& metadata) {
  std::int64_t rows = 0;
  for (const std::int64_t group : groups) rows += group;
  arrow::Column table =
      arrow::struct_column("", rows, std::move(columns),
                           metadata.empty() ? std::string() : arrow::metadata_text(metadata));
  arrow::Owned<arrow::Stream> stream;
  arrow::stream_of(std::move(table), std::move(groups), &stream.value);
  target.put(path, [&](files::NewFile& file) {
    arrow::write_stream(&stream.value, file, FileFormat::parquet, true);
  });
}

std::vector<std::int64_t> whole(std::size_t rows) {
  return rows == 0 ? std::vector<std::int64_t>()
                   : std::vector<std::int64_t>{static_cast<std::int64_t>(rows)};
}

void write_tasks(SetTarget& target, const std::string& path, const char* number,
                 const std::vector<std::string>& texts) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < texts.size(); ++i) numbers.push_back(static_cast<std::int64_t>(i));
  std::vector<arrow::Column> columns;
  columns.push_back(numbers_column(number, numbers));
  columns.push_back(texts_column("__index_level_0__", texts));
  const auto column = [](Plain name, const char* field, const char* pandas, const char* numpy) {
    return object_of({{"name", std::move(name)},
                      {"field_name", Plain::of_text(field)},
                      {"pandas_type", Plain::of_text(pandas)},
                      {"numpy_type", Plain::of_text(numpy)},
                      {"metadata", Plain()}});
  };
  const Plain pandas = object_of(
      {{"index_columns", Plain::of_list({Plain::of_text("__index_level_0__")})},
       {"column_indexes", Plain::of_list({})},
       {"columns", Plain::of_list({column(Plain::of_text(number), number, "int64", "int64"),
                                   column(Plain(), "__index_level_0__", "unicode", "object")})}});
  write_table(target, path, std::move(columns), whole(texts.size()),
              {{"pandas", python_json(pandas)}});
}

}  // namespace td::datasets
