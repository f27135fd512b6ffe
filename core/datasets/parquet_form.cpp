#include "core/datasets/parquet_form.h"

#include "core/base/error.h"
#include "core/datasets/thrift.h"

#include <cstring>
#include <utility>

namespace td::datasets {

namespace {

// The elements of a schema in a row: a group is followed by its members.
void add_leaves(ThriftReader& in, std::size_t& left, std::vector<std::string>& path,
                std::vector<ParquetLeaf>& to) {
  constexpr std::size_t deepest = 32;
  if (path.size() > deepest) left = 0;
  if (left == 0) return;
  --left;
  ParquetLeaf leaf;
  std::int64_t members = 0;
  std::string name;
  for (ThriftReader::Field field; in.next(field);) {
    switch (field.id) {
      case 1: leaf.type = in.integer(); break;
      case 4: name = std::string(in.text()); break;
      case 5: members = in.integer(); break;
      default: in.skip(field.type);
    }
  }
  path.push_back(name);
  for (std::int64_t i = 0; i < members && left > 0 && in.good(); ++i)
    add_leaves(in, left, path, to);
  if (members == 0) {
    leaf.path.assign(path.begin() + 1, path.end());
    to.push_back(std::move(leaf));
  }
  path.pop_back();
}

// Empty of what is no file of Parquet.
std::string_view footer_of(std::string_view file) {
  std::uint32_t length = 0;
  const std::size_t end = file.size() < 12 ? 0 : file.size() - 8;
  if (end != 0) std::memcpy(&length, file.data() + end, sizeof length);
  if (end == 0 || file.substr(end + 4) != parquet_magic || length > end) return {};
  return file.substr(end - length, length);
}

class FormReader {
 public:
  FormReader(std::string_view file, const std::string& where)
      : where_(where), footer_(footer_of(file)) {
    if (footer_.empty()) bad();
  }

  ParquetForm read() {
    ParquetForm form;
    std::int64_t rows = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> columns;  // codec and values
    ThriftReader in(footer_);
    for (ThriftReader::Field field; in.next(field);) {
      const std::size_t from = in.at();
      if (field.id == 1) {
        form.version = in.integer();
      } else if (field.id == 4 && columns.empty()) {
        rows = read_group(in, columns);
      } else {
        in.skip(field.type);
      }
      const std::string_view value = footer_.substr(from, in.at() - from);
      if (field.id == 2) form.schema = value;
      if (field.id == 5) form.pairs = value;
      if (field.id == 6) form.writer = value;
      if (field.id == 7) form.orders = value;
    }
    ThriftReader schema(form.schema);
    std::uint8_t type = 0;
    std::size_t left = schema.items(type);
    std::vector<std::string> path;
    add_leaves(schema, left, path, form.leaves);
    if (!in.good() || !schema.good() || rows <= 0) bad();
    if (form.leaves.empty() || columns.size() != form.leaves.size()) bad();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      form.leaves[i].codec = columns[i].first;
      form.leaves[i].in_row = columns[i].second / rows;
      if (columns[i].second % rows != 0 || columns[i].second <= 0) bad();
    }
    return form;
  }

 private:
  [[noreturn]] void bad() const {
    fail(Code::format, where_, " does not tell what a row of Parquet is like");
  }

  // The first of the row groups; the others are skipped.
  static std::int64_t read_group(ThriftReader& in,
                                 std::vector<std::pair<std::int64_t, std::int64_t>>& columns) {
    std::uint8_t type = 0;
    std::int64_t rows = 0;
    const std::size_t groups = in.items(type);
    for (std::size_t i = 0; i < groups && in.good(); ++i) {
      if (i > 0) {
        in.skip(thrift::record);
        continue;
      }
      for (ThriftReader::Field field; in.next(field);) {
        if (field.id == 3) {
          rows = in.integer();
        } else if (field.id == 1) {
          for (std::size_t left = in.items(type); left > 0 && in.good(); --left)
            columns.push_back(read_column(in));
        } else {
          in.skip(field.type);
        }
      }
    }
    return rows;
  }

  static std::pair<std::int64_t, std::int64_t> read_column(ThriftReader& in) {
    std::pair<std::int64_t, std::int64_t> found{parquet_codec::uncompressed, 0};
    for (ThriftReader::Field field; in.next(field);) {
      if (field.id != 3) {
        in.skip(field.type);
        continue;
      }
      for (ThriftReader::Field inner; in.next(inner);) {
        if (inner.id == 4) {
          found.first = in.integer();
        } else if (inner.id == 5) {
          found.second = in.integer();
        } else {
          in.skip(inner.type);
        }
      }
    }
    return found;
  }

  const std::string& where_;
  std::string_view footer_;
};
}  // namespace

std::optional<std::int64_t> rows_of_parquet(std::string_view file) {
  ThriftReader in(footer_of(file));
  for (ThriftReader::Field field; in.next(field);) {
    if (field.id == 3) {
      const std::int64_t rows = in.integer();
      return in.good() && rows >= 0 ? std::optional<std::int64_t>(rows) : std::nullopt;
    }
    in.skip(field.type);
  }
  return std::nullopt;
}

ParquetForm read_parquet_form(std::string_view file, const std::string& where) {
  return FormReader(file, where).read();
}

}  // namespace td::datasets
