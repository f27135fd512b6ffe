// core/tree/set_and_read.h: sets an entry and reads what it is then.
#pragma once

#include "core/tree/tensordict.h"

namespace td {

// Sets a new entry and returns it as it reads in `td`: a part or a lazy stack may read it from several tensors.
// Throws before anything is changed.
at::Tensor set_and_read(const TensorDict& td, Path path, const at::Tensor& value);

}  // namespace td
