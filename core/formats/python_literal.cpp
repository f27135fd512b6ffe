#include "core/formats/python_literal.h"

#include "core/base/error.h"

#include <charconv>

namespace td::numpy {

namespace {

void append_utf8(std::string& out, std::uint32_t c) {
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

}  // namespace

void Literal::bad() const {
  fail(Code::format, where_, ": the header has another form at byte ", at_);
}

void Literal::skip() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
}

char Literal::next() {
  skip();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Literal::accept(char c) {
  if (next() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

void Literal::expect(char c) {
  if (!accept(c)) bad();
}

bool Literal::truth() {
  skip();
  for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
    if (text_.substr(at_, word.size()) != word) continue;
    at_ += word.size();
    return word == "True";
  }
  bad();
}

std::int64_t Literal::number() {
  skip();
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc() || value < 0) bad();
  at_ = static_cast<std::size_t>(end - text_.data());
  if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2
  return value;
}

Shape Literal::sizes() {
  Shape result;
  expect('(');
  while (!accept(')')) {
    if (result.size() == max_listed_dims)
      fail(Code::format, where_, ": more than ", max_listed_dims, " dimensions");
    result.push_back(number());
    if (!accept(',')) {
      expect(')');
      break;
    }
  }
  return result;
}

std::uint32_t Literal::hex(std::size_t digits) {
  std::uint32_t value = 0;
  if (text_.size() - at_ < digits) bad();
  const auto [end, error] =
      std::from_chars(text_.data() + at_, text_.data() + at_ + digits, value, 16);
  if (error != std::errc() || end != text_.data() + at_ + digits) bad();
  at_ += digits;
  return value;
}

std::string Literal::text() {
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
      if (latin1_) {
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

bool Literal::at_end() {
  skip();
  return at_ == text_.size();
}

}  // namespace td::numpy
