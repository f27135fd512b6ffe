// modules/arrow/schema_depth.h: how deep a file of Parquet nests its columns. Arrow's reader takes a level of the stack for
// each, and a megabyte of a file is enough for all there is: so the depth is looked at first.
#pragma once

#include <arrow/status.h>

#include <cstdint>

namespace arrow_module {

constexpr std::size_t max_schema_depth = 1000;

// A failure when the schema in the footer is deeper, or the footer is none.
arrow::Status check_schema_depth(const std::uint8_t *file, std::int64_t bytes);

}  // namespace arrow_module
