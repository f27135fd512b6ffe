// core/formats/python_text.h: values as Python prints them.
#pragma once

#include "core/formats/plain.h"

#include <string>

namespace td {

// The result of Python's str(): `a string`, `True`, `None`, `[1, 'two', 3.0]`.
std::string python_text(const Plain& value);

}  // namespace td
