// core/formats/digits.h: numbers as text.
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <system_error>

namespace td {

// The shortest text that reads as the same number.
template <class T>
void append_digits(std::string& out, T number) {
  char buffer[64];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

// With so many significant digits, as printf's %g, in any locale.
inline void append_rounded(std::string& out, double real, int digits) {
  char buffer[64];
  const auto form = std::chars_format::general;
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, real, form, digits).ptr);
}

// A real keeps a sign that it is one: 1.0, not 1. Infinities and NaN have their words.
template <class T>
void append_shortest(std::string& out, T real) {
  const std::size_t begin = out.size();
  append_digits(out, real);
  if (std::isfinite(real) && out.find_first_of(".e", begin) == std::string::npos) out += ".0";
}

// As Python's json module writes it: exponents only for small and large numbers; NaN, Infinity, -Infinity.
void append_real(std::string& out, double value);

// Whether the whole text is a number, and one that T can hold.
template <class T>
bool parse_digits(std::string_view text, T& to) noexcept {
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, to);
  return read.ec == std::errc() && read.ptr == end;
}

}  // namespace td
