// The text before the values of a .npy file: a dictionary as Python prints it.
#include "td/format.h"
#include "td/numpy.h"
#include "td/torch_compat.h"

#include <algorithm>
#include <charconv>

namespace td::numpy {

namespace {

constexpr std::size_t max_head_bytes = std::size_t{1} << 24;
constexpr std::size_t max_dims = 1024;
constexpr int max_levels = 32;  // of records in records

struct Code2 {
  std::string_view code;
  c10::ScalarType dtype;
};
constexpr Code2 codes[] = {
    {"b1", c10::ScalarType::Bool},
    {"u1", c10::ScalarType::Byte},
    {"i1", c10::ScalarType::Char},
    {"i2", c10::ScalarType::Short},
    {"i4", c10::ScalarType::Int},
    {"i8", c10::ScalarType::Long},
    {"f2", c10::ScalarType::Half},
    {"f4", c10::ScalarType::Float},
    {"f8", c10::ScalarType::Double},
    {"c8", c10::ScalarType::ComplexFloat},
    {"c16", c10::ScalarType::ComplexDouble},
#if TD_TORCH_HAS_WIDE_UNSIGNED
    {"u2", c10::ScalarType::UInt16},
    {"u4", c10::ScalarType::UInt32},
    {"u8", c10::ScalarType::UInt64},
#endif
};

// Reads what Python prints of texts, numbers, truths, tuples, lists and dictionaries, as far as NumPy
// uses them.
class Literal {
 public:
  Literal(std::string_view text, const std::string& where, std::size_t max_entries, Header& header)
      : text_(text), where_(where), max_entries_(max_entries), header_(header) {}

  void run() {
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = text();
      expect(':');
      if (key == "descr" && !descr) {
        descr = true;
        header_.item_bytes = next() == '[' ? records({}, 0, 0) : whole();
      } else if (key == "fortran_order" && !order) {
        order = true;
        header_.fortran_order = truth();
      } else if (key == "shape" && !shape) {
        shape = true;
        header_.sizes = sizes();
      } else {
        bad();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ != text_.size() || !descr || !order || !shape) bad();
  }

 private:
  [[noreturn]] void bad() const {
    fail(td::Code::format, where_, ": the header has another form at byte ", at_);
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char next() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (next() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad();
  }
  bool truth() {
    skip();
    for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    bad();
  }

  std::int64_t number() {
    skip();
    std::int64_t value = -1;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) bad();
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2
    return value;
  }

  Sizes sizes() {
    Sizes result;
    expect('(');
    while (!accept(')')) {
      if (result.size() == max_dims)
        fail(td::Code::format, where_, ": more than ", max_dims, " dimensions");
      result.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  std::uint32_t hex(std::size_t digits) {
    std::uint32_t value = 0;
    if (text_.size() - at_ < digits) bad();
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + at_ + digits, value, 16);
    if (error != std::errc() || end != text_.data() + at_ + digits) bad();
    at_ += digits;
    return value;
  }

  static void append_utf8(std::string& out, std::uint32_t c) {
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xC0 | c >> 6);
      out += static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      out += static_cast<char>(0xE0 | c >> 12);
      out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
      out += static_cast<char>(0x80 | (c & 0x3F));
    } else {
      out += static_cast<char>(0xF0 | (c >> 18 & 7));
      out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
      out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
      out += static_cast<char>(0x80 | (c & 0x3F));
    }
  }

  std::string text() {
    skip();
    if (at_ < text_.size() && (text_[at_] == 'u' || text_[at_] == 'b')) ++at_;  // Python 2
    const char quote = at_ < text_.size() ? text_[at_++] : '\0';
    if (quote != '\'' && quote != '"') bad();
    std::string result;
    for (;;) {
      if (at_ >= text_.size()) bad();
      const char c = text_[at_++];
      if (c == quote) break;
      if (c != '\\') {
        // Formats 1.0 and 2.0 are Latin-1.
        if (latin1) {
          append_utf8(result, static_cast<unsigned char>(c));
        } else {
          result += c;
        }
        continue;
      }
      if (at_ >= text_.size()) bad();
      switch (text_[at_++]) {
        case '\\': result += '\\'; break;
        case '\'': result += '\''; break;
        case '"': result += '"'; break;
        case 'n': result += '\n'; break;
        case 'r': result += '\r'; break;
        case 't': result += '\t'; break;
        case 'x': append_utf8(result, hex(2)); break;
        case 'u': append_utf8(result, hex(4)); break;
        case 'U': append_utf8(result, hex(8)); break;
        default: bad();
      }
    }
    return result;
  }

  // "<f4": the dtype, and whether its bytes stand the other way around.
  void set_dtype(Column& column, const std::string& code) {
    const char order = code.empty() ? '\0' : code[0];
    const bool marked = order == '<' || order == '>' || order == '|' || order == '=';
    const std::string_view kind = std::string_view(code).substr(marked ? 1 : 0);
    for (const Code2& row : codes) {
      if (row.code != kind) continue;
      column.dtype = row.dtype;
      column.swapped = order == '>';
      return;
    }
    const std::string name =
        column.path.empty() ? std::string("the array") : show_path(path_view(column.path));
    if (kind == "u2" || kind == "u4" || kind == "u8") {
      fail(td::Code::dtype, where_, ": ", name, " is of ", code,
           ", which needs libtorch 2.3, this is ", TORCH_VERSION);
    }
    fail(td::Code::dtype, where_, ": ", name, " is of NumPy's ", format::quote(code),
         ", which is no dtype of libtorch");
  }

  std::size_t whole() {
    Column column;
    set_dtype(column, text());
    header_.columns.push_back(column);
    return c10::elementSize(column.dtype);
  }

  // [('x', '<f4'), ('y', '<i8', (3,)), ('', '|V4'), ('in', [...])]: the bytes of one record.
  std::size_t records(const OwnedPath& above, std::size_t offset, int level) {
    if (level == max_levels) {
      fail(td::Code::format, where_, ": records in records deeper than ", max_levels, " levels");
    }
    header_.records = true;
    std::size_t bytes = 0;
    expect('[');
    while (!accept(']')) {
      bytes += field(above, offset + bytes, level);
      if (bytes > std::size_t{1} << 48) fail(td::Code::format, where_, ": a record is too large");
      if (!accept(',')) {
        expect(']');
        break;
      }
    }
    return bytes;
  }

  std::size_t field(const OwnedPath& above, std::size_t offset, int level) {
    Column column;
    column.offset = offset;
    column.path = above;
    expect('(');
    if (accept('(')) {  // a title before the name
      text();
      expect(',');
      column.path.push_back(text());
      accept(',');
      expect(')');
    } else {
      column.path.push_back(text());
    }
    expect(',');
    const std::size_t first = header_.columns.size();
    std::size_t bytes = 0;
    bool stored = true;
    if (next() == '[') {
      bytes = records(column.path, offset, level + 1);
    } else {
      const std::string code = text();
      if (column.path.back().empty() && code.substr(0, 2) == "|V") {  // fills a gap
        const auto [end, error] =
            std::from_chars(code.data() + 2, code.data() + code.size(), bytes);
        if (error != std::errc() || end != code.data() + code.size()) bad();
        stored = false;
      } else {
        set_dtype(column, code);
        bytes = c10::elementSize(column.dtype);
        if (header_.columns.size() == max_entries_) {
          fail(td::Code::format, where_, ": more than ", max_entries_, " fields");
        }
        header_.columns.push_back(column);
      }
    }
    if (accept(',') && next() == '(') {
      const Sizes shape = sizes();
      const bool nested = header_.columns.size() != first + 1 ||
                          header_.columns[first].path.size() != column.path.size();
      const auto total = format::checked_bytes(shape, bytes);
      if (!stored || nested || !total) {
        fail(td::Code::unsupported, where_, ": ", show_path(path_view(column.path)),
             " is an array of records in a record, which cannot be read");
      }
      header_.columns[first].sizes = shape;
      bytes = static_cast<std::size_t>(*total);
      accept(',');
    }
    expect(')');
    return bytes;
  }

 public:
  bool latin1 = false;

 private:
  std::string_view text_;
  const std::string& where_;
  std::size_t max_entries_;
  Header& header_;
  std::size_t at_ = 0;
};

}  // namespace

Header read_header(const FileBytes& file, std::size_t max_entries) {
  const std::string_view all = file.text();
  if (all.size() < 10 || all.substr(0, magic.size()) != magic) {
    fail(Code::format, file.where(), " does not begin as NumPy's files do");
  }
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(all[i]); };
  const int version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) {
    fail(Code::unsupported, file.where(), ": format ", version, ".", int{byte(7)},
         " of NumPy's files is not known");
  }
  std::size_t begin = 10;
  std::size_t length = byte(8) | std::size_t{byte(9)} << 8;
  if (version > 1) {
    if (all.size() < 12) fail(Code::format, file.where(), " is too short: ", all.size(), " bytes");
    begin = 12;
    length |= std::size_t{byte(10)} << 16 | std::size_t{byte(11)} << 24;
  }
  if (length > all.size() - begin || length > max_head_bytes) {
    fail(Code::format, file.where(), ": a header of ", length, " bytes in a file of ", all.size());
  }
  Header header;
  Literal literal(all.substr(begin, length), file.where(), max_entries, header);
  literal.latin1 = version < 3;
  literal.run();
  header.start = begin + length;
  return header;
}

std::string dtype_text(c10::ScalarType dtype, std::string_view name) {
  for (const Code2& row : codes) {
    if (row.dtype != dtype) continue;
    return (c10::elementSize(dtype) == 1 ? "|" : "<") + std::string(row.code);
  }
  fail(Code::dtype, format::quote(name), " cannot be stored: NumPy has no dtype ",
       c10::toString(dtype));
}

std::string quote(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      result.append(1, '\\').append(1, c);
    } else if (byte < 32 || byte == 127) {
      result.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    } else {
      result += c;
    }
  }
  return result + '\'';
}

std::string head_of(std::string_view descr, SizesView sizes) {
  std::string text = "{'descr': " + std::string(descr) + ", 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : " ") + std::to_string(sizes[i]) + ",";
  }
  if (sizes.size() > 1) text.pop_back();
  text += "), }";
  // As NumPy: the oldest format that can say it.
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
  const bool small = text.size() + 64 < 65536;
  const int version = !ascii ? 3 : small ? 1 : 2;
  const std::size_t begin = version == 1 ? 10 : 12;
  const std::size_t whole = (begin + text.size() + 1 + 63) / 64 * 64;
  text.append(whole - begin - text.size() - 1, ' ').append(1, '\n');
  std::string head(magic);
  head += static_cast<char>(version);
  head += '\0';
  for (std::size_t i = 0; i < begin - 8; ++i) head += static_cast<char>(text.size() >> 8 * i & 255);
  return head + text;
}

std::string array_head(const at::Tensor& tensor, std::string_view name) {
  return head_of(quote(dtype_text(tensor.scalar_type(), name)), tensor.sizes());
}

}  // namespace td::numpy
