// core/tree/sub_tensordict.h: windows on a part of a dictionary (Python's SubTensorDict).
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// A dictionary that stands for td[items]: what is read is looked up there each time, what is written
// goes to that part, also where index tensors pick it. Keeps `td` alive.
TensorDict sub_tensordict(const TensorDict& td, c10::ArrayRef<IndexItem> items);

// The dictionary behind a window; throws Code::wrong_entry when it is none.
TensorDict parent_of(const TensorDict& td);

}  // namespace td
