// core/datasets/verify_space.h: whether values are in a space of Gymnasium.
#pragma once

#include "core/datasets/verify_problems.h"
#include "core/formats/plain.h"

namespace td::datasets {

// Looks at the entry `key` of the rows, and at those below it. `first` is the number of the first row.
void check_space(Problems& problems, const Spot& at, const TensorDict& rows, const OwnedKey& key,
                 const Plain& space, std::int64_t first);
// Whether it is one of the spaces that Minari stores.
void check_form(Problems& problems, const std::string& file, const Plain& space,
                const std::string& name);

}  // namespace td::datasets
