// core/inspect/owned_nbytes.h: the memory that one handle keeps, for the garbage collectors of other languages.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// Bytes that libtorch has allocated and that nobody else needs when the caller's one reference goes: they are freed,
// or a pool uses them again. Memory of others (lent, mapped, shared between processes) counts nothing, nor does
// what anybody else holds too: a view, an entry of another dictionary. Costs one look at a result that is shared
// as a whole.
std::size_t owned_nbytes(const TensorDict& td);
std::size_t owned_nbytes(const at::Tensor& tensor);

}  // namespace td
