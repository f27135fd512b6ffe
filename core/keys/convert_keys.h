// core/keys/convert_keys.h: converts some entries of a dictionary.
#pragma once

#include "core/keys/entries.h"
#include "core/shape/convert.h"

namespace td {

// Like convert() for these entries and what is below them; without keys for all. The others stay as they are.
TensorDict convert_keys(const TensorDict& td, std::optional<PathList> keys,
                        const ConvertOptions& options);

}  // namespace td
