// core/formats/python_text.h: a value that is kept as JSON, in the words of Python.
#pragma once

#include <string>
#include <string_view>

namespace td {

// What Python's str() gives: `a string`, `True`, `None`, `[1, 'two', 3.0]`.
std::string python_text(std::string_view json);

}  // namespace td
