// core/formats/json_text.h: pieces of JSON text, made and cut without a tree of the values.
#pragma once

#include "core/base/quote.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace td {

// How deep lists and objects of non-tensor data may lie in one another, whatever a caller allows.
// Printing one recurses.
inline constexpr std::size_t max_json_depth = 1000;

// A real number as Python writes it; null for what is no number in JSON.
void append_real(std::string& out, double value);

// Of a list, its first elements; other values as they are. The text is good JSON.
std::string head_of_list(std::string_view json, std::size_t length);

// The same value without needless white space; throws Code::format when it is no JSON.
std::string compact(std::string_view json, const std::string& where, std::size_t depth);

}  // namespace td
