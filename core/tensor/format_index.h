// core/tensor/format_index.h: the index of a sub-tensordict as the text of its meta.json has it.
#pragma once

#include "core/tensor/index.h"

#include <string>
#include <vector>

namespace td::format {

// As Python writes it: ["tuple", [...]] of integers, booleans, nulls, ["slice", {...}], ["tensor", ...]. What
// was read from a list or a range is written as such again: an item of kind tensor notes it in `start`,
// `stop` and `step`, which mean nothing there.
std::string index_text(const std::vector<IndexItem>& items);

// The opposite. Lists without a tag are tuples, as in older files. `longest`: of the dimensions that are
// indexed; a range of more positions than it can have is refused. Throws Code::format.
std::vector<IndexItem> read_index(const std::string& json, std::int64_t longest,
                                  const std::string& where);

}  // namespace td::format
