// core/formats/python_literal.h: parses Python literals (text, numbers, bools, tuples) as far as NumPy uses
// them.
#pragma once

#include "core/base/sizes.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace td::numpy {

class Literal {
 public:
  // `latin1`: texts are in Latin-1, else in UTF-8.
  Literal(std::string_view text, const std::string& where, bool latin1)
      : text_(text), where_(where), latin1_(latin1) {}

  const std::string& where() const noexcept { return where_; }
  [[noreturn]] void bad() const;

  char next();  // after white space; NUL at the end
  bool accept(char c);
  void expect(char c);
  bool at_end();

  bool truth();
  std::int64_t number();  // not negative
  Shape sizes();
  std::string text();

 private:
  void skip();
  std::uint32_t hex(std::size_t digits);

  std::string_view text_;
  const std::string& where_;
  bool latin1_;
  std::size_t at_ = 0;
};

}  // namespace td::numpy
