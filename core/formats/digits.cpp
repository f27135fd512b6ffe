#include "core/formats/digits.h"

namespace td {

void append_real(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  char digits[40];
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto form = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const char* const end = std::to_chars(digits, digits + sizeof digits, value, form).ptr;
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  out += text;
  if (plain && text.find('.') == std::string_view::npos) out += ".0";
}

}  // namespace td
