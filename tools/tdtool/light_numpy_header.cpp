// The text before the values of a .npy file: a dictionary as Python prints it, as NumPy writes it.
#include <algorithm>

#include "light_numpy.h"

namespace light {

namespace {

constexpr std::size_t max_text = std::size_t{1} << 20;
constexpr int max_levels_inside = 32;  // of records in records
constexpr std::uint64_t max_record = std::uint64_t{1} << 48;

class Literal {
 public:
  explicit Literal(const std::string &text) : text_(text) {}

  char next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool at_end() {
    next();
    return at_ == text_.size();
  }
  bool accept(char c) {
    if (next() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) throw NotPlain();
  }
  // Between the items of a list: whether another one follows.
  bool more(char end) {
    if (accept(',')) return !accept(end);
    expect(end);
    return false;
  }

  // Without escapes, and of ASCII alone.
  std::string text() {
    const char quote = next();
    if (quote != '\'' && quote != '"') throw NotPlain();
    const std::size_t end = text_.find(quote, ++at_);
    if (end == std::string::npos) throw NotPlain();
    std::string result = text_.substr(at_, end - at_);
    for (const char c : result) {
      if (c < ' ' || c > '~' || c == '\\') throw NotPlain();
    }
    at_ = end + 1;
    return result;
  }
  bool truth() {
    next();
    for (const std::string word : {"True", "False"}) {
      if (text_.compare(at_, word.size(), word) != 0) continue;
      at_ += word.size();
      return word == "True";
    }
    throw NotPlain();
  }
  Sizes sizes() {
    Sizes result;
    expect('(');
    if (accept(')')) return result;
    do {
      if (result.size() == max_dims) throw NotPlain();
      result.push_back(number());
    } while (more(')'));
    return result;
  }

 private:
  std::int64_t number() {
    constexpr std::size_t most_digits = 18;
    next();
    const std::size_t end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
    if (end == at_ || end - at_ > most_digits) throw NotPlain();
    const std::int64_t value = std::stoll(text_.substr(at_, end - at_));
    at_ = end;
    return value;
  }

  const std::string &text_;
  std::size_t at_ = 0;
};

// "<f4"
Dtype dtype_of(const std::string &code) {
  static const char *const names[][2] = {
      {"b1", "bool"},    {"u1", "uint8"},     {"i1", "int8"},        {"i2", "int16"},
      {"i4", "int32"},   {"i8", "int64"},     {"f2", "float16"},     {"f4", "float32"},
      {"f8", "float64"}, {"c8", "complex64"}, {"c16", "complex128"},
  };
  const bool marked = !code.empty() && std::string("<>|=").find(code[0]) != std::string::npos;
  for (const auto &row : names) {
    if (code.compare(marked ? 1 : 0, std::string::npos, row[0]) == 0) return dtype_named(row[1]);
  }
  throw NotPlain();
}

class ArrayReader {
 public:
  explicit ArrayReader(const std::string &text) : literal_(text) {}

  // Also the bytes of an element, or of a record.
  Array run(std::uint64_t &item) {
    bool descr = false, order = false, shape = false;
    literal_.expect('{');
    do {
      const std::string key = literal_.text();
      literal_.expect(':');
      if (key == "descr" && !descr) {
        descr = true;
        item = literal_.next() == '[' ? records({}, 0) : whole();
      } else if (key == "fortran_order" && !order) {
        order = true;
        literal_.truth();
      } else if (key == "shape" && !shape) {
        shape = true;
        array_.sizes = literal_.sizes();
      } else {
        throw NotPlain();
      }
    } while (literal_.more('}'));
    if (!literal_.at_end() || !descr || !order || !shape) throw NotPlain();
    return std::move(array_);
  }

 private:
  std::uint64_t whole() {
    array_.columns.push_back({{}, dtype_of(literal_.text()), {}});
    return array_.columns[0].dtype.bytes;
  }

  // [('x', '<f4'), ('y', '<i8', (3,)), ('', '|V4'), ('in', [...])]: the bytes of one record.
  std::uint64_t records(const Path &above, int level) {
    if (level == max_levels_inside) throw NotPlain();
    array_.records = true;
    std::uint64_t bytes = 0;
    literal_.expect('[');
    do {
      bytes += field(above, level);
      if (bytes > max_record) throw NotPlain();
    } while (literal_.more(']'));
    return bytes;
  }

  std::uint64_t field(const Path &above, int level) {
    std::uint64_t bytes = 0;
    Path path = above;
    literal_.expect('(');
    path.push_back(literal_.text());
    literal_.expect(',');
    if (literal_.next() == '[') {
      bytes = records(path, level + 1);
      literal_.expect(')');
      return bytes;
    }
    const std::string code = literal_.text();
    if (path.back().empty() && code.compare(0, 2, "|V") == 0) {  // fills a gap
      const std::string digits = code.substr(2);
      if (digits.empty() || digits.size() > 9 ||
          digits.find_first_not_of("0123456789") != std::string::npos)
        throw NotPlain();
      literal_.expect(')');
      return std::stoull(digits);
    }
    if (array_.columns.size() == max_lines) throw NotPlain();
    const Dtype dtype = dtype_of(code);
    Sizes sizes;
    if (literal_.accept(',')) sizes = literal_.sizes();
    literal_.expect(')');
    bytes = bytes_of(sizes, dtype.bytes);
    array_.columns.push_back({std::move(path), dtype, std::move(sizes)});
    return bytes;
  }

  Literal literal_;
  Array array_;
};

}  // namespace

Array read_array(const Head &head, std::uint64_t bytes) {
  const std::string first = head(12);
  if (first.size() < 12 || first.compare(0, 6, "\x93NUMPY") != 0) throw NotPlain();
  const auto byte = [&](std::size_t i) {
    return std::size_t{static_cast<unsigned char>(first[i])};
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) throw NotPlain();
  const std::size_t begin = version == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > max_text || length > bytes - begin) throw NotPlain();
  const std::string all = head(begin + length);
  if (all.size() != begin + length) throw NotPlain();
  std::uint64_t item = 0;
  const std::string text = all.substr(begin);
  Array array = ArrayReader(text).run(item);
  if (item == 0 || bytes_of(array.sizes, item) > bytes - begin - length) throw NotPlain();
  return array;
}

}  // namespace light
