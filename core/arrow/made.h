// core/arrow/made.h: Arrow structs made by this library, and what they own.
#pragma once

#include "core/arrow/abi.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>

#include <memory>
#include <optional>
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
  // Takes both from their owner.
  Column(Schema* schema, Array* array) noexcept : schema_(*schema), array_(*array) {
    schema->release = nullptr;
    array->release = nullptr;
  }
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

// A text, or bytes, for each row; none where there is no value.
Column text_column(std::string_view name, const std::vector<std::optional<std::string_view>>& rows,
                   bool is_binary);
// A column of lists, of which each ends where the next begins. Code::unsupported for more than 2^31 elements.
Column ragged_column(std::string_view name, const std::vector<std::int64_t>& lengths, Column child,
                     std::string metadata = {});
// The rows of a tensor; its further dimensions are lists of fixed length.
Column tensor_column(std::string_view name, const at::Tensor& tensor);

// Batches of `rows` rows each, which are slices of the whole and outlive the stream. Changes nothing if it throws.
void stream_of(Column whole, std::vector<std::int64_t> rows, Stream* stream);

using Pairs = std::vector<std::pair<std::string, std::string>>;
std::string metadata_text(const Pairs& pairs);

}  // namespace td::arrow
