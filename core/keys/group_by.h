// core/keys/group_by.h: groups the rows of the first batch dimension by the value of an entry.
#pragma once

#include "core/tree/tensordict.h"

#include <vector>

namespace td {

// `values` has the entry alone, once for each group, sorted; each group has its rows in the order of `td`.
struct Groups {
  TensorDict values;
  std::vector<TensorDict> groups;
};

// Rows of numbers are compared one number after the other. NaN equals nothing and stands last.
Groups group_by(const TensorDict& td, Path path);

}  // namespace td
