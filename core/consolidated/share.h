// core/consolidated/share.h: dictionaries in memory shared between processes.
#pragma once

#include "core/io/shared_memory.h"
#include "core/tree/tensordict.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace td {

// Moves the CPU tensors into one block of shared memory; locks and flags the dictionary. Existing
// handles refer to the new memory; addresses taken before stay readable while such a handle lives.
// Code::invalid_argument if tensors are mapped from files, Code::unsupported for a sub-tensordict.
void share_memory(const TensorDict& td);

// True for CUDA dictionaries, and after share_memory(). Throws Code::invalid_argument if only some
// elements of a lazy stack are shared.
bool is_shared(const TensorDict& td);

// The name to pass to open_shared() in another process.
std::string shared_name(const TensorDict& td);

// Locked and flagged; the tensors are those of the other process.
TensorDict open_shared(const std::string& name);

}  // namespace td
