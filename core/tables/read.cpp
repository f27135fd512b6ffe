// Reads tables from text files: the kind of a column follows from all its values.
#include "core/flat/flat_tree.h"
#include "core/formats/digits.h"
#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/io/file_io.h"
#include "core/tables/columns.h"
#include "core/tables/table.h"
#include "core/tensor/dtype.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

namespace td {

namespace {

struct Cell {
  enum Kind : std::uint8_t { missing, whole, large, real, truth, other } kind = missing;
  std::int64_t number = 0;  // of an integer or bool
  double fraction = 0;      // value of an integer or a real
  Plain value;  // of everything except numbers; digits of an integer beyond 64 bits with a sign
};

struct TextColumn {
  std::string name;
  std::vector<Cell> cells;
};

Cell number_cell(std::int64_t number) {
  Cell cell;
  cell.kind = Cell::whole;
  cell.number = number;
  cell.fraction = static_cast<double>(number);
  return cell;
}

Cell number_cell(double fraction) {
  Cell cell;
  cell.kind = Cell::real;
  cell.fraction = fraction;
  return cell;
}

Cell large_cell(std::string_view digits) {
  Cell cell;
  cell.kind = Cell::large;
  cell.value = Plain::of_digits(digits);
  cell.fraction = cell.value.number();
  return cell;
}

bool is_whole(std::string_view digits) {
  return digits.find_first_not_of("-0123456789") == std::string_view::npos;
}

// Parses an unquoted cell.
Cell bare_cell(std::string_view text) {
  Cell cell;
  if (text.empty()) return cell;
  const char* const end = text.data() + text.size();
  std::int64_t number = 0;
  const auto whole = std::from_chars(text.data(), end, number);
  if (whole.ec == std::errc() && whole.ptr == end) return number_cell(number);
  // JSON has no zeros in front: such a number keeps its value, not its digits.
  if (whole.ptr == end && whole.ec == std::errc::result_out_of_range && text[0] != '0' &&
      text.substr(0, 2) != "-0") {
    return large_cell(text);
  }
  double fraction = 0;
  const auto real = std::from_chars(text.data(), end, fraction);
  if (real.ec == std::errc() && real.ptr == end) return number_cell(fraction);
  const bool yes = text == "True" || text == "true";
  cell.kind = yes || text == "False" || text == "false" ? Cell::truth : Cell::other;
  cell.number = yes ? 1 : 0;
  cell.value = Plain::of_text(text);
  return cell;
}

Cell quoted_cell(std::string_view text) {
  Cell cell;
  cell.kind = Cell::other;
  cell.value = Plain::of_text(text);
  return cell;
}

// Splits CSV text into cells.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (text_.substr(0, mark.size()) == mark) at_ = mark.size();
  }

  bool at_end() const noexcept { return at_ >= text_.size(); }
  std::size_t line() const noexcept { return line_; }

  // The next cell; `last`: it ends the line.
  std::string_view next(bool& quoted, bool& last) {
    quoted = at_ < text_.size() && text_[at_] == '"';
    const std::string_view cell = quoted ? read_quoted() : read_bare();
    last = end_of_line();
    return cell;
  }

 private:
  std::string_view read_bare() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') ++at_;
    std::size_t end = at_;
    if (end > begin && (at_ == text_.size() || text_[at_] == '\n') && text_[end - 1] == '\r') --end;
    return text_.substr(begin, end - begin);
  }

  std::string_view read_quoted() {
    unquoted_.clear();
    const std::size_t begin_line = line_;
    for (++at_;; ++at_) {
      if (at_ >= text_.size()) {
        fail(Code::format, "line ", begin_line, ": a quote is opened and not closed");
      }
      if (text_[at_] == '"') {
        ++at_;
        if (at_ >= text_.size() || text_[at_] != '"') break;
      }
      if (text_[at_] == '\n') ++line_;
      unquoted_ += text_[at_];
    }
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') {
      fail(Code::format, "line ", line_, ": text follows a closing quote");
    }
    return unquoted_;
  }

  bool end_of_line() {
    if (at_ >= text_.size()) return true;
    const bool last = text_[at_] == '\n';
    if (last) ++line_;
    ++at_;
    return last;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::string unquoted_;
};

std::vector<TextColumn> read_csv(std::string_view text, std::size_t& rows) {
  CsvReader reader(text);
  std::vector<TextColumn> columns;
  bool quoted = false;
  bool last = reader.at_end();
  while (!last) {
    columns.emplace_back();
    columns.back().name = reader.next(quoted, last);
  }
  for (rows = 0; !reader.at_end(); ++rows) {
    const std::size_t line = reader.line();
    std::size_t i = 0;
    for (last = false; !last; ++i) {
      const std::string_view cell = reader.next(quoted, last);
      if (i < columns.size())
        columns[i].cells.push_back(quoted ? quoted_cell(cell) : bare_cell(cell));
    }
    if (i != columns.size()) {
      fail(Code::format, "line ", line, " has ", i, " cells, the first one ", columns.size());
    }
  }
  return columns;
}

Cell json_cell(const Plain& value) {
  Cell cell;
  if (value.is(Plain::null)) return cell;
  if (value.is(Plain::integer)) return number_cell(value.integral());
  if (value.is(Plain::real))
    return is_whole(value.characters()) ? large_cell(value.characters())
                                        : number_cell(value.number());
  cell.kind = value.is(Plain::boolean) ? Cell::truth : Cell::other;
  cell.number = value.truth() ? 1 : 0;
  cell.value = value;
  return cell;
}

std::vector<TextColumn> read_rows(std::string_view text, std::size_t& rows) {
  const Plain table = read_json(text, "the table", max_json_depth);
  if (!table.is(Plain::list)) fail(Code::format, "the file is not a JSON list of rows");
  std::vector<TextColumn> columns;
  std::unordered_map<std::string, std::size_t> known;
  rows = 0;
  for (const Plain& row : table.items()) {
    if (!row.is(Plain::object)) fail(Code::format, "row ", rows, " is not a JSON object");
    for (std::size_t i = 0; i < row.items().size(); ++i) {
      const auto [found, added] = known.emplace(row.name(i), columns.size());
      if (added) columns.push_back({std::string(row.name(i)), {}});
      TextColumn& column = columns[found->second];
      column.cells.resize(rows);  // missing in earlier rows
      column.cells.push_back(json_cell(row.items()[i]));
    }
    ++rows;
  }
  for (TextColumn& column : columns) column.cells.resize(rows);
  return columns;
}

template <class T, class F>
at::Tensor make_column(const TextColumn& column, c10::ScalarType dtype, F&& of) {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(column.cells.size())}, dtype);
  T* to = tensor.data_ptr<T>();
  for (const Cell& cell : column.cells) *to++ = of(cell);
  return tensor;
}

Plain plain_of(const Cell& cell) {
  switch (cell.kind) {
    case Cell::missing: return Plain();
    case Cell::whole: return Plain::of_integer(cell.number);
    case Cell::real: {
      std::string text;
      append_real(text, cell.fraction);
      return Plain::of_digits(text);
    }
    default: return cell.value;
  }
}

// Whether a double is the same integer.
bool is_exact(const Cell& cell) {
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  return cell.kind != Cell::large && cell.number >= -limit && cell.number <= limit;
}

std::optional<std::uint64_t> natural(const Cell& cell) {
  if (cell.kind == Cell::whole)
    return cell.number < 0 ? std::nullopt : std::optional<std::uint64_t>(cell.number);
  std::uint64_t number = 0;
  return parse_digits(cell.value.characters(), number) ? std::optional(number) : std::nullopt;
}

// Integers, of which some may be missing, as a tensor that holds each of them exactly; nullopt: no dtype does.
std::optional<Value> integers(const TextColumn& column, std::size_t missing, std::size_t large) {
  const std::vector<Cell>& cells = column.cells;
  if (missing == 0 && large == 0) {
    return make_column<std::int64_t>(column, at::kLong, [](const Cell& c) { return c.number; });
  }
  if (missing == 0) {
    const c10::ScalarType dtype = scalar_type(DType::uint64);
    const bool fit = dtype != c10::ScalarType::Undefined &&
                     std::all_of(cells.begin(), cells.end(),
                                 [](const Cell& c) { return natural(c).has_value(); });
    if (!fit) return std::nullopt;
    at::Tensor tensor = at::empty({static_cast<std::int64_t>(cells.size())}, dtype);
    auto* to = static_cast<std::uint64_t*>(tensor.data_ptr());
    for (const Cell& cell : cells) *to++ = *natural(cell);
    return tensor;
  }
  const bool exact = std::all_of(cells.begin(), cells.end(), [](const Cell& c) {
    return c.kind == Cell::missing || is_exact(c);
  });
  if (!exact) return std::nullopt;
  return make_column<double>(column, at::kDouble, [](const Cell& c) {
    return c.kind == Cell::missing ? std::nan("") : c.fraction;
  });
}

Value value_of(const TextColumn& column) {
  std::size_t counts[6] = {};
  for (const Cell& cell : column.cells) ++counts[cell.kind];
  const std::size_t all = column.cells.size();
  const std::size_t wholes = counts[Cell::whole] + counts[Cell::large];
  if (wholes != 0 && wholes + counts[Cell::missing] == all) {
    if (std::optional<Value> made = integers(column, counts[Cell::missing], counts[Cell::large]))
      return *std::move(made);
  } else if (wholes + counts[Cell::real] + counts[Cell::missing] == all) {
    return make_column<double>(column, at::kDouble, [](const Cell& c) {
      return c.kind == Cell::missing ? std::nan("") : c.fraction;
    });
  }
  if (counts[Cell::truth] == all) {
    return make_column<bool>(column, at::kBool, [](const Cell& c) { return c.number != 0; });
  }
  std::vector<c10::intrusive_ptr<NonTensorNode>> nodes;
  std::vector<const NonTensorNode*> values;
  for (const Cell& cell : column.cells) {
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
