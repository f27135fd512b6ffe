// core/arrow/table_file.h: an open file of Parquet or Arrow, of which some columns are read, and not more rows than its row
// groups (or record batches) have around those that are asked for.
#pragma once

#include "core/arrow/column.h"
#include "core/flat/file_options.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct TdArrowFile;

namespace td::arrow {

// Rows of a file, in their order.
struct Slice {
  std::shared_ptr<Owned<Schema>> schema;  // of the columns that are read; none without rows
  Parts parts;
};

// Thread-safe.
class TableFile {
 public:
  // Code::format for what is no such file; Code::unsupported without the module. `max_bytes`: most memory; 0: by the size
  // of the file.
  TableFile(const FileBytes& file, FileFormat format, std::uint64_t max_bytes);
  ~TableFile();
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  const std::string& where() const noexcept { return where_; }  // quoted, for messages
  std::int64_t rows() const noexcept { return starts_.back(); }
  const Schema& schema() const noexcept { return schema_.value; }
  bool has(std::string_view column) const noexcept;

  // Which columns read() reads, all without a call; those that are not there are ignored. Before the first read().
  void choose(const std::vector<std::string>& columns);
  Slice read(std::int64_t from, std::int64_t count) const;

 private:
  struct Group {  // of rows, read as a whole
    std::shared_ptr<Owned<Schema>> schema;
    std::vector<std::shared_ptr<Owned<Array>>> batches;
  };
  const Group& group(std::size_t number) const;

  std::string where_;
  TdArrowFile* file_ = nullptr;
  Owned<Schema> schema_;
  std::vector<std::int32_t> columns_;
  std::vector<std::int64_t> starts_;
  mutable std::mutex mutex_;
  mutable Group group_;  // the last one that was read: rows are often asked for one after the other
  mutable std::size_t group_number_ = 0;
};

// The rows of the columns whose names are wanted.
using Wanted = std::function<bool(std::string_view column)>;
TensorDict import_columns(const Slice& slice, const Wanted& wanted, const ImportOptions& options);

}  // namespace td::arrow
