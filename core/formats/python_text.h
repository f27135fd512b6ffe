// core/formats/python_text.h: JSON values as Python prints them.
#pragma once

#include <string>
#include <string_view>

namespace td {

// The result of Python's str(): `a string`, `True`, `None`, `[1, 'two', 3.0]`.
std::string python_text(std::string_view json);

}  // namespace td
