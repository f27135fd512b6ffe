// core/tensor/format_index.h: the index of a sub-tensordict as text in its meta.json.
#pragma once

#include "core/tensor/index.h"

#include <string>
#include <vector>

namespace td::format {

// Python's form: ["tuple", [...]] of integers, booleans, nulls, ["slice", {...}], ["tensor", ...]. Items read
// from a list or a range are written as such again: a tensor item notes this in `start`, `stop` and `step`,
// otherwise unused there.
std::string index_text(const std::vector<IndexItem>& items);

// Parses that text. Untagged lists are tuples, as in older files. `longest` limits the length of ranges: the
// largest indexed dimension. Throws Code::format.
std::vector<IndexItem> read_index(const std::string& json, std::int64_t longest,
                                  const std::string& where);

}  // namespace td::format
