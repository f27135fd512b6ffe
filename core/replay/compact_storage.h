// core/replay/compact_storage.h: rows that TorchRL stored without what repeats.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// Whether a stored dictionary is what FlatStorageCheckpointer or NestedStorageCheckpointer wrote: each
// observation once, although it is that of a step and the "next" one of the step before.
bool is_compact_storage(const TensorDict& stored);

// The rows of the buffer, in new memory, as Flat2TED gives them. Throws Code::format, and Code::shape or
// Code::key_not_found for a dictionary that does not fit.
TensorDict expand_compact_storage(const TensorDict& stored);

}  // namespace td
