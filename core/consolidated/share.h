// core/consolidated/share.h: dictionaries in memory that other processes see too.
#pragma once

#include "core/io/shared_memory.h"
#include "core/tree/tensordict.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace td {

// Moves the tensors that lie on the CPU to one piece of shared memory; the dictionary is locked and
// flagged. Handles on the tensors speak of the new memory from then on; addresses taken before stay
// readable as long as such a handle lives. Code::invalid_argument when it is mapped from files,
// Code::unsupported for a sub-tensordict.
void share_memory(const TensorDict& td);

// What a CUDA dictionary always is, and others after share_memory(). Throws Code::invalid_argument for
// a lazy stack of which only some elements are.
bool is_shared(const TensorDict& td);

// What open_shared() takes in another process.
std::string shared_name(const TensorDict& td);

// Locked and flagged; its tensors are those of the other process.
TensorDict open_shared(const std::string& name);

}  // namespace td
