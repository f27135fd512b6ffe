// core/formats/json_text.h: builds and cuts JSON text without a tree.
#pragma once

#include "core/base/quote.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace td {

// Limit for the nesting of non-tensor data, whatever the caller allows: printing recurses.
inline constexpr std::size_t max_json_depth = 1000;

// Writes a real number as Python does; null for infinities and NaN.
void append_real(std::string& out, double value);

// Keeps the first elements of a list; returns other values unchanged. Expects valid JSON.
std::string head_of_list(std::string_view json, std::size_t length);

// Removes white space; throws Code::format for invalid JSON.
std::string compact(std::string_view json, const std::string& where, std::size_t depth);

}  // namespace td
