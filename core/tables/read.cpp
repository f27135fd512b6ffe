// Reads tables from text files: the kind of a column follows from all its values.
#include "core/flat/flat_tree.h"
#include "core/formats/digits.h"
#include "core/formats/format.h"
#include "core/io/file_io.h"
#include "core/tables/columns.h"
#include "core/tables/table.h"
#include "core/tables/text_cells.h"
#include "core/tensor/dtype.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

namespace td {

namespace {

template <class T, class F>
at::Tensor make_column(const TextColumn& column, c10::ScalarType dtype, F&& of) {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(column.cells.size())}, dtype);
  T* to = tensor.data_ptr<T>();
  for (const TextCell& cell : column.cells) *to++ = of(cell);
  return tensor;
}

Plain plain_of(const TextCell& cell) {
  switch (cell.kind) {
    case TextCell::missing: return Plain();
    case TextCell::whole: return Plain::of_integer(cell.number);
    case TextCell::real: {
      std::string text;
      append_real(text, cell.fraction);
      return Plain::of_digits(text);
    }
    default: return cell.value;
  }
}

// Whether a double is the same integer.
bool is_exact(const TextCell& cell) {
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  return cell.kind != TextCell::large && cell.number >= -limit && cell.number <= limit;
}

std::optional<std::uint64_t> natural(const TextCell& cell) {
  if (cell.kind == TextCell::whole)
    return cell.number < 0 ? std::nullopt : std::optional<std::uint64_t>(cell.number);
  std::uint64_t number = 0;
  return parse_digits(cell.value.characters(), number) ? std::optional(number) : std::nullopt;
}

// Integers, of which some may be missing, as a tensor that holds each of them exactly; nullopt: no dtype does.
std::optional<Value> integers(const TextColumn& column, std::size_t missing, std::size_t large) {
  const std::vector<TextCell>& cells = column.cells;
  if (missing == 0 && large == 0) {
    return make_column<std::int64_t>(column, at::kLong, [](const TextCell& c) { return c.number; });
  }
  if (missing == 0) {
    const c10::ScalarType dtype = scalar_type(DType::uint64);
    const bool fit = dtype != c10::ScalarType::Undefined &&
                     std::all_of(cells.begin(), cells.end(),
                                 [](const TextCell& c) { return natural(c).has_value(); });
    if (!fit) return std::nullopt;
    at::Tensor tensor = at::empty({static_cast<std::int64_t>(cells.size())}, dtype);
    auto* to = static_cast<std::uint64_t*>(tensor.data_ptr());
    for (const TextCell& cell : cells) *to++ = *natural(cell);
    return tensor;
  }
  const bool exact = std::all_of(cells.begin(), cells.end(), [](const TextCell& c) {
    return c.kind == TextCell::missing || is_exact(c);
  });
  if (!exact) return std::nullopt;
  return make_column<double>(column, at::kDouble, [](const TextCell& c) {
    return c.kind == TextCell::missing ? std::nan("") : c.fraction;
  });
}

Value value_of(const TextColumn& column) {
  std::size_t counts[6] = {};
  for (const TextCell& cell : column.cells) ++counts[cell.kind];
  const std::size_t all = column.cells.size();
  const std::size_t wholes = counts[TextCell::whole] + counts[TextCell::large];
  if (wholes != 0 && wholes + counts[TextCell::missing] == all) {
    if (std::optional<Value> made =
            integers(column, counts[TextCell::missing], counts[TextCell::large]))
      return *std::move(made);
  } else if (wholes + counts[TextCell::real] + counts[TextCell::missing] == all) {
    return make_column<double>(column, at::kDouble, [](const TextCell& c) {
      return c.kind == TextCell::missing ? std::nan("") : c.fraction;
    });
  }
  if (counts[TextCell::truth] == all) {
    return make_column<bool>(column, at::kBool, [](const TextCell& c) { return c.number != 0; });
  }
  std::vector<c10::intrusive_ptr<NonTensorNode>> nodes;
  std::vector<const NonTensorNode*> values;
  for (const TextCell& cell : column.cells) {
    nodes.push_back(c10::make_intrusive<NonTensorNode>(plain_of(cell), SizesView(), std::nullopt));
    values.push_back(nodes.back().get());
  }
  return make_non_tensor(values, at::arange(static_cast<std::int64_t>(all), at::kLong),
                         std::nullopt);
}

PathBuffer split(std::string_view name, std::string_view separator) {
  PathBuffer path;
  while (!separator.empty()) {
    const std::size_t at = name.find(separator);
    if (at == std::string_view::npos) break;
    path.push_back(name.substr(0, at));
    name.remove_prefix(at + separator.size());
  }
  path.push_back(name);
  return path;
}

}  // namespace

TensorDict read_table(std::string_view text, const TableOptions& options) {
  if (!is_utf8(text)) fail(Code::format, "the table is not UTF-8");
  std::size_t rows = 0;
  std::vector<TextColumn> texts =
      options.format == TableFormat::csv ? read_csv(text, rows) : read_rows(text, rows);
  std::vector<NamedValue> columns;
  for (TextColumn& column : texts) {
    columns.push_back({column.name, value_of(column)});
    column.cells = {};  // frees the cells, which are larger than the values
  }
  Counted counted;
  if (options.flatten) {
    counted = count_batch(columns, static_cast<std::int64_t>(rows));
    columns.erase(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(counted.columns));
    columns = join_elements(std::move(columns));
  }
  const std::int64_t batch = static_cast<std::int64_t>(rows);
  TensorDict result{SizesView(batch)};
  std::size_t entries = 0;
  for (const NamedValue& column : columns) {
    const PathBuffer path = split(column.name, options.separator);
    if (path.size() > options.max_depth) {
      fail(Code::format, "nested deeper than ", options.max_depth, " levels");
    }
    entries += path.size() - levels_there(*result.node(), path);
    if (entries > options.max_entries) {
      fail(Code::format, "more than ", options.max_entries, " entries");
    }
    if (result.kind_of(path) != EntryKind::none) {
      fail(Code::key_exists, "two columns are called ", show_path(path));
    }
    const Value& value = column.value;
    if (!value.is_node()) {
      result.set(path, value.tensor());
      continue;
    }
    // A value needs an existing dictionary; setting a tensor creates the parents.
    result.set(path, at::empty({batch}, at::kByte));
    const Path above = Path(path).slice(0, path.size() - 1);
    const TensorDict holder = above.empty() ? result : result.get_dict(above);
    entries_of(holder.node()).put(path.back(), value);
  }
  if (counted.columns != 0) return with_batch(result, counted);
  return result;
}

TensorDict load_table(const std::string& file, const TableOptions& options) {
  try {
    return read_table(files::read(file, std::numeric_limits<std::size_t>::max()), options);
  } catch (const Error& error) {
    if (error.code() != Code::format) throw;
    fail(Code::format, file, ": ", error.what());
  }
}

}  // namespace td
