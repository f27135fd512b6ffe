// core/inspect/owned_nbytes.h: memory that one handle keeps alive, for garbage collectors of other languages.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// Bytes allocated by libtorch that are freed, or returned to a pool, when the caller's one reference is
// released. Excludes foreign memory (lent, mapped, shared between processes) and memory with another holder,
// such as a view or another dictionary. Constant time for a result that is shared as a whole.
std::size_t owned_nbytes(const TensorDict& td);
std::size_t owned_nbytes(const at::Tensor& tensor);

}  // namespace td
