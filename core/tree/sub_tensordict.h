// core/tree/sub_tensordict.h: sub-tensordicts (Python's SubTensorDict).
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// A dictionary that refers to td[items]: reads look entries up, writes go to that part, even through index
// tensors. Keeps `td` alive.
TensorDict sub_tensordict(const TensorDict& td, c10::ArrayRef<IndexItem> items);

// The parent of a sub-tensordict; Code::wrong_entry for other dictionaries.
TensorDict parent_of(const TensorDict& td);

// parent[index of `part`], for a sub-tensordict `part` and another parent of the same batch size.
TensorDict same_part(const TensorDict& part, const TensorDict& parent);

// td[items] = value for a sub-tensordict: new entries are created in all of `td`, with zeros outside the
// part. An indexed write to a lazy stack creates them only in the indexed elements.
void write_part(const TensorDict& td, c10::ArrayRef<IndexItem> items, const TensorDict& value);

}  // namespace td
