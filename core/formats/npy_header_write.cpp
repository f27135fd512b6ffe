// Writes the header of a .npy file as NumPy does.
#include "core/formats/npy_header.h"

#include <algorithm>

namespace td::numpy {

namespace {

constexpr std::string_view joined_mark = "tensordict: names are joined by ";

}  // namespace

std::string dtype_text(DType dtype) {
  const DTypeRow* row = find_dtype(dtype);
  if (row == nullptr || row->numpy.empty()) return {};
  return (row->bytes == 1 ? "|" : "<") + std::string(row->numpy);
}

std::string literal(std::string_view text) {
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

std::string head_of(std::string_view descr, ShapeView sizes) {
  std::string text = "{'descr': " + std::string(descr) + ", 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : " ") + std::to_string(sizes[i]) + ",";
  }
  if (sizes.size() > 1) text.pop_back();
  text += "), }";
  // As NumPy: the oldest sufficient format.
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

std::string npz_comment(std::string_view separator) {
  return std::string(joined_mark).append(separator);
}

std::string npz_separator(std::string_view comment) {
  if (comment.substr(0, joined_mark.size()) != joined_mark) return {};
  return std::string(comment.substr(joined_mark.size()));
}

}  // namespace td::numpy
