// core/base/sizes.h: sizes and names of dimensions, and arithmetic on sizes.
#pragma once

#include "core/base/span.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace td {

// Sizes without libtorch; core/tensor/sizes.h has the tensor variant.
using Shape = std::vector<std::int64_t>;
using ShapeView = Span<std::int64_t>;

// Names of all batch dimensions, some possibly unset. Empty if no dimension has a name.
using Names = std::vector<std::optional<std::string>>;

// The limit of libtorch's loops.
constexpr std::size_t max_dims = 64;

// Throws Code::shape.
[[noreturn]] void fail_dims(std::size_t dims);
inline void require_dims(std::size_t dims) {
  if (dims > max_dims) fail_dims(dims);
}

// The limit when sizes are parsed from text.
constexpr std::size_t max_listed_dims = 1024;

// "[3, 4]"
std::string show_sizes(ShapeView sizes);

// Appends "[3,4]".
void append_sizes(std::string& out, ShapeView sizes);

// The number of elements; Code::shape on overflow.
std::int64_t count_elements(ShapeView sizes);

// The product of sizes and item size; nullopt if a size is negative, or on overflow.
std::optional<std::int64_t> checked_bytes(ShapeView sizes, std::size_t item_bytes) noexcept;

}  // namespace td
