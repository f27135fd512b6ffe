// core/tree/sub_tensordict.h: sub-tensordicts (Python's SubTensorDict).
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// A dictionary that stands for td[items]: what is read is looked up there each time, what is written
// goes to that part, also where index tensors pick it. Keeps `td` alive.
TensorDict sub_tensordict(const TensorDict& td, c10::ArrayRef<IndexItem> items);

// The dictionary behind a sub-tensordict; throws Code::wrong_entry when it is none.
TensorDict parent_of(const TensorDict& td);

// td[items] = value, for a sub-tensordict: an entry that is new comes to be everywhere in `td`, zeros
// outside the part. An indexed write of a lazy stack makes new entries in the elements that it writes only.
void write_part(const TensorDict& td, c10::ArrayRef<IndexItem> items, const TensorDict& value);

}  // namespace td
