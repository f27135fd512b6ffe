// core/inspect/print.h: prints tensors and dictionaries as Python's tensordict does.
#pragma once

#include "core/tensor/dtype.h"
#include "core/tree/tensordict.h"

#include <string>

namespace td {

// "Tensor(shape=torch.Size([3]), device=cpu, dtype=torch.float32, is_shared=False)"
std::string describe(const at::Tensor& tensor);

std::string print(const TensorDict& td);

}  // namespace td
