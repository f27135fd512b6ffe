#include "core/tables/text_cells.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/formats/number_words.h"

#include <charconv>

#include <limits>
#include <unordered_map>

namespace td {

namespace {

TextCell number_cell(std::int64_t number) {
  TextCell cell;
  cell.kind = TextCell::whole;
  cell.number = number;
  cell.fraction = static_cast<double>(number);
  return cell;
}

TextCell number_cell(double fraction) {
  TextCell cell;
  cell.kind = TextCell::real;
  cell.fraction = fraction;
  return cell;
}

TextCell large_cell(std::string_view digits) {
  TextCell cell;
  cell.kind = TextCell::large;
  cell.value = Plain::of_digits(digits);
  cell.fraction = cell.value.number();
  return cell;
}

bool is_whole(std::string_view digits) {
  return digits.find_first_not_of("-0123456789") == std::string_view::npos;
}

// Parses an unquoted cell.
TextCell bare_cell(std::string_view text) {
  TextCell cell;
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
  cell.kind = yes || text == "False" || text == "false" ? TextCell::truth : TextCell::other;
  cell.number = yes ? 1 : 0;
  cell.value = Plain::of_text(text);
  return cell;
}

TextCell quoted_cell(std::string_view text) {
  TextCell cell;
  cell.kind = TextCell::other;
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

TextCell json_cell(const Plain& value) {
  TextCell cell;
  if (value.is(Plain::null)) return cell;
  if (value.is(Plain::integer)) return number_cell(value.integral());
  if (value.is(Plain::real))
    return is_whole(value.characters()) ? large_cell(value.characters())
                                        : number_cell(value.number());
  cell.kind = value.is(Plain::boolean) ? TextCell::truth : TextCell::other;
  cell.number = value.truth() ? 1 : 0;
  cell.value = value;
  return cell;
}

}  // namespace

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

}  // namespace td
