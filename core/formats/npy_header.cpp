// Parses the header of a .npy file.
#include "core/formats/npy_header.h"

#include "core/base/error.h"
#include "core/base/key.h"
#include "core/base/quote.h"
#include "core/formats/python_literal.h"

#include <charconv>

namespace td::numpy {

namespace {

constexpr std::size_t max_head_bytes = std::size_t{1} << 24;
constexpr int max_levels = 32;  // nesting of records

class HeaderReader {
 public:
  HeaderReader(Literal& literal, std::size_t max_entries, Header& header)
      : literal_(literal), max_entries_(max_entries), header_(header) {}

  void run() {
    bool descr = false, order = false, shape = false;
    literal_.expect('{');
    while (!literal_.accept('}')) {
      const std::string key = literal_.text();
      literal_.expect(':');
      if (key == "descr" && !descr) {
        descr = true;
        header_.item_bytes = literal_.next() == '[' ? records({}, 0, 0) : whole();
      } else if (key == "fortran_order" && !order) {
        order = true;
        header_.fortran_order = literal_.truth();
      } else if (key == "shape" && !shape) {
        shape = true;
        header_.sizes = literal_.sizes();
      } else {
        literal_.bad();
      }
      if (!literal_.accept(',')) {
        literal_.expect('}');
        break;
      }
    }
    if (!literal_.at_end() || !descr || !order || !shape) literal_.bad();
  }

 private:
  // "<f4": the dtype and the byte order.
  void set_dtype(Column& column, const std::string& code) {
    const char order = code.empty() ? '\0' : code[0];
    const bool marked = order == '<' || order == '>' || order == '|' || order == '=';
    const std::string_view kind = std::string_view(code).substr(marked ? 1 : 0);
    if (const DTypeRow* row = find_dtype(&DTypeRow::numpy, kind)) {
      column.dtype = row->dtype;
      column.swapped = order == '>';
      return;
    }
    const std::string name =
        column.path.empty() ? std::string("the array") : show_path(path_view(column.path));
    fail(Code::dtype, literal_.where(), ": ", name, " is of NumPy's ", td::quote(code),
         ", which is not a dtype of libtorch");
  }

  std::size_t whole() {
    Column column;
    set_dtype(column, literal_.text());
    header_.columns.push_back(column);
    return find_dtype(column.dtype)->bytes;
  }

  // [('x', '<f4'), ('y', '<i8', (3,)), ('', '|V4'), ('in', [...])]: returns the bytes of one record.
  std::size_t records(const OwnedPath& above, std::size_t offset, int level) {
    if (level == max_levels) {
      fail(Code::format, literal_.where(), ": records in records deeper than ", max_levels,
           " levels");
    }
    header_.records = true;
    std::size_t bytes = 0;
    literal_.expect('[');
    while (!literal_.accept(']')) {
      bytes += field(above, offset + bytes, level);
      if (bytes > std::size_t{1} << 48)
        fail(Code::format, literal_.where(), ": a record is too large");
      if (!literal_.accept(',')) {
        literal_.expect(']');
        break;
      }
    }
    return bytes;
  }

  std::size_t field(const OwnedPath& above, std::size_t offset, int level) {
    Column column;
    column.offset = offset;
    column.path = above;
    literal_.expect('(');
    if (literal_.accept('(')) {  // a title before the name
      literal_.text();
      literal_.expect(',');
      column.path.push_back(literal_.text());
      literal_.accept(',');
      literal_.expect(')');
    } else {
      column.path.push_back(literal_.text());
    }
    literal_.expect(',');
    const std::size_t first = header_.columns.size();
    std::size_t bytes = 0;
    bool stored = true;
    if (literal_.next() == '[') {
      bytes = records(column.path, offset, level + 1);
    } else {
      const std::string code = literal_.text();
      if (column.path.back().empty() && code.substr(0, 2) == "|V") {  // padding
        const auto [end, error] =
            std::from_chars(code.data() + 2, code.data() + code.size(), bytes);
        if (error != std::errc() || end != code.data() + code.size()) literal_.bad();
        stored = false;
      } else {
        set_dtype(column, code);
        bytes = find_dtype(column.dtype)->bytes;
        if (header_.columns.size() == max_entries_) {
          fail(Code::format, literal_.where(), ": more than ", max_entries_, " fields");
        }
        header_.columns.push_back(column);
      }
    }
    if (literal_.accept(',') && literal_.next() == '(') {
      const Shape shape = literal_.sizes();
      const bool nested = header_.columns.size() != first + 1 ||
                          header_.columns[first].path.size() != column.path.size();
      const auto total = checked_bytes(shape, bytes);
      if (!stored || nested || !total) {
        fail(Code::unsupported, literal_.where(), ": ", show_path(path_view(column.path)),
             " is an array of records in a record, which cannot be read");
      }
      header_.columns[first].sizes = shape;
      bytes = static_cast<std::size_t>(*total);
      literal_.accept(',');
    }
    literal_.expect(')');
    return bytes;
  }

  Literal& literal_;
  std::size_t max_entries_;
  Header& header_;
};

}  // namespace

Header read_header(std::string_view all, const std::string& where, std::size_t max_entries) {
  if (all.size() < 10 || all.substr(0, magic.size()) != magic) {
    fail(Code::format, where, " does not begin as NumPy's files do");
  }
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(all[i]); };
  const int version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) {
    fail(Code::unsupported, where, ": format ", version, ".", int{byte(7)},
         " of NumPy's files is unknown");
  }
  std::size_t begin = 10;
  std::size_t length = byte(8) | std::size_t{byte(9)} << 8;
  if (version > 1) {
    if (all.size() < 12) fail(Code::format, where, " is too short: ", all.size(), " bytes");
    begin = 12;
    length |= std::size_t{byte(10)} << 16 | std::size_t{byte(11)} << 24;
  }
  if (length > all.size() - begin || length > max_head_bytes) {
    fail(Code::format, where, ": a header of ", length, " bytes in a file of ", all.size());
  }
  Header header;
  // Formats 1.0 and 2.0 are Latin-1.
  Literal literal(all.substr(begin, length), where, version < 3);
  HeaderReader(literal, max_entries, header).run();
  header.start = begin + length;
  return header;
}

}  // namespace td::numpy
