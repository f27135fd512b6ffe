// core/base/sizes.h: sizes of dimensions and their names, and the arithmetic of both.
#pragma once

#include "core/base/span.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace td {

// Sizes where there is no libtorch; core/tensor/sizes.h has those of tensors.
using Shape = std::vector<std::int64_t>;
using ShapeView = Span<std::int64_t>;

// Names of batch dimensions, one for each; a dimension may lack one. Empty when no dimension has one.
using Names = std::vector<std::optional<std::string>>;

// As many dimensions as libtorch's loops take.
constexpr std::size_t max_dims = 64;

// Code::shape for more of them.
[[noreturn]] void fail_dims(std::size_t dims);
inline void require_dims(std::size_t dims) {
  if (dims > max_dims) fail_dims(dims);
}

// As many as are read from a text before it is refused.
constexpr std::size_t max_listed_dims = 1024;

// "[3, 4]"
std::string show_sizes(ShapeView sizes);

// Appends "[3,4]".
void append_sizes(std::string& out, ShapeView sizes);

// How many elements there are; Code::shape when there are too many to count.
std::int64_t count_elements(ShapeView sizes);

// Product of the sizes and the bytes of an item; nullopt when a size is negative or it overflows.
std::optional<std::int64_t> checked_bytes(ShapeView sizes, std::size_t item_bytes) noexcept;

}  // namespace td
