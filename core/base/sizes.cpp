#include "core/base/sizes.h"

#include "core/base/error.h"

#include <limits>

namespace td {

void fail_dims(std::size_t dims) {
  fail(Code::shape, dims, " dimensions; at most ", max_dims, " are supported");
}

std::string show_sizes(ShapeView sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(sizes[i]);
  }
  return text + "]";
}

void append_sizes(std::string& out, ShapeView sizes) {
  out += '[';
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i != 0) out += ',';
    out += std::to_string(sizes[i]);
  }
  out += ']';
}

std::int64_t count_elements(ShapeView sizes) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(n, size, &n)) {
      fail(Code::shape, "batch size ", show_sizes(sizes), " has too many elements to count");
    }
  }
  return n;
}

std::optional<std::int64_t> checked_bytes(ShapeView sizes, std::size_t item_bytes) noexcept {
  // Multiply the other sizes even if one is 0: strides are their products.
  auto bytes = static_cast<std::int64_t>(item_bytes);
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0 || (size > 0 && bytes > std::numeric_limits<std::int64_t>::max() / size)) {
      return std::nullopt;
    }
    empty = empty || size == 0;
    if (size > 0) bytes *= size;
  }
  return empty ? 0 : bytes;
}

}  // namespace td
