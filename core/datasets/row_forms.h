// core/datasets/row_forms.h: what the rows of a dictionary are like, to compare episodes and sets.
#pragma once

#include "core/datasets/source.h"

#include <map>
#include <string>

namespace td::datasets {

// "float32 [3]" for each entry; "no numbers" for non-tensor data.
using RowForms = std::map<OwnedKey, std::string>;
RowForms row_forms(const TensorDict& rows);

}  // namespace td::datasets
