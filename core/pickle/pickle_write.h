// core/pickle/pickle_write.h: pickles of plain values, for Python to read.
#pragma once

#include <string>
#include <string_view>

namespace td::pickled {

// The pickle of a JSON text that is an object, as Python's pickle.loads() reads it: dicts, lists, texts and numbers. The
// items of a second such text are added. Code::format for what is no such text or is nested too deep,
// Code::key_invalid where both have an item of the same name.
std::string pickle_of_json(std::string_view json, std::string_view more, const std::string& where);

}  // namespace td::pickled
