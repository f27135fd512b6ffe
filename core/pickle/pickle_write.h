// core/pickle/pickle_write.h: pickles of plain values, for Python to read.
#pragma once

#include <string>
#include <string_view>

namespace td::pickled {

// Converts a JSON object to a pickle of dicts, lists, texts and numbers for pickle.loads(), with the items of
// a second object added. Code::format for invalid or too deeply nested text, Code::key_invalid if both have
// the same key.
std::string pickle_of_json(std::string_view json, std::string_view more, const std::string& where);

}  // namespace td::pickled
