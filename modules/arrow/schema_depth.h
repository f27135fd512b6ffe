// modules/arrow/schema_depth.h: checks how deep a Parquet file nests its columns. Arrow's reader recurses for
// each level, and a megabyte of a file can exhaust the stack.
#pragma once

#include <arrow/status.h>

#include <cstdint>

namespace arrow_module {

constexpr std::size_t max_schema_depth = 1000;

// Fails if the footer is invalid or its schema is nested too deep.
arrow::Status check_schema_depth(const std::uint8_t *file, std::int64_t bytes);

}  // namespace arrow_module
