// core/arrow/made.h: Arrow structs made by this library, and what they own.
#pragma once

#include "core/arrow/abi.h"

#include <c10/core/Storage.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace td::arrow {

// What a column's array owns: its buffers and children.
struct ArrayHold {
  static constexpr std::size_t most = 3;
  const void* at[most] = {nullptr, nullptr, nullptr};
  std::size_t count = 0;
  std::unique_ptr<std::string[]> made = {};  // `most` buffers; used where `at` is null
  std::vector<Array> children = {};
  std::vector<Array*> pointers = {};
};
using Buffers = std::unique_ptr<ArrayHold>;

// A column to hand over: a schema and an array, released unless take() is called.
class Column {
 public:
  Column(std::string_view name, std::string_view format, std::int64_t length, std::int64_t nulls,
         Buffers buffers, std::vector<Column> children = {}, std::string metadata = {});
  // A tensor's numbers; keeps its memory. The format must be static.
  Column(std::string_view name, const char* format, std::int64_t length, const void* values,
         const c10::Storage& storage);
  Column(Column&& other) noexcept { other.take(&schema_, &array_); }
  Column& operator=(Column&& other) noexcept {
    std::swap(schema_, other.schema_);
    std::swap(array_, other.array_);
    return *this;
  }
  ~Column();

  std::int64_t length() const noexcept { return array_.length; }
  // Transfers both to the caller.
  void take(Schema* schema, Array* array) noexcept;

 private:
  Schema schema_;
  Array array_;
};

Column struct_column(std::string_view name, std::int64_t length, std::vector<Column> children,
                     std::string metadata);
// A list column of `length` lists with `size` elements each.
Column list_column(std::string_view name, std::int64_t size, std::int64_t length, Column child);

using Pairs = std::vector<std::pair<std::string, std::string>>;
std::string metadata_text(const Pairs& pairs);

}  // namespace td::arrow
