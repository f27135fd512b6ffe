#include "core/arrow/table_file.h"

#include "core/arrow/files.h"
#include "core/arrow/import.h"
#include "core/arrow/library.h"

#include <algorithm>
#include <limits>

namespace td::arrow {

namespace {

std::string_view name_of(const Schema& column) {
  return column.name == nullptr ? std::string_view() : column.name;
}

}  // namespace

TableFile::TableFile(const FileBytes& file, FileFormat format, std::uint64_t max_bytes)
    : where_(file.where()), starts_{0} {
  const auto bytes = static_cast<std::int64_t>(file.size());
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t limit = max_bytes == 0 ? memory_limit(bytes)
                             : max_bytes > std::uint64_t{most}
                                 ? most
                                 : static_cast<std::int64_t>(max_bytes);
  const Library& module = library(call_of(where_, format));
  const TdArrowSource source{file.data(), bytes, limit, new FileBytes(file),
                             [](void* owner) { delete static_cast<FileBytes*>(owner); }};
  TdArrowError error = {};
  const auto check = [&](int failed) {
    if (failed != 0) fail_reading(failed, error, where_, format);
  };
  check(module.open(module_form(format), &source, &file_, &error));
  try {
    std::int64_t parts = 0, rows = 0;
    check(module.about(file_, &schema_.value, &parts, &error));
    for (std::int64_t i = 0; i < parts; ++i) {
      check(module.rows(file_, i, &rows, &error));
      std::int64_t end = 0;
      if (rows < 0 || __builtin_add_overflow(starts_.back(), rows, &end))
        fail(Code::format, where_, ": its rows cannot be counted");
      starts_.push_back(end);
    }
    check_schema(&schema_.value, Place());
    for (std::int64_t i = 0; i < schema_.value.n_children; ++i) {
      check_schema(schema_.value.children[i], Place());
      columns_.push_back(static_cast<std::int32_t>(i));
    }
  } catch (...) {
    module.close(file_);
    throw;
  }
}

TableFile::~TableFile() { library(where_).close(file_); }

bool TableFile::has(std::string_view column) const noexcept {
  for (std::int64_t i = 0; i < schema_.value.n_children; ++i) {
    if (name_of(*schema_.value.children[i]) == column) return true;
  }
  return false;
}

void TableFile::choose(const std::vector<std::string>& columns) {
  columns_.clear();
  for (std::int64_t i = 0; i < schema_.value.n_children; ++i) {
    const std::string_view name = name_of(*schema_.value.children[i]);
    if (std::find(columns.begin(), columns.end(), name) != columns.end())
      columns_.push_back(static_cast<std::int32_t>(i));
  }
}

const TableFile::Group& TableFile::group(std::size_t number) const {
  if (group_.schema && group_number_ == number) return group_;
  group_ = {};
  Group made;
  const Library& module = library(where_);
  Owned<Stream> stream;
  TdArrowError error = {};
  const auto fail_here = [&](int failed, const char* text) {
    fail(code_of(failed), where_, ": its rows from ", starts_[number], " on cannot be read: ",
         text == nullptr || !is_utf8(text) || *text == '\0' ? "no reason given" : text);
  };
  if (const int failed =
          module.read_part(file_, static_cast<std::int64_t>(number), columns_.data(),
                           static_cast<std::int64_t>(columns_.size()), &stream.value, &error))
    fail_here(failed, error.text);
  Stream* raw = &stream.value;
  made.schema = std::make_shared<Owned<Schema>>();
  if (const int failed = raw->get_schema(raw, &made.schema->value))
    fail_here(failed, raw->get_last_error(raw));
  std::int64_t rows = 0;
  for (;;) {
    auto batch = std::make_shared<Owned<Array>>();
    if (const int failed = raw->get_next(raw, &batch->value))
      fail_here(failed, raw->get_last_error(raw));
    if (batch->value.release == nullptr) break;
    rows += batch->value.length;
    made.batches.push_back(std::move(batch));
  }
  if (rows != starts_[number + 1] - starts_[number]) {
    fail(Code::format, where_, ": a row group has ", rows, " rows, and should have ",
         starts_[number + 1] - starts_[number]);
  }
  group_ = std::move(made);
  group_number_ = number;
  return group_;
}

Slice TableFile::read(std::int64_t from, std::int64_t count) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Slice slice;
  auto at = std::upper_bound(starts_.begin(), starts_.end(), from);
  while (count > 0) {
    const Group& group = this->group(static_cast<std::size_t>(at - starts_.begin() - 1));
    slice.schema = group.schema;
    std::int64_t begin = *(at - 1);
    for (const auto& batch : group.batches) {
      const std::int64_t end = begin + batch->value.length;
      const std::int64_t here = std::min(count, end - from);
      if (here > 0 && from >= begin) {
        slice.parts.push_back({&batch->value, from - begin, here, here, {}, batch});
        from += here;
        count -= here;
      }
      begin = end;
    }
    ++at;
  }
  return slice;
}

TensorDict import_columns(const Slice& slice, const Wanted& wanted, const ImportOptions& options) {
  // Views of the structs without the other columns; those keep what is read alive.
  const Schema& all = slice.schema->value;
  Schema schema = all;
  std::vector<std::int64_t> columns;
  std::vector<Schema*> children;
  for (std::int64_t i = 0; i < all.n_children; ++i) {
    if (!wanted(name_of(*all.children[i]))) continue;
    columns.push_back(i);
    children.push_back(all.children[i]);
  }
  schema.n_children = static_cast<std::int64_t>(columns.size());
  schema.children = children.data();
  std::vector<Array> arrays;
  std::vector<std::vector<Array*>> below;
  arrays.reserve(slice.parts.size());
  Parts parts = slice.parts;
  for (Part& part : parts) {
    std::vector<Array*>& chosen = below.emplace_back();
    for (const std::int64_t i : columns) chosen.push_back(part.array->children[i]);
    Array array = *part.array;
    array.n_children = schema.n_children;
    array.children = chosen.data();
    arrays.push_back(array);
    part.array = &arrays.back();
  }
  return import_parts(&schema, std::move(parts), options);
}

}  // namespace td::arrow
